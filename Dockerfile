# PostgreSQL's official image with rtscan:
#
#   docker build --build-arg PG_MAJOR=15 --tag rtscan .
#
# A GPU needs the driver's libraries in the container; scans run on the CPU without.
ARG PG_MAJOR=15
ARG DEBIAN=bookworm

FROM postgres:${PG_MAJOR}-${DEBIAN} AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc libc6-dev make glslang-tools libvulkan-dev libvulkan-volk-dev \
      "postgresql-server-dev-$PG_MAJOR=$PG_VERSION"
COPY . /usr/src/rtscan
WORKDIR /usr/src/rtscan
RUN make -j"$(nproc)" PG_CONFIG="/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" \
 && make install PG_CONFIG="/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" DESTDIR=/installed

FROM postgres:${PG_MAJOR}-${DEBIAN}
RUN apt-get update \
 && apt-get install -y --no-install-recommends libvulkan1 \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /installed/ /
# a new database cluster's first database has the extension
RUN mkdir -p /docker-entrypoint-initdb.d \
 && echo 'CREATE EXTENSION IF NOT EXISTS rtscan;' >/docker-entrypoint-initdb.d/10_rtscan.sql
CMD ["postgres", "-c", "shared_preload_libraries=rtscan"]
