/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_aggregate_parts.h
 *		Functions that only the files of device aggregates share.
 */
#ifndef RTSCAN_DEVICE_AGGREGATE_PARTS_H
#define RTSCAN_DEVICE_AGGREGATE_PARTS_H

#include "rtscan.h"

#include "search/exec/device_aggregate.h"

/*
 * If a column has at most this many codes, the integers that the codes represent may be looked up.  The limit is low,
 * since the lookup takes place before it is known whether there are too many cells.
 */
#define FEW_CODES		4096

/* Are a column's integers so close to each other that they can be a digit in place of "codes" codes? */
static inline bool
rtscan_are_dense(const RtscanDeviceAggColumn *of, uint64 codes)
{
	return of->largest < 2 * codes;
}

/* Are a digit's numbers the same in all segments? */
static inline bool
rtscan_is_common_digit(const RtscanDeviceAggDigit *digit)
{
	return digit->map || digit->bins;
}

/*
 * device_aggregate_columns.c: find the column of a digit, and whether the digit is coded.  The digit is made of
 * integers in frames, of integers that are dense enough to replace codes, or else of codes.  Returns false if the
 * column has none of the three.
 */
extern bool rtscan_find_digit_column(const RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema,
									 int column, RtscanDeviceAggDigit *digit);

/*
 * device_aggregate_columns.c: find the integers of a column that can be measured: integers stored in frames or, if
 * there are none, integers that codes represent.  INCLUDEd columns after the column that are the same column of the
 * table are tried, too.  Returns false if there are no integers.
 */
extern bool rtscan_find_measured_column(RtscanReader *reader, const RtscanSchema *schema, int column,
										RtscanDeviceAggColumn *found);

/*
 * device_aggregate_columns.c: look up the integers that a column's codes represent, and store them in value->integers,
 * which is allocated.  "of" is the digit's column of codes; NULL's code represents no integer.  Returns false if there
 * are more than FEW_CODES codes, or if the values are no integers.
 */
extern bool rtscan_find_integers_of_codes(RtscanReader *reader, const RtscanSchema *schema, int column,
										  const RtscanDeviceAggColumn *of, RtscanDeviceAggValue *value);

/* device_aggregate_columns.c: can a column be NULL in some rows of a segment? */
extern bool rtscan_column_has_nulls(const RtscanSegment *segment, const RtscanValues *values, int column);

#endif							/* RTSCAN_DEVICE_AGGREGATE_PARTS_H */
