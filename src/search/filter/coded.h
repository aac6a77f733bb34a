/*
 * coded.h
 *		Rows that are left, tested by a bit for each code of a column.
 */
#ifndef RTSCAN_CODED_H
#define RTSCAN_CODED_H

#include "rtscan.h"

#include "search/filter/row_bits.h"
#include "segment/segment.h"

/* Clear the bits of rows whose codes are no members, of which there is a bit for each code, that of NULL too.  The column has codes of rows. */
extern void rtscan_and_codes(RtscanReader *reader, const RtscanColumnHeader *header, const uint64 *members, RtscanRowBits *bits);

#endif							/* RTSCAN_CODED_H */
