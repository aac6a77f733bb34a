#!/usr/bin/env bash
# For a citext column, most of PostgreSQL's access methods silently use text's operator class, and then no condition can use the index.
#
# Seen with PostgreSQL 15.20 (Debian 12, 15.20-0+deb12u1), contrib included, without any other extension:
# citext has default operator classes only for btree and hash. CREATE INDEX ... USING brin, spgist, bloom, gin (btree_gin) and
# gist (btree_gist) on a citext column succeed all the same: citext is binary-coercible to text, so GetDefaultOpClass() finds
# text's class. The index is built and maintained, and pg_get_indexdef() shows no operator class, as if it were the column's
# own. But "email = 'x'" uses citext's operator, which is in none of these classes. So the condition is a filter on a sequential
# scan, or on a scan of the whole index. Only "email::text = 'x'", which is case-sensitive, uses the index.
#
# The script downloads the pinned packages into a temporary folder and runs a server there. It exits with 1 if this has changed.
set -euo pipefail

version=15.20-0+deb12u1
work=$(mktemp -d /tmp/citext.XXXXXX)
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
"${as[@]}" initdb --pgdata="$work/data" --username=postgres --auth=trust --no-sync >/dev/null
"${as[@]}" pg_ctl -D "$work/data" -l "$work/data/log" -o "-c listen_addresses= -c unix_socket_directories=$work" -w start >/dev/null

sql() { psql -XqAt -v ON_ERROR_STOP=1 "$@" 2>&1; }

sql -c "SELECT version()"
sql -c "CREATE EXTENSION citext" -c "CREATE EXTENSION btree_gin" -c "CREATE EXTENSION btree_gist" -c "CREATE EXTENSION bloom" \
  -c "CREATE TABLE users AS SELECT ('User' || i)::citext AS email FROM generate_series(1, 20000) i" -c "ANALYZE users"
failed=0
for method in btree hash brin spgist bloom gin gist; do
  notices=$(sql -c "CREATE INDEX users_email ON users USING $method (email)")
  class=$(sql -c "SELECT opcintype::regtype FROM pg_index JOIN pg_opclass o ON o.oid = indclass[0] WHERE indexrelid = 'users_email'::regclass")
  shown=$(sql -c "SELECT pg_get_indexdef('users_email'::regclass)")
  condition=$(sql -c "SET enable_seqscan = off" -c "EXPLAIN (COSTS OFF) SELECT * FROM users WHERE email = 'user77'" | grep -c 'Index Cond' || true)
  echo "$method: class of $class; conditions looked up: $condition; messages: '$notices'; $shown"
  case $method in
    btree | hash) [ "$class $condition" = "citext 1" ] || failed=1 ;;
    *) [ "$class $condition" = "text 0" ] || failed=1 ;;
  esac
  [ "$notices" = "" ] && [[ $shown = *"(email)" ]] || failed=1
  sql -c "DROP INDEX users_email"
done
[ $failed = 0 ] && echo "as described"
exit $failed
