#!/usr/bin/env bash
# CREATE INDEX counts the table's rows. PostgreSQL 15 writes the number to pg_class.reltuples. PostgreSQL 18 does so only if autovacuum
# is on: otherwise a table that was never analyzed keeps reltuples = -1 (unknown). So a function that needs reltuples, or a test that
# leaves out ANALYZE because an index was built, works in 15, and does not in 18 with autovacuum = off.
#
# Seen with PostgreSQL 15 of Debian 12: 1000. With 18.6 (18.6-3) of Debian sid: -1 with autovacuum = off, 1000 with on. The script
# exits with 0 if this is so, with 1 if something has changed. It needs root, Debian's package sources, and mmdebstrap.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 755 "$work"

# Prints reltuples after CREATE INDEX, with autovacuum off and on.
cat >"$work/ask" <<'S'
set -e
bin=$(echo /usr/lib/postgresql/*/bin)
cd /tmp
$bin/initdb -D data -A trust >/dev/null
for autovacuum in off on; do
  $bin/pg_ctl -D data -w -l log -o "-c autovacuum=$autovacuum -c autovacuum_naptime=1h -c listen_addresses= -k /tmp" start >/dev/null
  psql -XqAt -h /tmp postgres -c "CREATE TABLE t_$autovacuum AS SELECT i FROM generate_series(1, 1000) i" \
    -c "CREATE INDEX ON t_$autovacuum (i)" -c "SELECT reltuples FROM pg_class WHERE relname = 't_$autovacuum'"
  $bin/pg_ctl -D data -w -m fast stop >/dev/null
done
S

answers() {
  local suite=$1 major=$2 tree=$work/$2
  mmdebstrap --quiet --mode=root --variant=apt --include="postgresql-$major" --aptopt='APT::Sandbox::User "root"' --aptopt='Acquire::Check-Valid-Until "false"' \
    --setup-hook='mkdir -p $1/etc/postgresql-common; echo "create_main_cluster = false" >$1/etc/postgresql-common/createcluster.conf' \
    "$suite" "$tree" >&2
  cp "$work/ask" "$tree/ask"
  chroot "$tree" runuser -u postgres -- sh /ask | paste -sd' '
}

answers bookworm 15 >"$work/old" &
answers sid 18 >"$work/new"
wait $!
echo "PostgreSQL 15, autovacuum off and on: $(cat "$work/old")"
echo "PostgreSQL 18, autovacuum off and on: $(cat "$work/new")"
[ "$(cat "$work/old")" = "1000 1000" ] && [ "$(cat "$work/new")" = "-1 1000" ]
