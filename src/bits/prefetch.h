/* SPDX-License-Identifier: PostgreSQL */
/*
 * prefetch.h
 *		Prefetch memory into the processor's caches.
 */
#ifndef RTSCAN_PREFETCH_H
#define RTSCAN_PREFETCH_H

/*
 * Prefetch into the second-level cache only, for reads that are hundreds of cache lines ahead: the first level
 * has no room for these beside the data at hand.  It is a macro because compilers would take a function that
 * only prefetches for one without effect.
 */
#define RTSCAN_PREFETCH_FAR(address)	__builtin_prefetch(address, 0, 2)

#endif							/* RTSCAN_PREFETCH_H */
