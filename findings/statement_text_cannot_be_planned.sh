#!/usr/bin/env bash
# The text that pg_stat_statements keeps of a query is no longer SQL if a constant had its type before it.
#
# Seen with PostgreSQL 15.20 (Debian 12, 15.20-0+deb12u1) and its pg_stat_statements 1.10: "now() - interval '7 days'" is kept as
# "now() - interval $1", and "date '2025-01-01'" as "date $1". No parameter can stand there, so that the text can be neither prepared nor
# explained (with GENERIC_PLAN, from 16 on): a tool that plans the queries of pg_stat_statements fails at most that filter by time, unless
# it writes CAST($1 AS interval) instead. A constant with its cast behind it, '7 days'::interval, is kept as $1::interval, which can be
# planned.
#
# The script downloads the pinned packages into a temporary folder and runs a server there. It exits with 1 if this has changed.
set -euo pipefail

version=15.20-0+deb12u1
work=$(mktemp -d /tmp/statement_text.XXXXXX)
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
"${as[@]}" pg_ctl -D "$work/data" -l "$work/data/log" -w start \
  -o "-c listen_addresses= -c unix_socket_directories=$work -c shared_preload_libraries=pg_stat_statements" >/dev/null

sql() { psql -XqAt -v ON_ERROR_STOP=1 "$@" 2>&1; }

# Executes a query, and prints the text that is kept of it, and whether that can be prepared.
kept() {
  local text
  sql -c "SELECT pg_stat_statements_reset()" -c "$1" >/dev/null
  text=$(sql -c "SELECT query FROM pg_stat_statements WHERE query ~ '^SELECT now'")
  if sql -c "PREPARE p AS $text" >/dev/null; then echo "$text | can be prepared"; else echo "$text | cannot be prepared"; fi
}

sql -c "SELECT version()"
sql -c "CREATE EXTENSION pg_stat_statements"
before=$(kept "SELECT now() - interval '7 days'")
behind=$(kept "SELECT now() - '7 days'::interval")
printf '%s\n' "$before" "$behind"
[ "$before" = "SELECT now() - interval \$1 | cannot be prepared" ]
[ "$behind" = "SELECT now() - \$1::interval | can be prepared" ] && echo "as described"
