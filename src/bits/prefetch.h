/* SPDX-License-Identifier: PostgreSQL */
/*
 * prefetch.h
 *		Prefetch memory into the processor's caches.
 */
#ifndef RTSCAN_PREFETCH_H
#define RTSCAN_PREFETCH_H

/*
 * Prefetch into the second-level cache only, for reads that are hundreds of cache lines ahead: the first-level cache
 * has no room for so many lines beside the data in use.  This is a macro, because compilers may remove calls of a
 * function that only prefetches, as calls without effect.
 */
#define RTSCAN_PREFETCH_FAR(address)	__builtin_prefetch(address, 0, 2)

#endif							/* RTSCAN_PREFETCH_H */
