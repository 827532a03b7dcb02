"""An engine starts, says what it is, builds each database once, and stops."""

from __future__ import annotations

from nl2sql_gate.protocols import Database, Engine, Session
from nl2sql_gate.records import ResultSet
from nl2sql_gate.testing.bench import LIMITS, WORKERS, Bench
from nl2sql_gate.testing.suite.part import Part


class Service(Part):
    """The engine as a service."""

    def test_engines_keep_the_protocols(self, bench: Bench) -> None:
        assert isinstance(bench.engine, Engine)
        database = bench.engine.provision(bench.source("CREATE TABLE kept(id INTEGER)"))
        assert isinstance(database, Database)
        with database.reading() as reading:
            assert isinstance(reading, Session)
        with database.writing(["SELECT 1"]) as writing:
            assert isinstance(writing, Session)

    def test_a_started_engine_says_what_it_is(self, bench: Bench) -> None:
        assert (bench.name, bench.dialect) == (bench.facts.name, bench.facts.dialect)
        assert all((bench.facts.product, bench.facts.version, bench.facts.way))

    def test_the_same_database_is_built_once(self, bench: Bench) -> None:
        source = bench.source("CREATE TABLE once(id INTEGER)", "INSERT INTO once VALUES (1)")
        first = bench.engine.provision(source)
        assert first is bench.engine.provision(source)
        assert (source.name, source.digest) == (first.name, first.digest)

    def test_databases_are_apart(self, bench: Bench) -> None:
        one = bench.build("CREATE TABLE t(id INTEGER)", "INSERT INTO t VALUES (1)")
        other = bench.build("CREATE TABLE t(id INTEGER)", "INSERT INTO t VALUES (2)")
        for database, number in ((one, 1), (other, 2), (one, 1)):
            with database.reading() as session:
                assert session.execute("SELECT id FROM t").rows == ((number,),)

    def test_a_stopped_engine_stops_again_and_another_goes_on(self, bench: Bench) -> None:
        second = bench.under_test.make(limits=LIMITS, workdir=str(bench.folder / "second"), workers=WORKERS)
        try:
            second.start()
            with second.provision(bench.source("CREATE TABLE t(id INTEGER)")).reading() as session:
                assert isinstance(session.execute("SELECT id FROM t"), ResultSet)
        finally:
            second.stop()
            second.stop()
        with bench.stock().reading() as session:
            assert isinstance(session.execute("SELECT id FROM stock"), ResultSet)
