/* SPDX-License-Identifier: PostgreSQL */
/*
 * residual.h
 *		Test the remaining rows for conditions on INCLUDE columns, and for long conditions (lookup.h) on key columns.
 */
#ifndef RTSCAN_RESIDUAL_H
#define RTSCAN_RESIDUAL_H

#include "rtscan.h"

#include "search/filter/condition.h"
#include "search/filter/row_bits.h"
#include "segment/segment.h"

/*
 * Clear the bits of rows that do not meet a condition.  Returns the number of rows tested, and sets *way to the way in
 * which they were tested.
 */
extern uint64 rtscan_and_residual(RtscanReader *reader, const RtscanCondition *condition, RtscanRowBits *bits,
								  RtscanWay *way);

#endif							/* RTSCAN_RESIDUAL_H */
