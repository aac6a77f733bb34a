/* SPDX-License-Identifier: PostgreSQL */
/*
 * value_test.c
 *		Ranges of a key column whose values pass a test.
 */
#include "search/filter/value_test.h"

/* The most values of a column that are tested in a segment. */
#define MOST_TESTED		1024

/* A test takes about as long as to evaluate an expression on this many rows, whose results are looked up by code. */
#define ROWS_A_TEST		256

/* The test of a column in a segment. */
typedef struct Testing
{
	RtscanValueTest *test;
	const RtscanColumn *type;	/* the column */
	RtscanIntervals *intervals; /* receives the values that pass */
} Testing;

/* RtscanDictionaryVisitor: test a value. */
static void
test_value(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	Testing    *testing = (Testing *) arg;
	RtscanKeyKind kind = testing->type->key_kind;
	Datum		datum = kind == RTSCAN_KEY_NONE ? (Datum) value : rtscan_key_decode(kind, value);

	if (testing->test->passes(testing->test, datum, false))
		rtscan_intervals_add(testing->intervals, (RtscanPosition) {code, first_rank},
							 (RtscanPosition) {code + 1, end_rank});
}

/* Does a value of the dictionary stand for all values that equal it, and is testing all worth it for some rows? */
static bool
can_be_tested(const RtscanColumnHeader *header, double rows)
{
	return !rtscan_is_plain(header) && (header->flags & RTSCAN_COLUMN_IDENTICAL) != 0 &&
		header->distinct <= MOST_TESTED && (double) header->distinct * ROWS_A_TEST <= rows;
}

bool
rtscan_test_values(RtscanValueTest *test, const RtscanSchema *schema, RtscanReader *reader, const RtscanRegion *within,
				   RtscanSegmentFilter *result)
{
	const RtscanColumnHeader *header = &reader->segment->columns[test->column].header;
	uint32		rows = reader->segment->header.rows;
	RtscanRegionColumn column = {.column = test->column, .stands_for = 1};
	Testing		testing = {test, &schema->columns[test->column], &column.intervals};

	*result = (RtscanSegmentFilter) {.ndisjunctions = 0};
	if (!can_be_tested(header, rtscan_region_fraction(within, rows) * rows))
		return true;
	if (!rtscan_dictionary_visit(reader, test->column, testing.type, 0, header->distinct, test_value, &testing))
		return false;
	if (header->nonnull < rows && test->passes(test, (Datum) 0, true))
		rtscan_intervals_add(&column.intervals, (RtscanPosition) {header->distinct, header->nonnull},
							 (RtscanPosition) {header->distinct + 1, rows});
	rtscan_intervals_normalize(&column.intervals);
	rtscan_narrow_region(&result->region, &column);
	rtscan_finish_region(&result->region, rows);
	return true;
}
