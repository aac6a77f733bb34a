#!/usr/bin/env bash
# PostgreSQL drops rows of SELECT DISTINCT, and returns a group many times, where a timestamp column equals a timestamptz.
#
# Seen with PostgreSQL 15.20 (Debian 12, 15.20-0+deb12u1), without any extension: timestamp and timestamptz are in one btree operator
# family, so the planner takes a column that equals a constant for a column of one value. But the clocks of Pacific/Apia skipped
# 2011-12-30: the local times 2011-12-30 23:30 and 2011-12-31 23:30 are both equal to the instant 2011-12-31 23:30+14. Therefore
# "SELECT DISTINCT t FROM x WHERE t = instant" returns one of two values (its Unique compares no column), and "GROUP BY t, n", if it sorts,
# sorts by n alone and returns (t, n) once for each change of t. Hashed groups are right. So a comparison of answers must not take a
# sorted plan of PostgreSQL as the truth if types are mixed, and an extension that groups must compare all columns of GROUP BY.
#
# The script downloads the pinned packages into a temporary folder and runs a server there. It exits with 1 if this has changed.
set -euo pipefail

version=15.20-0+deb12u1
work=$(mktemp -d /tmp/not_one_value.XXXXXX)
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
"${as[@]}" pg_ctl -D "$work/data" -l "$work/data/log" -o "-c listen_addresses= -c unix_socket_directories=$work" -w start >/dev/null

sql() { psql -XqAt -v ON_ERROR_STOP=1 "$@" 2>&1; }

instant="timestamptz '2011-12-31 23:30 Pacific/Apia'"
sql -c "SELECT version()"
sql -c "ALTER ROLE postgres SET TimeZone = 'Pacific/Apia'"
sql -c "CREATE TABLE x AS SELECT timestamp '2011-12-30 23:30' + (i % 2) * interval '1 day' AS t, 7 AS n FROM generate_series(1, 10) i"
sql -c "ANALYZE x"
values=$(sql -c "SELECT DISTINCT t FROM x WHERE t = $instant" | wc -l)
all_values=$(sql -c "SELECT DISTINCT t || '' FROM x WHERE t = $instant" | wc -l)
sorted=$(sql -c "SET enable_hashagg = off" -c "SELECT t, n, count(*) FROM x WHERE t = $instant GROUP BY t, n" | wc -l)
hashed=$(sql -c "SET enable_sort = off" -c "SELECT t, n, count(*) FROM x WHERE t = $instant GROUP BY t, n" | wc -l)
echo "values of SELECT DISTINCT: $values of $all_values; groups: $sorted sorted, $hashed hashed"
[ "$values $all_values $sorted $hashed" = "1 2 10 2" ] && echo "as described"
