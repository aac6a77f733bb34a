/* SPDX-License-Identifier: PostgreSQL */
/*
 * look_ahead.h
 *		Prefetch the elements of rows that are read page by page.
 *
 * Elements are prefetched only if the rows are so far apart that the processor does not prefetch by itself.
 */
#ifndef RTSCAN_LOOK_AHEAD_H
#define RTSCAN_LOOK_AHEAD_H

#include "rtscan.h"

#include "segment/segment.h"

/* The state of prefetching for n ascending rows. */
typedef struct RtscanLookAhead
{
	const RtscanArea *area;		/* the area that has the elements */
	uint32		first_page;		/* number of the page in the area that begins with the element of first_row */
	uint32		first_row;		/* row of the first element on first_page; need not be in "rows" */
	uint32		bits;			/* bits of an element */
	const uint32 *rows;			/* the rows */
	uint32		n;				/* number of rows */
	uint32		seen;			/* number of rows whose elements have been prefetched, or need not be */
} RtscanLookAhead;

/* Begin to prefetch the elements of n ascending rows, or decide that prefetching is not worth while. */
extern RtscanLookAhead rtscan_begin_looking_ahead(const RtscanArea *area, uint32 first_page, uint32 first_row,
												  uint32 bits, const uint32 *rows, uint32 n);

/* Prefetch elements of rows[i] and the rows behind it.  Call this before the page of rows[i] is read. */
extern void rtscan_look_ahead(RtscanReader *reader, RtscanLookAhead *ahead, uint32 i);

#endif							/* RTSCAN_LOOK_AHEAD_H */
