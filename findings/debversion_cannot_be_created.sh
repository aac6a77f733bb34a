#!/usr/bin/env bash
# Debian 12's package postgresql-15-debversion cannot be used with Debian 12's PostgreSQL 15: CREATE EXTENSION fails.
#
# Seen with postgresql-15-debversion 1.1.2-1+b1 and PostgreSQL 15.20 (15.20-0+deb12u1), without any other extension:
#   ERROR:  negator operator >= is already the negator of operator <
# The extension's script declares >= as the negator of both < and >. The negator of > should be <=. The server accepts only the first.
#
# The script downloads the pinned packages into a temporary folder and runs a server there. It exits with 1 if this has changed.
set -euo pipefail

work=$(mktemp -d /tmp/debversion.XXXXXX)
as=()
if [ "$(id -u)" = 0 ]; then as=(runuser -u nobody --); fi
stop() {
  "${as[@]}" "$work/usr/lib/postgresql/15/bin/pg_ctl" -D "$work/data" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap stop EXIT

cd "$work"
apt-get -qq -o APT::Sandbox::User="$(id -un)" download postgresql-15=15.20-0+deb12u1 postgresql-client-15=15.20-0+deb12u1 \
  postgresql-15-debversion=1.1.2-1+b1
for package in *.deb; do dpkg-deb -x "$package" .; done
if [ "$(id -u)" = 0 ]; then chown nobody "$work"; fi
export PATH=$work/usr/lib/postgresql/15/bin:$PATH PGHOST=$work PGDATABASE=postgres PGUSER=postgres
"${as[@]}" initdb --pgdata="$work/data" --username=postgres --auth=trust --no-sync >/dev/null
"${as[@]}" pg_ctl -D "$work/data" -l "$work/data/log" -o "-c listen_addresses= -c unix_socket_directories=$work" -w start >/dev/null

psql -XqAtc "SELECT version()"
output=$(psql -XqAtc "CREATE EXTENSION debversion" 2>&1) && { echo "it can be created"; exit 1; }
echo "$output"
[[ $output = *"is already the negator of operator"* ]] && echo "as described"
