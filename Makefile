# rtscan: make, make install, make installcheck; see README.md
#
# The device program is built where Vulkan's headers, volk and glslangValidator are; without it scans run on the CPU.

EXTENSION = rtscan
RTSCAN_VERSION := $(shell sed -n "s/^default_version = '\(.*\)'$$/\1/p" rtscan.control)
MODULE_big = rtscan
DATA = rtscan--1.0.sql rtscan--1.0--1.1.sql
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c src/*/*.c)))

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
PG_CPPFLAGS = -I$(srcdir)/src -DRTSCAN_VERSION='"$(RTSCAN_VERSION)"'
PG_CFLAGS = -O3 -Wno-declaration-after-statement

# The device program's: below.
EXTRA_CLEAN = device/*.o device/spirv device/rtscan_device bench/encoding

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

$(OBJS): $(wildcard src/*.h src/*/*.h) rtscan.control

# ---- the device program ----

SHADERS = $(sort $(wildcard shaders/*.comp shaders/*.rgen shaders/*.rint shaders/*.rmiss))
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
	@echo "The device program is not built: it needs glslangValidator, volk.h and vulkan.h"
endif

device/rtscan_device: $(DEVICE_OBJS)
	$(CC) $(DEVICE_CFLAGS) $(LDFLAGS) -o $@ $^ -ldl -lm -lpthread

$(DEVICE_OBJS): %.o: %.c $(wildcard device/*.h shaders/layout.h) $(SPIRV)
	$(CC) $(DEVICE_CFLAGS) -c -o $@ $<

# For bench/device.sh --sweep.
bench/encoding: bench/encoding.c device/protocol.h
	$(CC) $(DEVICE_CFLAGS) $(LDFLAGS) -o $@ $< -lm

define spirv_rule
device/spirv/$(call spirv_name,$(1)).h: $(1) $(wildcard shaders/*.glsl) shaders/layout.h
	@mkdir -p device/spirv
	glslangValidator -V --quiet --target-env vulkan1.2 --vn $(call spirv_name,$(1))_spirv -o $$@ $$<
endef
$(foreach shader,$(SHADERS),$(eval $(call spirv_rule,$(shader))))

.PHONY: install-device uninstall-device
