/*
 * look_ahead.h
 *		Bring the elements of rows into the processor's cache before they are got, a page after another.
 *
 * That is done where rows are so far from each other that it does not do so by itself.
 */
#ifndef RTSCAN_LOOK_AHEAD_H
#define RTSCAN_LOOK_AHEAD_H

#include "rtscan.h"

#include "segment/segment.h"

/* Of rows that ascend; the first element of the first page is that of a row that need not be among them. */
typedef struct RtscanLookAhead
{
	const RtscanArea *area;
	uint32		first_page;
	uint32		first_row;
	uint32		bits;			/* of an element */
	const uint32 *rows;
	uint32		n;
	uint32		seen;			/* so many rows need no more care */
} RtscanLookAhead;

extern RtscanLookAhead rtscan_begin_looking_ahead(const RtscanArea *area, uint32 first_page, uint32 first_row, uint32 bits,
												  const uint32 *rows, uint32 n);

/* The page that is got next is that of the i-th row. */
extern void rtscan_look_ahead(RtscanReader *reader, RtscanLookAhead *ahead, uint32 i);

#endif							/* RTSCAN_LOOK_AHEAD_H */
