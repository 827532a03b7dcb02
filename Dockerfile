# The image of the action and of `docker run`: the package in its own environment, with the servers that it starts itself.
ARG BASE=python:3.13-slim-trixie

FROM ${BASE} AS package
WORKDIR /src
# The locked packages first: they change less often than the code.
COPY requirements.lock ./
RUN python3 -m venv /opt/nl2sql-gate \
 && /opt/nl2sql-gate/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY nl2sql_gate ./nl2sql_gate
RUN /opt/nl2sql-gate/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps . \
 && /opt/nl2sql-gate/bin/pip uninstall --yes --quiet pip \
 && /opt/nl2sql-gate/bin/python -m compileall -q -j 0 /opt/nl2sql-gate/lib

FROM ${BASE}
# PostgreSQL and MariaDB run inside; FreeTDS reaches SQL Server. Their own clusters are not wanted: every run makes a throw-away one.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends postgresql-common \
 && sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf \
 && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends postgresql mariadb-server tdsodbc unixodbc \
 && rm -rf /var/lib/apt/lists/* /var/lib/mysql /usr/share/doc /usr/share/man /usr/share/locale
COPY --from=package /opt/nl2sql-gate /opt/nl2sql-gate
COPY entrypoint.py /opt/nl2sql-gate/entrypoint.py
COPY datasets /opt/nl2sql-gate/datasets
ENV PATH=/opt/nl2sql-gate/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
# GitHub sets HOME and the working directory of a container action, and runs it as root: no USER, no WORKDIR here.
ENTRYPOINT ["/opt/nl2sql-gate/bin/python", "/opt/nl2sql-gate/entrypoint.py"]
