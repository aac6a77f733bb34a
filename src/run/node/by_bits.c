/* SPDX-License-Identifier: PostgreSQL */
/*
 * by_bits.c
 *		Computes aggregates from bits of rows: counts, and minima and maxima of key columns.
 */
#include "run/node/by_bits.h"

#include "pgstat.h"
#include "run/aggregate/accumulate.h"
#include "run/answer/shared.h"
#include "run/node/node.h"
#include "search/filter/segment_filter.h"
#include "search/visible/visibility.h"
#include "storage/pending.h"
#include "utils/memutils.h"

typedef struct Aggregate
{
	const RtscanPlanFilter *filter_plan;
	RtscanFilter filter;
	RtscanAccumulator accumulator;
} Aggregate;

typedef struct RtscanBitsAnswer
{
	const RtscanQuestion *question;
	int			naggregates;
	int			searched;		/* number of aggregates that the current search computes: all, or none */
	bool		wants_values;	/* the current search needs the values of pending rows that match */
	bool		has_filters;	/* the aggregates' filters have been made */
	Aggregate  *aggregates;
	RtscanVisibility visibility;
	RtscanSearch search;
} RtscanBitsAnswer;

/* ---------------------------------------------------------------- rows */

/* The data in RtscanSegmentScan.asked.prepared, set by prepare_segment(). */
typedef struct PreparedSegment
{
	bool		sees_all;		/* the snapshot sees all rows of the segment */
	RtscanSegmentFilter filters[FLEXIBLE_ARRAY_MEMBER]; /* by aggregate that the search computes: its FILTER */
} PreparedSegment;

/* RtscanPrepareSegment: find out whether the bits of the segment's rows are needed, or their number is enough. */
static void
prepare_segment(RtscanSegmentScan *segment, void *arg)
{
	RtscanBitsAnswer *answer = (RtscanBitsAnswer *) arg;
	PreparedSegment *prepared = palloc(offsetof(PreparedSegment, filters) +
									   answer->searched * sizeof(RtscanSegmentFilter));

	rtscan_ask_map(&answer->visibility, segment);
	prepared->sees_all = rtscan_sees_all(&answer->visibility, segment);
	segment->asked.want_bits = !prepared->sees_all;
	for (int i = 0; i < answer->searched; i++)
	{
		RtscanSegmentFilter *filter = &prepared->filters[i];

		rtscan_segment_filter(&answer->aggregates[i].filter, &segment->reader, filter);
		segment->asked.want_bits |= !filter->region.empty &&
			(!rtscan_filter_has_all(filter) || answer->aggregates[i].accumulator.kind != RTSCAN_COUNT);
	}
	segment->asked.prepared = prepared;
}

static void
take_segment(RtscanBitsAnswer *answer, RtscanSegmentScan *segment, RtscanRowBits *bits)
{
	PreparedSegment *prepared = segment->asked.prepared;
	uint64		count;

	if (!prepared->sees_all)
		rtscan_clear_invisible(&answer->visibility, segment, bits);
	count = rtscan_bits_count_now(bits);
	for (int i = 0; i < answer->searched && count > 0; i++)
	{
		RtscanSegmentFilter *filter = &prepared->filters[i];
		const RtscanRowBits *chosen = bits;

		if (filter->region.empty)
			continue;
		if (!rtscan_filter_has_all(filter))
			chosen = rtscan_evaluate_filter(answer->search.progress.round, segment, filter, bits,
											&answer->search.stats.counters);
		rtscan_accumulate_bits(&answer->aggregates[i].accumulator, &segment->reader, &segment->filter.region, chosen);
	}
	answer->search.stats.rows += count;
}

static void
take_segments(RtscanBitsAnswer *answer)
{
	RtscanSearch *search = &answer->search;
	RtscanSegmentScan *segment;
	RtscanRowBits *bits;

	while ((segment = rtscan_next_segment(search, &bits)))
	{
		MemoryContext old = MemoryContextSwitchTo(search->short_context);

		take_segment(answer, segment, bits);
		MemoryContextSwitchTo(old);
	}
}

/* Does the current search need the values of pending rows that match? */
static bool
wants_values(const RtscanBitsAnswer *answer)
{
	for (int i = 0; i < answer->searched; i++)
	{
		if (answer->aggregates[i].accumulator.column >= 0 || !rtscan_filter_is_always(&answer->aggregates[i].filter))
			return true;
	}
	return false;
}

static void
accumulate_row(RtscanBitsAnswer *answer, const Datum *values, const bool *isnull)
{
	for (int i = 0; i < answer->searched; i++)
	{
		RtscanAccumulator *accumulator = &answer->aggregates[i].accumulator;

		if (rtscan_filter_matches(&answer->aggregates[i].filter, values, isnull))
			rtscan_accumulate_value(accumulator, accumulator->column >= 0 ? values[accumulator->column] : (Datum) 0);
	}
}

static void
take_row(RtscanBitsAnswer *answer, IndexTuple tuple)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	if (!rtscan_sees_row(&answer->visibility, &tuple->t_tid))
		return;
	if (answer->wants_values)
		rtscan_deform_pending(answer->question->index, answer->question->schema, tuple, values, isnull);
	accumulate_row(answer, values, isnull);
	answer->search.stats.rows++;
}

static void
take_pending(RtscanBitsAnswer *answer)
{
	IndexTuple	tuple;
	instr_time	start,
				end;

	INSTR_TIME_SET_CURRENT(start);
	while ((tuple = rtscan_next_pending(&answer->search)))
	{
		MemoryContext old = MemoryContextSwitchTo(answer->search.short_context);

		take_row(answer, tuple);
		MemoryContextSwitchTo(old);
	}
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_ACCUM_DIFF(answer->search.stats.bits_time, end, start);
}

/* ---------------------------------------------------------------- the answer */

/* Search the image.  Compute all aggregates, or only count rows if naggregates is 0. */
static void
search(RtscanBitsAnswer *answer, const RtscanImage *image, int naggregates)
{
	const RtscanQuestion *question = answer->question;

	answer->searched = naggregates;
	answer->wants_values = wants_values(answer);
	answer->search = (RtscanSearch) {
		.asked = {
			.index = question->index,
			.snapshot = question->snapshot,
			.schema = question->schema,
			.filter = question->filter,
			.prepare = prepare_segment,
			.prepare_arg = answer,
			.may_test = true,
		},
	};
	rtscan_begin_search(&answer->search, image);
	take_segments(answer);
	take_pending(answer);
	rtscan_end_search(&answer->search);
	pgstat_count_index_tuples(question->index, answer->search.stats.rows);
	rtscan_count_scan(answer->search.executor, &answer->search.stats);
	rtscan_add_totals(question, &answer->search, &answer->visibility.check.work, 0, 0);
	answer->visibility.check.work = (RtscanHeapWork) {0};
}

static void
make_filters(RtscanBitsAnswer *answer)
{
	RtscanNode *node = answer->question->node;

	rtscan_evaluate_arguments(node, node->plan->where_arguments, list_length(node->arguments));
	for (int i = 0; i < answer->naggregates; i++)
		rtscan_make_filter(answer->aggregates[i].filter_plan, node->index, node->schema, &node->values,
						   &answer->aggregates[i].filter);
	answer->has_filters = true;
}

/*
 * Search in all passes.  If evaluating the arguments of FILTERs may raise an error, count each pass's rows without
 * aggregates first, until a pass has rows.  Only then evaluate the arguments, and search this pass again with
 * aggregates.
 */
static void
search_for_all(RtscanBitsAnswer *answer, const RtscanImage *image, bool filters_may_raise)
{
	do
	{
		if (filters_may_raise && !answer->has_filters)
		{
			search(answer, image, 0);
			if (answer->search.stats.rows == 0)
				continue;
		}
		if (!answer->has_filters)
			make_filters(answer);
		search(answer, image, answer->naggregates);
	} while (rtscan_next_pass(answer->question->node));
}

static void
begin_aggregate(Aggregate *aggregate, const RtscanSchema *schema, const RtscanPlanAggregate *plan)
{
	aggregate->filter_plan = plan->filter;
	aggregate->accumulator = (RtscanAccumulator) {
		.kind = plan->kind,
		.column = plan->column,
		.schema = schema,
		.type = plan->column >= 0 ? &schema->columns[plan->column] : NULL,
		.context = CurrentMemoryContext,
	};
}

void
rtscan_answer_by_bits(const RtscanQuestion *question, bool filters_may_raise, Datum *values, bool *isnull)
{
	List	   *aggregates = question->node->plan->aggregates;
	RtscanBitsAnswer answer = {.question = question, .naggregates = list_length(aggregates)};
	RtscanImage *image;

	answer.aggregates = palloc0(answer.naggregates * sizeof(Aggregate));
	for (int i = 0; i < answer.naggregates; i++)
		begin_aggregate(&answer.aggregates[i], question->schema, list_nth(aggregates, i));
	image = rtscan_begin_visibility(&answer.visibility, question->heap, question->index, question->snapshot,
									question->reads_only);
	search_for_all(&answer, image, filters_may_raise);
	for (int i = 0; i < answer.naggregates; i++)
		values[i] = rtscan_finish_accumulation(&answer.aggregates[i].accumulator, &isnull[i]);
}
