#!/usr/bin/env bash
# Names that a nondeterministic collation regards as equal are two groups when PostgreSQL hashes, and one when it sorts.
#
# Seen with PostgreSQL 15.20 (Debian 12, 15.20-0+deb12u1): the equality of the type name uses the collation, but its hash function is that
# of the bytes. With a collation that ignores case, 'ab' = 'AB' is true, GROUP BY by sorting has one group, and a HashAggregate has two: the
# answer depends on enable_hashagg. text has one group by both. Whoever hashes values by the functions of their types must not do so for
# name with such a collation.
#
# The script downloads the pinned packages into a temporary folder and runs a server there. It exits with 1 if this has changed.
set -euo pipefail

version=15.20-0+deb12u1
work=$(mktemp -d /tmp/hash_of_name.XXXXXX)
as=()
if [ "$(id -u)" = 0 ]; then as=(runuser -u nobody --); fi
stop() {
  "${as[@]}" "$work/usr/lib/postgresql/15/bin/pg_ctl" -D "$work/data" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap stop EXIT

cd "$work"
apt-get -qq -o APT::Sandbox::User="$(id -un)" download "postgresql-15=$version" "postgresql-client-15=$version"
for package in *.deb; do dpkg-deb -x "$package" .; done
if [ "$(id -u)" = 0 ]; then chown nobody "$work"; fi
export PATH=$work/usr/lib/postgresql/15/bin:$PATH PGHOST=$work PGDATABASE=postgres PGUSER=postgres
"${as[@]}" initdb --pgdata="$work/data" --username=postgres --auth=trust --no-sync --locale=C.UTF-8 >/dev/null
"${as[@]}" pg_ctl -D "$work/data" -l "$work/data/log" -w start -o "-c listen_addresses= -c unix_socket_directories=$work" >/dev/null

sql() { psql -XqAt -v ON_ERROR_STOP=1 "$@" 2>&1; }

# Prints the number of groups of a column, by hashing and by sorting.
groups() {
  local query="SELECT count(*) FROM (SELECT $1 FROM pairs GROUP BY $1) s"
  echo "$1: $(sql -c 'SET enable_sort = off' -c "$query") by hashing, $(sql -c 'SET enable_hashagg = off' -c "$query") by sorting"
}

sql -c "SELECT version()"
sql -c "CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)" \
  -c "CREATE TABLE pairs (n name COLLATE caseless, t text COLLATE caseless)" -c "INSERT INTO pairs VALUES ('ab', 'ab'), ('AB', 'AB')"
names=$(groups n)
texts=$(groups t)
printf '%s\n' "$names" "$texts" "equal: $(sql -c "SELECT bool_and(n = 'ab' COLLATE caseless) FROM pairs")"
[ "$names" = "n: 2 by hashing, 1 by sorting" ]
[ "$texts" = "t: 1 by hashing, 1 by sorting" ] && echo "as described"
