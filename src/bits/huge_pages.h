/* SPDX-License-Identifier: PostgreSQL */
/*
 * huge_pages.h
 *		Request huge pages from the kernel, for memory that is written once from its beginning to its end.
 *
 * The first access to a page costs a fault, which takes longer in a virtual machine than the work on the page.  With
 * huge pages there are fewer faults.  If the kernel's setting transparent_hugepage is "madvise", huge pages must be
 * requested.  With "always" they are used anyway, and with "never" they are not used.
 */
#ifndef RTSCAN_HUGE_PAGES_H
#define RTSCAN_HUGE_PAGES_H

#include "rtscan.h"

#include <sys/mman.h>

#define RTSCAN_HUGE_PAGE	((uintptr_t) 2 * 1024 * 1024)

/*
 * Advise the kernel to use huge pages for the part of memory that consists of whole huge pages.  The kernel may
 * ignore the advice.
 */
static inline void
rtscan_advise_huge_pages(void *memory, Size size)
{
#ifdef MADV_HUGEPAGE
	uintptr_t	first = TYPEALIGN(RTSCAN_HUGE_PAGE, (uintptr_t) memory);
	uintptr_t	end = TYPEALIGN_DOWN(RTSCAN_HUGE_PAGE, (uintptr_t) memory + size);

	if (first < end)
		(void) madvise((void *) first, end - first, MADV_HUGEPAGE);
#endif
}

#endif							/* RTSCAN_HUGE_PAGES_H */
