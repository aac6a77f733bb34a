# rtscan: make, make install, make installcheck; see README.md
#
# The device program is built where Vulkan's headers, volk and glslangValidator are; without it scans run on the CPU.

EXTENSION = rtscan
RTSCAN_VERSION := $(shell sed -n "s/^default_version = '\(.*\)'$$/\1/p" rtscan.control)
MODULE_big = rtscan
DATA = rtscan--1.0.sql rtscan--1.0--1.1.sql
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c)))

REGRESS = $(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql)))
ISOLATION = $(patsubst specs/%.spec,%,$(sort $(wildcard specs/*.spec)))
# Those in t/ start servers of their own, and take long: TAP_TESTS=1.

# The tests' database is the same whatever the server's locale.
REGRESS_OPTS = --encoding=UTF8 --no-locale
ISOLATION_OPTS = $(REGRESS_OPTS)

# A worker would serve the indexes of all tests, whenever it comes; those in t/ are about that.
installcheck: export PGOPTIONS = -c rtscan.merge_worker=off

# An access method is called through pointers, which a JIT does not inline: no bitcode.
override with_llvm = no
# What an object was made from is noted next to it, so that a header's change rebuilds what includes it. (PostgreSQL's own
# notes, where it is configured to take them, know files without their folders.)
override autodepend =
PG_CPPFLAGS = -I$(srcdir)/src -DRTSCAN_VERSION='"$(RTSCAN_VERSION)"' -MMD -MP
PG_CFLAGS = -O3 -Wno-declaration-after-statement

# Its own symbols are found when it is linked, not in each new session that loads it (16 and later hide them).
SHLIB_LINK = $(if $(filter linux,$(PORTNAME)),-Wl$(comma)-Bsymbolic)
comma = ,

# The device program's: below.
EXTRA_CLEAN = $(OBJS:.o=.d) device/*.o device/*.d device/test/*.o device/test/*.d $(DEVICE_TESTS) device/spirv \
	device/rtscan_device bench/encoding \
	bench/lookups/*.o bench/lookups/*.d bench/lookups/test bench/lookups/spirv bench/lookups/lookups

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

$(OBJS): Makefile rtscan.control
-include $(OBJS:.o=.d)

# Includes between rooms, and the length of lines.
all: check-rooms check-lines

check-rooms check-lines:
	@$(srcdir)/tools/$@

.PHONY: check-rooms check-lines

# ---- the device program ----

SHADERS = $(sort $(wildcard shaders/*.comp shaders/*.rgen shaders/*.rint shaders/*.rahit shaders/*.rmiss))
# sieve.comp becomes sieve_spirv in sieve.h, trace.rgen trace_rgen_spirv in trace_rgen.h.
spirv_name = $(subst .,_,$(patsubst %.comp,%,$(notdir $(1))))
SPIRV = $(foreach shader,$(SHADERS),device/spirv/$(call spirv_name,$(shader)).h)
DEVICE_OBJS = $(patsubst %.c,%.o,$(sort $(wildcard device/*.c)))
DEVICE_CFLAGS = $(filter-out -W%,$(CFLAGS)) -Wall -Wextra $(COPT) -std=gnu11 -Idevice/spirv

HAVE_VULKAN := $(shell command -v glslangValidator >/dev/null && $(CC) -include volk.h -E -x c /dev/null >/dev/null 2>&1 && echo yes)

ifeq ($(HAVE_VULKAN),yes)
all: device/rtscan_device

install: install-device

uninstall: uninstall-device

uninstall-device:
	rm -f '$(DESTDIR)$(pkglibdir)/rtscan_device'

install-device: device/rtscan_device installdirs
	$(INSTALL_PROGRAM) $< '$(DESTDIR)$(pkglibdir)/rtscan_device'
else
all:
	@echo "The device program, which is for GPUs only, is not built: it needs glslangValidator, volk.h and vulkan.h"
endif

device/rtscan_device: $(DEVICE_OBJS)
	$(CC) $(DEVICE_CFLAGS) $(LDFLAGS) -o $@ $^ -ldl -lm -lpthread

$(DEVICE_OBJS): %.o: %.c Makefile $(SPIRV)
	$(CC) $(DEVICE_CFLAGS) -MMD -MP -c -o $@ $<
-include $(DEVICE_OBJS:.o=.d)

# Programs that test the device program's parts, with sanitizers.
DEVICE_TESTS = $(patsubst %.c,%,$(sort $(wildcard device/test/*_test.c)))
DEVICE_TEST_OBJS = $(patsubst device/%.o,device/test/%.o,$(filter-out device/main.o,$(DEVICE_OBJS)))
# Files in device/test that tests share.
DEVICE_SHARED_OBJS = $(patsubst %.c,%.o,$(sort $(filter-out %_test.c,$(wildcard device/test/*.c))))
DEVICE_TEST_CFLAGS = -std=gnu11 -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all \
	-Wall -Wextra -Werror -Idevice/spirv

device-tests: $(DEVICE_TESTS)

$(DEVICE_TESTS): %: %.c $(DEVICE_SHARED_OBJS) $(DEVICE_TEST_OBJS)
	$(CC) $(DEVICE_TEST_CFLAGS) -MMD -MP -o $@ $< $(MORE_OBJS) $(DEVICE_SHARED_OBJS) $(DEVICE_TEST_OBJS) -ldl -lm -lpthread

$(DEVICE_TEST_OBJS): device/test/%.o: device/%.c Makefile $(SPIRV)
	$(CC) $(DEVICE_TEST_CFLAGS) -MMD -MP -c -o $@ $<

$(DEVICE_SHARED_OBJS): %.o: %.c Makefile $(SPIRV)
	$(CC) $(DEVICE_TEST_CFLAGS) -MMD -MP -c -o $@ $<
-include $(DEVICE_TESTS:=.d) $(DEVICE_TEST_OBJS:.o=.d) $(DEVICE_SHARED_OBJS:.o=.d)

# It has functions that dlsym() is to find.
device/test/clocks_test: MORE_OBJS = -rdynamic

# For bench/device.sh --sweep.
bench/encoding: bench/encoding.c device/protocol.h
	$(CC) $(DEVICE_CFLAGS) $(LDFLAGS) -o $@ $< -lm

# For bench/lookups.py, whose shaders are no part of the device program.
LOOKUPS_SHADERS = $(sort $(foreach kind,comp rgen rint rahit rchit rmiss,$(wildcard bench/lookups/*.$(kind))))
LOOKUPS_SPIRV = $(foreach shader,$(LOOKUPS_SHADERS),bench/lookups/spirv/$(call spirv_name,$(shader)).h)
LOOKUPS_OBJS = $(patsubst %.c,%.o,$(sort $(wildcard bench/lookups/*.c)))
LOOKUPS_DEVICE_OBJS = $(addprefix device/,choose_device.o clocks.o context.o device_memory.o limits.o report.o shader.o sort.o structure.o)

bench/lookups/lookups: $(LOOKUPS_OBJS) $(LOOKUPS_DEVICE_OBJS)
	$(CC) $(DEVICE_CFLAGS) $(LDFLAGS) -o $@ $^ -ldl -lm -lpthread

# Its own test is one of the device program's, with sanitizers.
LOOKUPS_TEST_OBJS = $(patsubst bench/lookups/%.o,bench/lookups/test/%.o,$(filter-out %/lookups.o,$(LOOKUPS_OBJS)))

device/test/lookups_test: $(LOOKUPS_TEST_OBJS)
device/test/lookups_test: MORE_OBJS = $(LOOKUPS_TEST_OBJS)

$(LOOKUPS_TEST_OBJS): bench/lookups/test/%.o: bench/lookups/%.c Makefile $(LOOKUPS_SPIRV)
	@mkdir -p bench/lookups/test
	$(CC) $(DEVICE_TEST_CFLAGS) -Ibench/lookups/spirv -MMD -MP -c -o $@ $<
-include $(LOOKUPS_TEST_OBJS:.o=.d)

$(LOOKUPS_OBJS): %.o: %.c Makefile $(LOOKUPS_SPIRV)
	$(CC) $(DEVICE_CFLAGS) -Ibench/lookups/spirv -MMD -MP -c -o $@ $<
-include $(LOOKUPS_OBJS:.o=.d)

define lookups_spirv_rule
bench/lookups/spirv/$(call spirv_name,$(1)).h: $(1) $(wildcard bench/lookups/*.glsl) bench/lookups/layout.h shaders/common.glsl shaders/layout.h
	@mkdir -p bench/lookups/spirv
	glslangValidator -V --quiet --target-env vulkan1.2 --vn $(call spirv_name,$(1))_spirv -o $$@ $$<
endef
$(foreach shader,$(LOOKUPS_SHADERS),$(eval $(call lookups_spirv_rule,$(shader))))

define spirv_rule
device/spirv/$(call spirv_name,$(1)).h: $(1) $(wildcard shaders/*.glsl) shaders/layout.h
	@mkdir -p device/spirv
	glslangValidator -V --quiet --target-env vulkan1.2 --vn $(call spirv_name,$(1))_spirv -o $$@ $$<
endef
$(foreach shader,$(SHADERS),$(eval $(call spirv_rule,$(shader))))

# ---- tests without a server ----

unit-tests:
	$(MAKE) -C unit PG_CONFIG='$(PG_CONFIG)'

clean: clean-unit-tests

clean-unit-tests:
	$(MAKE) -C unit clean

.PHONY: install-device uninstall-device device-tests unit-tests clean-unit-tests
