/* SPDX-License-Identifier: PostgreSQL */
/*
 * Stands in for Valgrind's header: PostgreSQL built with USE_VALGRIND tells it
 * which bytes of its memory contexts and buffers may be touched, and this tells
 * AddressSanitizer instead. So a sanitized server notices the use of memory
 * after pfree, reads past the end of a palloc'd chunk, and pages that are read
 * without a pin, none of which it could see by itself. In a program that is
 * linked without AddressSanitizer its functions are not there, and nothing is
 * told.
 */
#ifndef RTSCAN_MEMCHECK_H
#define RTSCAN_MEMCHECK_H

#pragma weak __asan_poison_memory_region
#pragma weak __asan_unpoison_memory_region
#include <sanitizer/asan_interface.h>

#define RTSCAN_TELL_SANITIZER(what, addr, size) \
	((void) (__asan_ ## what ## _memory_region ? __asan_ ## what ## _memory_region(addr, size) : (void) 0))

#define VALGRIND_MAKE_MEM_NOACCESS(addr, size)	RTSCAN_TELL_SANITIZER(poison, addr, size)
#define VALGRIND_MAKE_MEM_UNDEFINED(addr, size)	RTSCAN_TELL_SANITIZER(unpoison, addr, size)
#define VALGRIND_MAKE_MEM_DEFINED(addr, size)	RTSCAN_TELL_SANITIZER(unpoison, addr, size)
#define VALGRIND_MEMPOOL_ALLOC(context, addr, size)	RTSCAN_TELL_SANITIZER(unpoison, addr, size)

/* The calls above cover these: contexts mark what they free themselves. */
#define VALGRIND_MEMPOOL_FREE(context, addr)	((void) 0)
#define VALGRIND_MEMPOOL_CHANGE(context, old, new, size)	((void) 0)
#define VALGRIND_CREATE_MEMPOOL(context, redzone, zeroed)	((void) 0)
#define VALGRIND_DESTROY_MEMPOOL(context)	((void) 0)

/* AddressSanitizer does not know which bytes are initialized. */
#define VALGRIND_CHECK_MEM_IS_DEFINED(addr, size)	((void) 0)

#endif
