# The image of the action and of `docker run`: the package in its own environment, with the servers that it starts itself.
ARG BASE=python:3.13-slim-trixie

FROM ${BASE} AS package
WORKDIR /src
# The locked packages first: they change less often than the code.
COPY requirements.lock ./
RUN python3 -m venv /opt/nl2sql-gate \
 && /opt/nl2sql-gate/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock
# Microsoft's ODBC driver for who accepts its licence: --build-arg MICROSOFT_ODBC=accept_eula. Without it FreeTDS serves.
ARG MICROSOFT_ODBC=
COPY requirements-microsoft-odbc.lock ./
RUN if [ "${MICROSOFT_ODBC}" = accept_eula ]; then \
      /opt/nl2sql-gate/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements-microsoft-odbc.lock; \
    fi
COPY pyproject.toml README.md LICENSE ./
COPY nl2sql_gate ./nl2sql_gate
RUN /opt/nl2sql-gate/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps . \
 && /opt/nl2sql-gate/bin/pip uninstall --yes --quiet pip \
 && find /opt/nl2sql-gate/lib -type d -name tests -path '*/site-packages/*' -prune -exec rm -rf {} + \
 && /opt/nl2sql-gate/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/nl2sql-gate/lib

FROM ${BASE}
# PostgreSQL and MariaDB run inside; FreeTDS reaches SQL Server. Their own clusters are not wanted: every run makes a throw-away one.
# LLVM is PostgreSQL's JIT compiler: a third of the image, and of no use to short queries; the gate starts servers with jit=off.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends postgresql-common \
 && sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf \
 && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
      git postgresql mariadb-server-core mariadb-client-core tdsodbc unixodbc \
 && useradd --system --no-create-home --shell /usr/sbin/nologin mysql \
 && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* /usr/share/doc /usr/share/man /usr/share/locale /usr/share/postgresql/*/man \
      /usr/lib/*/libLLVM* /usr/lib/*/libz3* /usr/lib/postgresql/*/lib/llvmjit.so /usr/lib/postgresql/*/lib/bitcode \
      /usr/bin/aria_* /usr/bin/myisam*
# Python's own image comes without compiled modules, and a container that is thrown away would compile half a second of them each time.
RUN python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash -x '/(test|tests|idlelib|lib2to3|site-packages|dist-packages)/' \
      "$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')"
COPY --from=package /opt/nl2sql-gate /opt/nl2sql-gate
# Data directories made ahead: copying one is a fraction of making it, and a start is what every run waits for.
RUN /opt/nl2sql-gate/bin/python -m nl2sql_gate.engines.prepared /usr/local/share/nl2sql-gate/prepared
COPY entrypoint.py /opt/nl2sql-gate/entrypoint.py
COPY datasets /opt/nl2sql-gate/datasets
ENV PATH=/opt/nl2sql-gate/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
# GitHub sets HOME and the working directory of a container action, and runs it as root: no USER, no WORKDIR here.
ENTRYPOINT ["/opt/nl2sql-gate/bin/python", "/opt/nl2sql-gate/entrypoint.py"]
