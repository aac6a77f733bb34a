# rtscan: make, make install, make installcheck; see README.md

EXTENSION = rtscan
MODULE_big = rtscan
DATA = rtscan--1.0.sql
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c src/*/*.c)))

REGRESS = $(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql)))
ISOLATION = $(patsubst specs/%.spec,%,$(sort $(wildcard specs/*.spec)))
TAP_TESTS = 1

# An access method is called through pointers, which a JIT does not inline: no bitcode.
override with_llvm = no
PG_CPPFLAGS = -I$(srcdir)/src
PG_CFLAGS = -O3 -Wno-declaration-after-statement

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

$(OBJS): $(wildcard src/*.h src/*/*.h)
