/*
 * included.h
 *		Conditions on INCLUDEd columns, and long ones on key columns: asked of the rows that are left, a chunk at a time.
 *
 * This is the only file of the room that reads INCLUDEd values to compare them.
 */
#ifndef RTSCAN_INCLUDED_H
#define RTSCAN_INCLUDED_H

#include "rtscan.h"

#include "search/filter/condition.h"
#include "search/filter/row_bits.h"
#include "segment/segment.h"


/* Clear the bits of a segment's rows that do not meet a condition; returns how many rows were asked, and in which way. */
extern uint64 rtscan_and_included(RtscanReader *reader, const RtscanCondition *condition, RtscanRowBits *bits, RtscanWay *way);

#endif							/* RTSCAN_INCLUDED_H */
