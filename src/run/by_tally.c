/*
 * by_tally.c
 *		Aggregates from what another executor than the CPU makes of rows.
 */
#include "run/by_tally.h"

#include "miscadmin.h"
#include "run/attributes.h"
#include "run/by_chunks.h"
#include "run/tally_sums.h"
#include "segment/typed.h"
#include "utils/memutils.h"

/* So many are added before groups may be found to take too much memory. */
#define GROUPS_AT_A_TIME	1024

/* What the CPU takes to find a row's group, and to add one of its values, in nanoseconds, at least. */
#define GROUPED_ROW			2.0
#define SUMMED_ROW			0.5

/* ---------------------------------------------------------------- asking */

/* A column of the index, or of a dimension, whose rows have keys that the index has. */
static bool
ask_for_digit(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer, int column)
{
	const RtscanSchema *schema = answer->question->schema;
	const RtscanTallyMap *map;
	int			key_column;

	if (column < schema->ncolumns)
		return rtscan_tally_digit(tally, reader, schema, column);
	map = rtscan_find_attribute_map(answer->batch->attributes, column, &key_column);
	return map && rtscan_tally_mapped_digit(tally, reader, schema, key_column, map);
}

static bool
ask_for_digits(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer)
{
	int			column = -1;

	while (answer->groups && (column = bms_next_member(answer->set->columns, column)) >= 0)
		if (!ask_for_digit(tally, reader, answer, column))
			return false;
	return true;
}

/* The argument's values of an aggregate: of a column, or a sum of an expression's. */
static RtscanNotTallied
ask_for_argument(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer, int number)
{
	const RtscanSchema *schema = answer->question->schema;
	const RtscanTransition *transition = &answer->transitions[number];
	int			column = answer->task->aggregates[number].columns[0];

	if (column >= schema->ncolumns)
		return RTSCAN_NOT_TALLIED_VALUES;
	if (column < 0)
		return rtscan_ask_for_sum(tally, reader, schema, answer->arithmetic[number][0]) ? RTSCAN_TALLIED : RTSCAN_NOT_TALLIED_SUMS;
	return rtscan_tally_value(tally, reader, schema, column, transition->family->total_kind(transition)) ?
		RTSCAN_TALLIED : RTSCAN_NOT_TALLIED_VALUES;
}

/* Those of all aggregates with an argument, in their order. */
static RtscanNotTallied
ask_for_arguments(RtscanTally *tally, RtscanReader *reader, const RtscanRowsAnswer *answer)
{
	RtscanNotTallied why = RTSCAN_TALLIED;

	for (int i = 0; i < answer->task->naggregates && why == RTSCAN_TALLIED; i++)
		if (answer->task->aggregates[i].narguments > 0)
			why = ask_for_argument(tally, reader, answer, i);
	return why;
}

/* For EXPLAIN: what is last in the enum's order has most to say. */
static void
note_why(RtscanRowsAnswer *answer, RtscanNotTallied why)
{
	RtscanTotals *totals = answer->question->totals;

	totals->not_tallied = Max(totals->not_tallied, why);
}

/* RtscanTallier.make */
static RtscanTally *
make_tally(RtscanSegmentScan *segment, void *arg)
{
	RtscanRowsAnswer *answer = (RtscanRowsAnswer *) arg;
	RtscanTally *tally = rtscan_create_tally(segment->reader.segment);
	RtscanNotTallied why = RTSCAN_NOT_TALLIED_VALUES;

	if (!rtscan_may_be_tallied(segment))
		why = RTSCAN_NOT_TALLIED_COMBINED;
	else if (ask_for_digits(tally, &segment->reader, answer))
		why = ask_for_arguments(tally, &segment->reader, answer);
	if (why == RTSCAN_TALLIED)
		return tally;
	note_why(answer, why);
	pfree(tally);
	return NULL;
}

/* ---------------------------------------------------------------- what digits stand for */

/* An entry among others, in the order of numbers. */
typedef struct PlacedEntry
{
	uint64		number;
	uint32		entry;
} PlacedEntry;

#define ST_SORT sort_entries
#define ST_ELEMENT_TYPE PlacedEntry
#define ST_COMPARE(a, b) ((a)->number < (b)->number ? -1 : (a)->number > (b)->number)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

static PlacedEntry *
create_placed(const RtscanTally *tally)
{
	return palloc(Max(tally->n, 1) * sizeof(PlacedEntry));
}

/* Those that have a code, in the order of these; returns how many. */
static uint32
place_by_code(const RtscanTally *tally, const RtscanTallyDigit *digit, PlacedEntry *placed)
{
	uint32		n = 0;

	for (uint32 entry = 0; entry < tally->n; entry++)
	{
		uint32		number = rtscan_tally_number(tally, digit, entry);

		if (number < digit->null)
			placed[n++] = (PlacedEntry) {number, entry};
	}
	sort_entries(placed, n);
	return n;
}

static void
read_codes(RtscanValues *values, const RtscanTally *tally, const RtscanTallyDigit *digit, Datum *datums)
{
	PlacedEntry *placed = create_placed(tally);
	uint32		n = place_by_code(tally, digit, placed);
	uint32	   *codes = palloc(Max(n, 1) * sizeof(uint32));
	Datum	   *found = palloc(Max(n, 1) * sizeof(Datum));

	for (uint32 i = 0; i < n; i++)
		codes[i] = placed[i].number;
	rtscan_get_values_of_codes(values, codes, n, found);
	for (uint32 i = 0; i < n; i++)
		datums[placed[i].entry] = found[i];
	pfree(found);
	pfree(codes);
	pfree(placed);
}

/* NULL has the least one's, which nobody asks for. */
static void
read_integers(RtscanValues *values, const RtscanTally *tally, const RtscanTallyDigit *digit, Datum *datums)
{
	int64	   *integers = palloc(Max(tally->n, 1) * sizeof(int64));

	for (uint32 entry = 0; entry < tally->n; entry++)
	{
		uint32		number = rtscan_tally_number(tally, digit, entry);

		integers[entry] = digit->of.least + (number < digit->null ? number : 0);
	}
	rtscan_get_values_of_integers(values, integers, digit->of.scale, tally->n, datums);
	pfree(integers);
}

/* Those that a dimension has. */
static void
read_mapped(const RtscanRowsAnswer *answer, const RtscanTally *tally, const RtscanTallyDigit *digit, int column, Datum *datums)
{
	for (uint32 entry = 0; entry < tally->n; entry++)
	{
		uint32		number = rtscan_tally_number(tally, digit, entry);

		if (number < digit->null)
			datums[entry] = rtscan_attribute_of_number(answer->batch->attributes, column, number);
	}
}

/* The values that a digit of a column stands for, by entry; of NULL any. */
static Datum *
read_digit(RtscanRowsAnswer *answer, const RtscanTally *tally, const RtscanTallyDigit *digit, int column)
{
	RtscanValues *values;
	Datum	   *datums = palloc(Max(tally->n, 1) * sizeof(Datum));

	if (digit->map)
	{
		read_mapped(answer, tally, digit, column, datums);
		return datums;
	}
	values = rtscan_cursor_column(answer->cursor, column);
	(digit->coded ? read_codes : read_integers) (values, tally, digit, datums);
	return datums;
}

/* ---------------------------------------------------------------- groups of entries */

/* The digits of GROUP BY come first, so cells of one group are as far apart as there are groups. */
static uint64
count_groups(const RtscanTally *tally, int ndigits)
{
	return ndigits < tally->ndigits ? tally->digits[ndigits].stride : tally->cells;
}

/* Entries of one group are next to each other. */
static PlacedEntry *
place_by_group(const RtscanTally *tally, int ndigits)
{
	uint64		groups = count_groups(tally, ndigits);
	PlacedEntry *placed = create_placed(tally);

	for (uint32 entry = 0; entry < tally->n; entry++)
		placed[entry] = (PlacedEntry) {rtscan_tally_cell(tally, entry) % groups, entry};
	if (groups < tally->cells)
		sort_entries(placed, tally->n);
	return placed;
}

/* The digits of GROUP BY: their columns, in the batch, and values by entry. */
typedef struct GroupDigits
{
	int			n;
	int			columns[DEVICE_MAX_DIGITS];
	Datum	   *values[DEVICE_MAX_DIGITS];
} GroupDigits;

/* Let expressions of GROUP BY be about a row of an entry. */
static void
enter_entry(RtscanBatch *batch, const RtscanTally *tally, const GroupDigits *digits, uint32 entry)
{
	ResetExprContext(batch->context);
	for (int i = 0; i < digits->n; i++)
	{
		const RtscanTallyDigit *digit = &tally->digits[i];
		bool		isnull = rtscan_tally_number(tally, digit, entry) == digit->null;

		batch->slot->tts_isnull[digits->columns[i]] = isnull;
		batch->slot->tts_values[digits->columns[i]] = isnull ? (Datum) 0 : digits->values[i][entry];
	}
}

static RtscanState *
find_group(RtscanRowsAnswer *answer, const RtscanTally *tally, const GroupDigits *digits, uint32 entry)
{
	if (answer->only)
		return answer->only;
	enter_entry(answer->batch, tally, digits, entry);
	return rtscan_find_group_entered(answer);
}

/* What an aggregate comes to in some entries. */
typedef struct AggregateTotal
{
	RtscanTotal total;
	int			scale;			/* of numerics, if there are any */
} AggregateTotal;

static AggregateTotal
total_in_entry(const RtscanRowsAnswer *answer, const RtscanTally *tally, uint32 entry, int aggregate, int *number)
{
	AggregateTotal one = {.total.count = rtscan_tally_rows(tally, entry)};

	if (answer->task->aggregates[aggregate].narguments == 0)
		return one;
	if (answer->task->aggregates[aggregate].columns[0] < 0)
		one.total = rtscan_tally_sum(tally, number, answer->arithmetic[aggregate][0], entry, &one.scale);
	else
	{
		one.scale = tally->values[*number].of.scale;
		one.total = rtscan_tally_total(tally, (*number)++, entry);
	}
	return one;
}

/* All rows of both together are as many as can be added up so. */
static void
combine(AggregateTotal *all, const AggregateTotal *one, RtscanTotalKind kind)
{
	if (one->total.count == 0)
		return;
	if (all->total.count == 0)
	{
		*all = *one;
		return;
	}
	all->total.count += one->total.count;
	all->total.upper += one->total.upper;
	all->total.lower += one->total.lower;
	if (kind == RTSCAN_TOTAL_LEAST)
		all->total.outermost = Min(all->total.outermost, one->total.outermost);
	if (kind == RTSCAN_TOTAL_GREATEST)
		all->total.outermost = Max(all->total.outermost, one->total.outermost);
}

static void
combine_entry(const RtscanRowsAnswer *answer, const RtscanTally *tally, uint32 entry, AggregateTotal *totals)
{
	int			number = 0;

	for (int i = 0; i < answer->task->naggregates; i++)
	{
		const RtscanTransition *transition = &answer->transitions[i];
		AggregateTotal one = total_in_entry(answer, tally, entry, i, &number);

		combine(&totals[i], &one, transition->family->total_kind(transition));
	}
}

/* The totals of the entries of a group, which begin at one of those placed; returns where the next group's begin. */
static uint32
combine_entries(const RtscanRowsAnswer *answer, const RtscanTally *tally, const PlacedEntry *placed, uint32 first, AggregateTotal *totals)
{
	uint32		i = first;

	memset(totals, 0, answer->task->naggregates * sizeof(AggregateTotal));
	do
	{
		CHECK_FOR_INTERRUPTS();
		combine_entry(answer, tally, placed[i++].entry, totals);
	} while (i < tally->n && placed[i].number == placed[first].number);
	return i;
}

static void
add_totals(RtscanRowsAnswer *answer, const AggregateTotal *totals, RtscanState *group)
{
	for (int i = 0; i < answer->task->naggregates; i++)
	{
		const RtscanTransition *transition = &answer->transitions[i];

		transition->family->add_total(transition, &group[i], &totals[i].total, totals[i].scale, answer->state_context);
	}
}

static void
spill_if_full(RtscanRowsAnswer *answer)
{
	if (answer->groups == NULL || !rtscan_groups_are_full(answer->groups))
		return;
	rtscan_fold_row_groups(answer->row_groups);
	rtscan_spill_groups(answer->groups);
	rtscan_forget_row_groups(answer->row_groups);
}

/* Add all groups to those there are. */
static void
add_groups(RtscanRowsAnswer *answer, const RtscanTally *tally, const GroupDigits *digits)
{
	PlacedEntry *placed = place_by_group(tally, digits->n);
	AggregateTotal *totals = palloc(Max(answer->task->naggregates, 1) * sizeof(AggregateTotal));
	/* What finding and adding leave behind. */
	MemoryContext old = MemoryContextSwitchTo(answer->batch->context->ecxt_per_tuple_memory);

	for (uint32 first = 0, next, groups = 0; first < tally->n; first = next, groups++)
	{
		if (groups % GROUPS_AT_A_TIME == 0)
		{
			ResetExprContext(answer->batch->context);
			spill_if_full(answer);
		}
		next = combine_entries(answer, tally, placed, first, totals);
		add_totals(answer, totals, find_group(answer, tally, digits, placed[first].entry));
	}
	MemoryContextSwitchTo(old);
}

/* RtscanTallier.take */
static void
take_tally(const RtscanTally *tally, void *arg)
{
	RtscanRowsAnswer *answer = (RtscanRowsAnswer *) arg;
	MemoryContext context = AllocSetContextCreate(answer->context, "rtscan tally", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	GroupDigits digits = {.n = 0};
	int			column = -1;

	while (answer->groups && (column = bms_next_member(answer->set->columns, column)) >= 0)
	{
		digits.columns[digits.n] = column;
		digits.values[digits.n] = read_digit(answer, tally, &tally->digits[digits.n], column);
		digits.n++;
	}
	add_groups(answer, tally, &digits);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* Can an aggregate be computed of totals, as far as is known without a segment? */
static bool
takes_total(const RtscanRowsAnswer *answer, int number)
{
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];
	const RtscanTransition *transition = &answer->transitions[number];
	const RtscanFamily *family = transition->family;

	return rtscan_takes_total(answer, number) ||
		(aggregate->filter.state == NULL && aggregate->narguments == 1 && family->add_total &&
		 family->total_kind(transition) == RTSCAN_TOTAL_SUM && answer->arithmetic[number][0] &&
		 rtscan_is_tally_sum(answer->arithmetic[number][0]));
}

static bool
takes_totals(const RtscanRowsAnswer *answer)
{
	bool		takes = answer->task->quals.state == NULL && !rtscan_attributes_repeat(answer->batch->attributes);

	for (int i = 0; i < answer->task->naggregates && takes; i++)
		takes = takes_total(answer, i);
	return takes;
}

/* What adding up rows takes, at least.  Without groups the CPU reads few values of counts and extremes: chunks have them. */
static RtscanAdding
price_adding(const RtscanRowsAnswer *answer)
{
	RtscanAdding adding = {.row = answer->groups ? GROUPED_ROW : 0, .columns = answer->groups ? bms_num_members(answer->set->columns) : 0};

	for (int i = 0; i < answer->task->naggregates; i++)
	{
		if (answer->transitions[i].family->total_kind(&answer->transitions[i]) == RTSCAN_TOTAL_SUM)
			adding.row += SUMMED_ROW;
		adding.columns += answer->task->aggregates[i].narguments;
	}
	return adding;
}

void
rtscan_ask_for_tallies(RtscanRowsAnswer *answer)
{
	RtscanTallier tallier = {.make = make_tally, .take = take_tally, .arg = answer};
	RtscanAdding adding;

	if (!takes_totals(answer) || answer->question->claim)
	{
		note_why(answer, RTSCAN_NOT_TALLIED_ROWS);
		return;
	}
	adding = price_adding(answer);
	if (!rtscan_cursor_choose_for_tallies(answer->cursor, &adding))
		note_why(answer, RTSCAN_NOT_TALLIED_SHARED);
	else
		rtscan_cursor_offer_tallies(answer->cursor, &tallier);
}

void
rtscan_note_tallies(RtscanRowsAnswer *answer)
{
	if (rtscan_cursor_has_too_many_cells(answer->cursor))
		note_why(answer, RTSCAN_NOT_TALLIED_CELLS);
}
