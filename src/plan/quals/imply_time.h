/* SPDX-License-Identifier: PostgreSQL */
/*
 * imply_time.h
 *		Derives a range of a column of times from a comparison of a function of it.
 */
#ifndef RTSCAN_IMPLY_TIME_H
#define RTSCAN_IMPLY_TIME_H

#include "rtscan.h"

#include "plan/quals/quals.h"

/*
 * Return the range of a key column, of timestamp or timestamptz, that a comparison with a constant or a value near now
 * implies: of date_trunc(), casts and AT TIME ZONE of the column.  NULL if it implies none.
 */
extern RtscanQual *rtscan_imply_times(IndexOptInfo *index, const OpExpr *clause);

#endif							/* RTSCAN_IMPLY_TIME_H */
