#!/usr/bin/env bash
# A library built with the headers of PostgreSQL 15.20 (Debian's 15.20-0+deb12u1) does not load in 15.18 (15.18-0+deb12u1) if it
# calls heap_getattr(). That function is inline, and in 15.20 it calls heap_datum_check(), which 15.18 does not have. A minor release
# keeps the functions that older libraries call. It does not promise that new libraries run on older servers, and packages do not
# depend on a minor release.
#
# Seen on Debian 12: built with 15.18's headers, the library needs no such symbol; built with 15.20's, it needs heap_datum_check.
# 15.20's server has that symbol, 15.18's does not. The script exits with 0 if this is so, with 1 if something has changed. It needs
# apt with Debian 12's sources, gcc and binutils.
set -euo pipefail
OLD=15.18-0+deb12u1
NEW=15.20-0+deb12u1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >column.c <<'C'
#include "postgres.h"
#include "access/htup_details.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

Datum first_column(HeapTuple tuple, TupleDesc tupdesc, bool *isnull);

Datum
first_column(HeapTuple tuple, TupleDesc tupdesc, bool *isnull)
{
	return heap_getattr(tuple, 1, tupdesc, isnull);
}
C

for version in $OLD $NEW; do
  mkdir "$version"
  (cd "$version" && apt-get -qq -o APT::Sandbox::User=root download "postgresql-15=$version" "postgresql-server-dev-15=$version" &&
    for file in *.deb; do dpkg -x "$file" .; done)
  gcc -O2 -fPIC -shared -I "$version/usr/include/postgresql/15/server" -I "$version/usr/include/postgresql/internal" -o "$version/column.so" column.c
done

wants() { nm -D --undefined-only "$1/column.so" | grep -w heap_datum_check >/dev/null; }
has() { nm -D --defined-only "$1/usr/lib/postgresql/15/bin/postgres" | grep -w heap_datum_check >/dev/null; }
say() { if "$1" "$2"; then echo "$3 $2 $1 heap_datum_check"; else echo "$3 $2: no heap_datum_check"; fi; }
say wants $OLD "library of"
say wants $NEW "library of"
say has $OLD "server"
say has $NEW "server"
! wants $OLD && wants $NEW && ! has $OLD && has $NEW
