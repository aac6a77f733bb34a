/* SPDX-License-Identifier: PostgreSQL */
/*
 * look_ahead.h
 *		Prefetch the elements of rows that are read page by page.
 *
 * It does so if the rows are so far from each other that the processor does not prefetch by itself.
 */
#ifndef RTSCAN_LOOK_AHEAD_H
#define RTSCAN_LOOK_AHEAD_H

#include "rtscan.h"

#include "segment/segment.h"

/* The state of prefetching for n ascending rows. */
typedef struct RtscanLookAhead
{
	const RtscanArea *area;		/* the area that has the elements */
	uint32		first_page;		/* number of the first page in the area */
	uint32		first_row;		/* row of the first page's first element, which need not be among the rows */
	uint32		bits;			/* bits of an element */
	const uint32 *rows;			/* the rows */
	uint32		n;				/* number of rows */
	uint32		seen;			/* number of rows that have been prefetched, or need not be */
} RtscanLookAhead;

/* Begin to prefetch for n rows, or decide that it is not worth while. */
extern RtscanLookAhead rtscan_begin_looking_ahead(const RtscanArea *area, uint32 first_page, uint32 first_row,
												  uint32 bits, const uint32 *rows, uint32 n);

/* Prefetch, before the page of row i is read. */
extern void rtscan_look_ahead(RtscanReader *reader, RtscanLookAhead *ahead, uint32 i);

#endif							/* RTSCAN_LOOK_AHEAD_H */
