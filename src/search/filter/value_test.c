/* SPDX-License-Identifier: PostgreSQL */
/*
 * value_test.c
 *		Ranges of a key column whose values pass a test.
 */
#include "search/filter/value_test.h"

#include "miscadmin.h"
#include "segment/probe.h"
#include "utils/datum.h"

/* The most values of a column that are tested in a segment. */
#define MOST_TESTED		1024

/* A test takes about as long as to evaluate an expression on this many rows, whose results are looked up by code. */
#define ROWS_A_TEST		256

/* A value of the dictionary, and its place. */
typedef struct Candidate
{
	Datum		value;
	RtscanPosition first;		/* first place of the value */
	RtscanPosition end;			/* first place behind the value */
} Candidate;

/* The values of a column in a segment. */
typedef struct Candidates
{
	const RtscanColumn *type;	/* the column */
	uint32		n;				/* number of values */
	Candidate	values[MOST_TESTED];	/* the values */
} Candidates;

/*
 * RtscanDictionaryVisitor: collect a value.  It is tested later, since on a standby the page is locked now, and an
 * expression may take long, or look into catalogs.
 */
static void
collect_value(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	Candidates *candidates = (Candidates *) arg;
	const RtscanColumn *type = candidates->type;
	RtscanKeyKind kind = type->key_kind;

	candidates->values[candidates->n++] = (Candidate) {
		.value = kind == RTSCAN_KEY_NONE ? datumCopy((Datum) value, type->typbyval, type->typlen)
			: rtscan_key_decode(kind, value),
		.first = {code, first_rank},
		.end = {code + 1, end_rank},
	};
}

/* Add the places of the values that pass. */
static void
test_all(RtscanValueTest *test, const Candidates *candidates, RtscanIntervals *intervals)
{
	for (uint32 i = 0; i < candidates->n; i++)
	{
		const Candidate *candidate = &candidates->values[i];

		CHECK_FOR_INTERRUPTS();
		if (test->passes(test, candidate->value, false))
			rtscan_intervals_add(intervals, candidate->first, candidate->end);
	}
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
	Candidates *candidates;

	*result = (RtscanSegmentFilter) {.ndisjunctions = 0};
	if (!can_be_tested(header, rtscan_region_fraction(within, rows) * rows))
		return true;
	candidates = palloc(sizeof(Candidates));
	candidates->type = &schema->columns[test->column];
	candidates->n = 0;
	if (!rtscan_dictionary_visit(reader, test->column, candidates->type, 0, header->distinct, collect_value,
								 candidates))
		return false;
	test_all(test, candidates, &column.intervals);
	pfree(candidates);
	if (header->nonnull < rows && test->passes(test, (Datum) 0, true))
		rtscan_intervals_add(&column.intervals, (RtscanPosition) {header->distinct, header->nonnull},
							 (RtscanPosition) {header->distinct + 1, rows});
	rtscan_intervals_normalize(&column.intervals);
	rtscan_narrow_region(&result->region, &column);
	rtscan_finish_region(&result->region, rows);
	return true;
}
