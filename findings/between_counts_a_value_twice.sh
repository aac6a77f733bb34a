#!/usr/bin/env bash
# PostgreSQL expects twice as many rows of "x BETWEEN v AND v" as of "x = v" for most values that no bound of the histogram equals.
#
# Seen with PostgreSQL 15.20 (Debian 12, 15.20-0+deb12u1), without any extension: a text column has 801 values of about 91 rows each,
# and ANALYZE samples all rows, so that the histogram is exact. "quarter = v" is expected to have 91 or 92 rows for each v, which is right.
# "quarter BETWEEN v AND v" is expected to have the same if v is one of the histogram's bounds; but for 300 of the 500 other values
# it is 183. So the selectivity of "<= v" less that of "< v" must not be taken for the share of rows that have v: code that intersects
# ranges of a column needs the selectivity of "= v" for the size of a value, and the histogram for its place alone.
#
# The script downloads the pinned packages into a temporary folder and runs a server there. It exits with 1 if this has changed.
set -euo pipefail

version=15.20-0+deb12u1
work=$(mktemp -d /tmp/between_twice.XXXXXX)
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

sql -c "SELECT version()"
sql <<'SQL'
CREATE TABLE days AS SELECT to_char(date '1900-01-02' + i, 'YYYY"Q"Q') AS quarter FROM generate_series(0, 73048) i;
ALTER TABLE days ALTER quarter SET STATISTICS 300;
ANALYZE days;
CREATE FUNCTION expected(condition text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM days WHERE ' || condition INTO plan;
  RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;
CREATE TABLE quarters AS SELECT quarter, count(*) AS rows,
  quarter = ANY (SELECT unnest(histogram_bounds::text::text[]) FROM pg_stats WHERE tablename = 'days') AS bound,
  expected(format('quarter = %L', quarter)) AS equal, expected(format('quarter BETWEEN %1$L AND %1$L', quarter)) AS between
  FROM days GROUP BY 1;
SQL
shown=$(sql -c "SELECT bound, count(*), min(equal), max(equal), count(*) FILTER (WHERE between > 1.9 * equal), max(between)
  FROM quarters WHERE rows > 80 GROUP BY 1 ORDER BY 1")
echo "bound|values|least and greatest for =|values with twice as many for BETWEEN|most for BETWEEN"
echo "$shown"
between=$(sed -n 's/^f|[0-9]*|[0-9]*|[0-9]*|\([0-9]*\)|.*/\1/p' <<<"$shown")
bounds=$(sed -n 's/^t|[0-9]*|[0-9]*|[0-9]*|\([0-9]*\)|.*/\1/p' <<<"$shown")
[ "$bounds" = 0 ] && [ "$between" -gt 100 ] && echo "as described"
