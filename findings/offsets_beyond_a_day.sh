#!/usr/bin/env bash
# PostgreSQL converts local times to timestamptz by the offset of the wrong side, for days around a change of the clock, in time zones
# whose offset is more than a day.
#
# Seen with PostgreSQL 15.20 (Debian 12, 15.20-0+deb12u1), without any extension. A POSIX zone may be up to 167 hours away from UTC, and
# PostgreSQL accepts it. In 'FOO-150BAR', 150 hours ahead and one hour more in summer, each hour of a year is converted to local time and
# back. One hour a year exists twice in local time and cannot come back; but 253 others do not come back, either. In 'FOO-10BAR' only
# that one does not. The search for the offset of a local time begins a day before it, taken as UTC, and takes the next change of
# the clock for the one beside it. So code that keeps offsets of a zone in a table has to leave zones with such offsets to PostgreSQL.
#
# The script downloads the pinned packages into a temporary folder and runs a server there. It exits with 1 if this has changed.
set -euo pipefail

version=15.20-0+deb12u1
work=$(mktemp -d /tmp/beyond_a_day.XXXXXX)
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
lost() {
  sql -c "SET timezone = '$1'" -c "SELECT count(*) FROM generate_series(timestamptz '2021-01-01 00:00+00', '2021-12-31 00:00+00', '1 hour') t
    WHERE (t::timestamp)::timestamptz <> t" | tail -n 1
}
near=$(lost FOO-10BAR)
far=$(lost FOO-150BAR)
echo "hours that do not come back: $near in a zone 10 hours ahead, $far in one 150 hours ahead"
[ "$near" = 1 ] && [ "$far" -gt 100 ] && echo "as described"
