/*
 * huge_pages.h
 *		Memory that is touched once, from its beginning on: the kernel may give it in huge pages.
 *
 * The first touch of a page costs a fault, in a virtual machine more than what is then done with the page.  A kernel whose
 * transparent_hugepage is "madvise" has to be asked; others do so anyway, or never.
 */
#ifndef RTSCAN_HUGE_PAGES_H
#define RTSCAN_HUGE_PAGES_H

#include "rtscan.h"

#include <sys/mman.h>

#define RTSCAN_HUGE_PAGE	((uintptr_t) 2 * 1024 * 1024)

/* Of the memory only whole huge pages are asked for.  It is advice: a kernel that does not take it does nothing. */
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
