"""Images of database servers: the official ones where a registry answers, else stand-ins made from Debian's packages.

A stand-in speaks the variables of the official image, so that the product under test cannot tell them apart.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from docker_engine import docker


@dataclass(frozen=True)
class StandIn:
    """How an image is made where none can be pulled."""

    name: str
    suite: str
    package: str
    entrypoint: str
    default: str
    port: int
    hook: str = ""
    left_out: tuple[str, ...] = ()


POSTGRES = StandIn(
    name="postgres:17",
    suite="trixie",
    package="postgresql-17",
    default="postgres",
    port=5432,
    # The compiler of PostgreSQL's JIT is two thirds of it.
    left_out=("/usr/lib/*/libLLVM*", "/usr/lib/*/libz3*", "/usr/lib/postgresql/*/lib/bitcode/*", "/usr/lib/*/perl/*"),
    entrypoint=r"""#!/bin/sh
set -e
data=${PGDATA:-/var/lib/postgresql/data}
bin=$(echo /usr/lib/postgresql/*/bin)
[ -n "$POSTGRES_PASSWORD" ] || { echo "Error: POSTGRES_PASSWORD is not set" >&2; exit 1; }
mkdir -p "$data" /var/run/postgresql
chown postgres: "$data" /var/run/postgresql
chmod 700 "$data"
umask 022
printf %s "$POSTGRES_PASSWORD" > /tmp/password
as="setpriv --reuid=postgres --regid=postgres --clear-groups"
$as "$bin/initdb" -D "$data" -U "${POSTGRES_USER:-postgres}" --pwfile=/tmp/password -A scram-sha-256 $POSTGRES_INITDB_ARGS > /dev/null
rm /tmp/password
echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"
case "$1" in postgres) shift;; esac
exec $as "$bin/postgres" -D "$data" -c listen_addresses='*' "$@"
""",
)

MYSQL = StandIn(
    name="mysql:9",
    suite="sid",
    package="mysql-server-core",
    default="mysqld",
    port=3306,
    hook='chroot "$1" useradd --system --no-create-home mysql || true',
    entrypoint=r"""#!/bin/sh
set -e
data=/var/lib/mysql
[ -n "$MYSQL_ROOT_PASSWORD" ] || { echo "[ERROR] MYSQL_ROOT_PASSWORD is not set" >&2; exit 1; }
mkdir -p "$data" /run/mysqld
chown mysql: "$data" /run/mysqld
mysqld --initialize-insecure --user=mysql --datadir="$data"
cat > /tmp/init.sql <<SQL
ALTER USER root@localhost IDENTIFIED BY '$MYSQL_ROOT_PASSWORD';
CREATE USER root@'${MYSQL_ROOT_HOST:-%}' IDENTIFIED BY '$MYSQL_ROOT_PASSWORD';
GRANT ALL ON *.* TO root@'${MYSQL_ROOT_HOST:-%}' WITH GRANT OPTION;
SQL
chmod 644 /tmp/init.sql
case "$1" in mysqld) shift;; esac
exec mysqld --user=mysql --datadir="$data" --init-file=/tmp/init.sql --bind-address=0.0.0.0 "$@"
""",
)


def have(host: str, wanted: StandIn) -> str:
    """The name of an image that the engine has afterwards; made once and kept by the engine."""
    if docker(host, "image", "inspect", wanted.name, check=False).returncode == 0:
        return wanted.name
    if docker(host, "pull", "--quiet", wanted.name, check=False, timeout=300).returncode == 0:
        return wanted.name
    with tempfile.TemporaryDirectory() as folder:
        _import(host, wanted, Path(folder))
    return wanted.name


def _import(host: str, wanted: StandIn, folder: Path) -> None:
    entry = folder / "docker-entrypoint.sh"
    entry.write_text(wanted.entrypoint)
    entry.chmod(0o755)
    left_out = ("/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/man/*", *wanted.left_out)
    hooks = [f"copy-in {entry} /usr/local/bin", wanted.hook, 'rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/*']
    made = subprocess.Popen(
        [
            "mmdebstrap",
            "--variant=minbase",
            f"--include={wanted.package}",
            '--aptopt=Apt::Install-Recommends "false"',
            # A mirror may lag behind what the archive calls valid.
            '--aptopt=Acquire::Check-Valid-Until "false"',
            "--dpkgopt=force-unsafe-io",
            *(f"--dpkgopt=path-exclude={path}" for path in left_out),
            *(f"--customize-hook={hook}" for hook in hooks if hook),
            wanted.suite,
            "-",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    changes = [
        'ENTRYPOINT ["/usr/local/bin/docker-entrypoint.sh"]',
        f'CMD ["{wanted.default}"]',
        f"EXPOSE {wanted.port}",
        "ENV LC_ALL=C.UTF-8",
    ]
    imported = subprocess.run(
        ["docker", "import", *(part for change in changes for part in ("--change", change)), "-", wanted.name],
        stdin=made.stdout,
        env={**os.environ, "DOCKER_HOST": host},
        check=False,
        capture_output=True,
        text=True,
    )
    _, error = made.communicate(timeout=900)
    assert made.returncode == 0, error.decode(errors="replace")[-3000:]
    assert imported.returncode == 0, imported.stderr
