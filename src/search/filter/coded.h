/*
 * coded.h
 *		Test the remaining rows against a bitmap indexed by code.
 */
#ifndef RTSCAN_CODED_H
#define RTSCAN_CODED_H

#include "rtscan.h"

#include "search/filter/row_bits.h"
#include "segment/segment.h"

/*
 * Clear the bits of rows whose codes are not members.  There is a bit in "members" for each code, including that of
 * NULL.  The column must have a code for each row.
 */
extern void rtscan_and_codes(RtscanReader *reader, const RtscanColumnHeader *header, const uint64 *members,
							 RtscanRowBits *bits);

#endif							/* RTSCAN_CODED_H */
