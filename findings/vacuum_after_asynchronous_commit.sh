#!/usr/bin/env bash
# VACUUM does not mark the pages of a table all-visible if they were written by a transaction that has committed asynchronously
# (synchronous_commit = off) and whose commit record is not on disk yet: hint bits cannot be set until then, and VACUUM marks only pages
# whose rows have them. It says nothing. So a load script that ends with VACUUM leaves a table on which index-only scans read the heap.
# The log writer needs up to three times wal_writer_delay; here that is long, so that the result does not depend on time. A CHECKPOINT
# before VACUUM helps.
#
# Seen with PostgreSQL 15 of Debian 12 and 18 of Debian sid: relpages and relallvisible after VACUUM are 5|5 with a synchronous commit,
# 5|0 with an asynchronous one, and 5|5 after CHECKPOINT and another VACUUM. The script exits with 0 if this is so, with 1 if something
# has changed. It needs root, Debian's package sources, and mmdebstrap.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 755 "$work"

# Prints relpages and relallvisible after VACUUM, for a synchronous and an asynchronous commit, and for the latter after CHECKPOINT.
cat >"$work/ask" <<'S'
set -e
bin=$(echo /usr/lib/postgresql/*/bin)
cd /tmp
$bin/initdb -D data -A trust >/dev/null
$bin/pg_ctl -D data -w -l log -o "-c autovacuum=off -c wal_writer_delay=10s -c listen_addresses= -k /tmp" start >/dev/null
ask() { psql -XqAt -h /tmp postgres "$@"; }
for commit in on off; do
  ask -c "SET synchronous_commit = $commit" -c "CREATE TABLE t_$commit (i int)" \
    -c "INSERT INTO t_$commit SELECT i FROM generate_series(1, 1000) i" -c "VACUUM t_$commit" \
    -c "SELECT relpages, relallvisible FROM pg_class WHERE relname = 't_$commit'"
done
ask -c CHECKPOINT -c "VACUUM t_off" -c "SELECT relpages, relallvisible FROM pg_class WHERE relname = 't_off'"
$bin/pg_ctl -D data -w -m fast stop >/dev/null
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
echo "PostgreSQL 15: $(cat "$work/old")"
echo "PostgreSQL 18: $(cat "$work/new")"
[ "$(cat "$work/old")" = "5|5 5|0 5|5" ] && [ "$(cat "$work/new")" = "5|5 5|0 5|5" ]
