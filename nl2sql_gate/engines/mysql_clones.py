"""Private databases for writing: a transaction that is rolled back where that undoes everything, else a copy made ahead."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pymysql

from nl2sql_gate.engines.background import BackgroundWork
from nl2sql_gate.engines.mysql_blueprint import Blueprint
from nl2sql_gate.engines.mysql_cluster import MysqlCluster, quoted
from nl2sql_gate.engines.mysql_session import lost

_WRITING = "ALL PRIVILEGES"
_LEAVES_TRACES = re.compile(r"@|\b(?:get_lock|release_lock|last_insert_id|timestamp)\b", re.IGNORECASE)
_INSERTS = re.compile(r"\b(?:insert|replace)\b", re.IGNORECASE)
_COUNTERS = (
    "SELECT table_name, auto_increment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name IN %s"
)


@dataclass
class MysqlClone:
    """One private database and the connection to it, as a user who has nothing else.

    `rolls_back`: what is done there is in a transaction of ours. `spoiled`: it was committed all the same.
    """

    database: str
    connection: pymysql.Connection[Any]
    user: str
    rolls_back: bool = False
    spoiled: bool = False


class MysqlClones:
    """All private copies of one template."""

    def __init__(
        self, cluster: MysqlCluster, blueprint: Blueprint, *, builder: str, dialect: str, ahead: int, work: BackgroundWork
    ) -> None:
        self._cluster = cluster
        self._blueprint = blueprint
        self._builder = builder
        self._dialect = dialect
        self._ahead = ahead
        self._work = work
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._spare: list[MysqlClone] = []
        self._kept: list[MysqlClone] = []
        self._coming = 0
        self._waiting = 0
        self._closed = False
        # A large database (no copies ahead) is copied once, and its items take turns.
        self._turn = threading.Lock() if ahead == 0 else None

    @contextmanager
    def lend(self, statements: Sequence[str]) -> Iterator[MysqlClone]:
        """A clean copy with a connection that has all rights there."""
        if self._turn is not None:
            self._turn.acquire()
        try:
            with self._transaction(statements) if self._can_roll_back(statements) else self._throw_away(statements) as lent:
                yield lent
        except (pymysql.MySQLError, OSError) as error:
            raise lost(error) from error
        finally:
            if self._turn is not None:
                self._turn.release()

    def close(self) -> None:
        """Close all connections; the databases go with the run."""
        with self._arrived:
            clones, self._spare, self._kept = [*self._spare, *self._kept], [], []
            self._closed = True
            self._arrived.notify_all()
        for clone in clones:
            _close(clone.connection)

    def _can_roll_back(self, statements: Sequence[str]) -> bool:
        if not self._blueprint.rolls_back:
            return False
        from nl2sql_gate.sqltext import transaction_control

        return not any(transaction_control(text, self._dialect) for text in statements)

    @contextmanager
    def _transaction(self, statements: Sequence[str]) -> Iterator[MysqlClone]:
        clone = self._take(self._kept)
        clean = False
        try:
            clone.rolls_back = True
            clone.connection.begin()
            yield clone
            clean = not clone.spoiled and self._roll_back(clone, statements)
        finally:
            with self._lock:
                clean = clean and not self._closed
                self._kept += [clone] if clean else []
            if not clean:
                self._put_back(clone, statements)

    @contextmanager
    def _throw_away(self, statements: Sequence[str]) -> Iterator[MysqlClone]:
        clone = self._take(self._spare)
        try:
            clone.rolls_back = False
            yield clone
        finally:
            self._put_back(clone, statements)

    def _put_back(self, clone: MysqlClone, statements: Sequence[str]) -> None:
        # Now: what is put off is not done where the engine stops first.
        _close(clone.connection)
        written = self._written(statements)
        if written is None:
            self._discard(clone)
        elif self._turn is not None:
            self._spare += self._restored(clone, written)
        else:
            with self._lock:
                self._expect(1, lambda: self._arrive(self._restored(clone, written)))

    def _roll_back(self, clone: MysqlClone, statements: Sequence[str]) -> bool:
        """Whether the clone is as it was."""
        if any(_LEAVES_TRACES.search(text) for text in statements) or not clone.connection.open:
            return False
        try:
            clone.connection.rollback()
            if self._blueprint.counters and any(_INSERTS.search(text) for text in statements):
                with clone.connection.cursor() as cursor:
                    cursor.execute(_COUNTERS, (tuple(self._blueprint.counters),))
                    for name, counter in cursor.fetchall():
                        # Counters do not roll back, and both sides must get the same numbers.
                        if counter != self._blueprint.counters[name]:
                            cursor.execute(f"ALTER TABLE {quoted(name)} AUTO_INCREMENT = {self._blueprint.counters[name]}")
        except (pymysql.MySQLError, OSError, KeyError):
            return False
        return True

    def _written(self, statements: Sequence[str]) -> set[str] | None:
        """The only tables that can differ afterwards; `None` where that is not known."""
        if not self._blueprint.alone:
            return None
        from nl2sql_gate.sqltext import tables_written

        written: set[str] = set()
        for text in statements:
            tables = tables_written(text, self._dialect)
            if tables is None or any("." in table for table in tables):
                return None
            written |= tables
        return written

    def _restored(self, clone: MysqlClone, written: set[str]) -> list[MysqlClone]:
        """The clone with its written tables made anew, which is much less than a whole copy; nothing where that fails."""
        whole = False
        with suppress(pymysql.MySQLError, OSError):
            self._cluster.drop_user(clone.user)
            connection = self._cluster.administrator(clone.database)
            try:
                restored = self._blueprint.restore(connection, written)
            finally:
                _close(connection)
            if restored:
                clone.connection, clone.user = self._cluster.enter(clone.database, _WRITING)
                whole = True
        if not whole:
            self._discard(clone)
            return []
        clone.spoiled = False
        return [clone]

    def _take(self, first: list[MysqlClone]) -> MysqlClone:
        with self._arrived:
            if not first and not self._spare and self._coming > self._waiting:
                # What is being put back is there sooner than a whole copy.
                self._waiting += 1
                self._arrived.wait_for(lambda: self._spare or not self._coming or self._closed)
                self._waiting -= 1
            clone = first.pop() if first else self._spare.pop() if self._spare else None
            if first is self._spare:
                missing = max(0, self._ahead - len(self._spare) - (self._coming - self._waiting))
                self._expect(missing, self._make_spare)
        return clone or self._make()

    def _expect(self, count: int, task: Callable[[], None]) -> None:
        """Have `count` more copies made in the background; the lock is held."""
        self._coming += count
        for _ in range(count):
            self._work.put(task)

    def _arrive(self, clones: Sequence[MysqlClone]) -> None:
        """Whoever waits for a copy gets this one, or learns that it will not come."""
        with self._arrived:
            self._coming -= 1
            self._spare += [] if self._closed else clones
            too_late = clones if self._closed else ()
            self._arrived.notify_all()
        for clone in too_late:
            _close(clone.connection)

    def _make_spare(self) -> None:
        made: list[MysqlClone] = []
        # The item that needs one makes it itself, and tells why it cannot.
        with suppress(pymysql.MySQLError, OSError):
            made = [self._make()]
        self._arrive(made)

    def _make(self) -> MysqlClone:
        name = self._cluster.new_name()
        self._cluster.create_database(name)
        # Views and triggers act with the rights of who made them.
        self._cluster.allow(self._builder, name, _WRITING)
        connection = self._cluster.administrator(name)
        try:
            self._blueprint.copy_into(connection)
        finally:
            _close(connection)
        return MysqlClone(name, *self._cluster.enter(name, _WRITING))

    def _discard(self, clone: MysqlClone) -> None:
        """Drop it; its connection is closed."""

        def drop() -> None:
            with suppress(pymysql.MySQLError, OSError):
                self._cluster.drop_database(clone.database)
                self._cluster.drop_user(clone.user)

        if self._turn is not None:
            drop()
        else:
            self._work.put(drop)


def _close(connection: pymysql.Connection[Any]) -> None:
    with suppress(pymysql.MySQLError, OSError):
        connection.close()
