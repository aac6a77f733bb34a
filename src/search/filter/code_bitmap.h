/* SPDX-License-Identifier: PostgreSQL */
/*
 * code_bitmap.h
 *		Test the remaining rows against a bitmap indexed by code.
 */
#ifndef RTSCAN_CODE_BITMAP_H
#define RTSCAN_CODE_BITMAP_H

#include "rtscan.h"

#include "search/filter/row_bits.h"
#include "segment/segment.h"

/*
 * Clear the bits of rows whose codes are not in the set "members", which has a bit for each code, including that of
 * NULL.  The column must have a code for each row.
 */
extern void rtscan_and_code_bitmap(RtscanReader *reader, const RtscanColumnHeader *header, const uint64 *members,
								   RtscanRowBits *bits);

#endif							/* RTSCAN_CODE_BITMAP_H */
