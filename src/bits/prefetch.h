/*
 * prefetch.h
 *		Bring what is read soon into the processor's caches.
 */
#ifndef RTSCAN_PREFETCH_H
#define RTSCAN_PREFETCH_H

/*
 * Into the second level only: for hundreds of cache lines ahead, which the first has no room for beside what is worked on.  (A macro: a
 * function that only does this would be taken for one without effect.)
 */
#define RTSCAN_PREFETCH_FAR(address)	__builtin_prefetch(address, 0, 2)

#endif							/* RTSCAN_PREFETCH_H */
