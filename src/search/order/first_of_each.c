/* SPDX-License-Identifier: PostgreSQL */
/*
 * first_of_each.c
 *		Find the first rows of each group, in an order that begins with the columns of the group.
 *
 * A pass reads all matching rows, and keeps the first rows of each group (first_of_each_groups.c).  If all groups fit
 * into memory, there is only one pass.  Otherwise each pass finds the first groups that no pass before has found.  The
 * planner expects few passes; if there are more, each may take more memory.
 *
 * For each row, its group is found by a small integer (first_of_each_cells.c), and its place in the first column behind
 * the group's is compared with that of the last row that the group keeps.  Other columns are read only for candidates:
 * rows whose group is not known, or that may be among the first of their group.
 *
 * Sources and chunks are read in an order that finds the first rows early.  When all groups of a segment have as many
 * rows as they keep, chunks whose rows all sort behind them are skipped.
 *
 * Rows with equal values are ordered by source and row number, so that the order is total.
 */
#include "search/order/first_of_each_parts.h"

#include "bits/bits.h"
#include "bits/prefetch.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* From this many passes on, each may take twice the memory of the pass before. */
#define EXPECTED_PASSES		4

/* Number of rows that are read at a time if some of their values are passed by reference, and so may be long. */
#define BLOCK_OF_REFERENCES	128

/* The keys of a block's candidates. */
typedef struct CandidateKeys
{
	RtscanFirstKey *keys[INDEX_MAX_KEYS];	/* by column behind the group's: keys of all candidates */
	RtscanFirstKey *of_group[INDEX_MAX_KEYS];	/* by column of the group: keys of candidates of unknown groups */
	uint32	   *number;			/* by candidate of an unknown group: place in "of_group" */
} CandidateKeys;

/* ---------------------------------------------------------------- keys */

/* Read the keys of n rows of the current segment in a column. */
static RtscanFirstKey *
read_keys(RtscanFirstOfEach *each, const RtscanFirstColumn *column, const uint32 *rows, uint32 n)
{
	Datum	   *datums = palloc(n * sizeof(Datum));
	bool	   *isnull = palloc(n * sizeof(bool));
	RtscanFirstKey *keys = palloc(n * sizeof(RtscanFirstKey));

	rtscan_get_values(rtscan_source_values(each->source, column->order->column), rows, n, datums, isnull);
	rtscan_make_first_keys(column, datums, isnull, n, keys);
	return keys;
}

/* Return the keys of the candidates in the first column behind the group's, whose places are known. */
static RtscanFirstKey *
keys_of_places(const RtscanFirstOfEach *each, const RtscanTyped *typed, uint32 from)
{
	const RtscanEachBlock *block = &each->block;
	RtscanFirstKey *keys = palloc(block->m * sizeof(RtscanFirstKey));

	for (uint32 i = 0; i < block->m; i++)
		keys[i] = (RtscanFirstKey) {
			.place = block->places[block->candidates[i]],
			.isnull = typed->nulls && rtscan_bit_is_set(typed->nulls, from + block->candidates[i]),
		};
	return keys;
}

/* Read the keys of the candidates whose group is not known in the group's columns. */
static void
read_group_keys(RtscanFirstOfEach *each, CandidateKeys *candidates)
{
	const RtscanEachBlock *block = &each->block;
	uint32	   *rows = palloc(block->m * sizeof(uint32));
	uint32		n = 0;

	candidates->number = palloc(block->m * sizeof(uint32));
	for (uint32 i = 0; i < block->m; i++)
	{
		candidates->number[i] = n;
		rows[n] = block->rows[i];
		n += block->groups[block->candidates[i]] == RTSCAN_EACH_UNKNOWN;
	}
	for (int i = 0; i < each->nkeys && n > 0; i++)
		candidates->of_group[i] = read_keys(each, &each->columns[i], rows, n);
}

/* Does the search compare places of the first column behind the group's? */
static bool
compares_places(const RtscanFirstOfEach *each)
{
	return each->nmore > 0 && each->columns[each->nkeys].placed;
}

/*
 * Read the keys of a block's candidates.  "typed" has the values of the first column behind the group's, if places are
 * compared, of which the block has those from element "from" on.
 */
static CandidateKeys
read_candidate_keys(RtscanFirstOfEach *each, const RtscanTyped *typed, uint32 from)
{
	CandidateKeys candidates = {.number = NULL};

	for (int i = 0; i < each->nmore; i++)
		candidates.keys[i] = i == 0 && compares_places(each) ? keys_of_places(each, typed, from) :
			read_keys(each, &each->columns[each->nkeys + i], each->block.rows, each->block.m);
	read_group_keys(each, &candidates);
	return candidates;
}

/* ---------------------------------------------------------------- candidates */

/* May a row with this place, in a group with this number, be among the first of its group? */
static inline bool
may_be_first(const RtscanFirstOfEach *each, uint32 number, int64 place)
{
	if (number >= RTSCAN_EACH_REFUSED)
		return number == RTSCAN_EACH_UNKNOWN;
	return place <= each->kept.bounds[number];
}

/*
 * Choose the candidates among n elements of a selection, from element "from" on.  If all groups are known, the loops
 * advance m without a branch, which would often be mispredicted.
 */
static void
choose_candidates(RtscanFirstOfEach *each, const RtscanSelection *selection, uint32 from, uint32 n)
{
	RtscanEachBlock *block = &each->block;
	const int64 *bounds = each->kept.bounds;
	uint32		m = 0;

	if (each->dense && selection->rows)
		for (uint32 i = 0; i < n; i++)
		{
			block->candidates[m] = i;
			m += block->places[i] <= bounds[block->groups[i]];
		}
	else if (each->dense)
		for (uint32 i = 0; i < n; i++)
		{
			block->candidates[m] = i;
			m += block->places[i] <= bounds[block->groups[i]] && rtscan_bit_is_set(selection->bits, from + i);
		}
	else
		for (uint32 i = 0; i < n; i++)
			if ((selection->rows || rtscan_bit_is_set(selection->bits, from + i)) &&
				may_be_first(each, block->groups[i], block->places[i]))
				block->candidates[m++] = i;
	for (uint32 i = 0; i < m; i++)
		block->rows[i] = selection->rows ? selection->rows[from + block->candidates[i]] :
			selection->chunk * RTSCAN_CHUNK_ROWS + from + block->candidates[i];
	block->m = m;
}

/* Fetch the groups of the candidates, which are far apart, into the processor's cache. */
static void
prefetch_groups(const RtscanFirstOfEach *each)
{
	const RtscanEachBlock *block = &each->block;

	for (uint32 i = 0; i < block->m; i++)
	{
		uint32		number = block->groups[block->candidates[i]];

		if (number < RTSCAN_EACH_REFUSED)
			RTSCAN_PREFETCH_FAR(rtscan_each_group(each, number));
	}
}

/*
 * Find the group of a candidate, given its number.  *dropped is set if groups were dropped (rtscan_find_each_group()).
 */
static uint32
group_of_candidate(RtscanFirstOfEach *each, const CandidateKeys *candidates, uint32 i, bool *dropped)
{
	uint32		element = each->block.candidates[i];
	uint32		number = each->block.groups[element];
	uint32	   *of_cell = each->ncells > 0 ? &each->groups_of_cells[each->block.cells[element]] : NULL;

	if (number != RTSCAN_EACH_UNKNOWN)
		return number;
	if (of_cell && *of_cell != RTSCAN_EACH_UNKNOWN)
		return *of_cell;
	for (int j = 0; j < each->nkeys; j++)
		each->candidate->keys[j] = candidates->of_group[j][candidates->number[i]];
	number = rtscan_find_each_group(each, dropped);
	if (of_cell && !*dropped)
		*of_cell = number;
	return number;
}

/* Enter a candidate, given its number, in its group.  Returns false if groups were dropped. */
static bool
enter_candidate(RtscanFirstOfEach *each, const CandidateKeys *candidates, uint32 i)
{
	bool		dropped = false;
	uint32		number = group_of_candidate(each, candidates, i, &dropped);

	each->candidate_row->source = each->source->number;
	each->candidate_row->row = each->block.rows[i];
	for (int j = 0; j < each->nmore; j++)
		each->candidate_row->keys[j] = candidates->keys[j][i];
	if (number != RTSCAN_EACH_REFUSED)
		rtscan_enter_each_row(each, number, &dropped);
	return !dropped;
}

/*
 * Enter the rows of a block in their groups, "backwards" or not.  Returns false if groups were dropped: then the
 * numbers of groups are not those that the block has, and its rows have to be entered again.
 */
static bool
enter_block(RtscanFirstOfEach *each, const RtscanSelection *selection, const RtscanTyped *typed, uint32 from, uint32 n,
			bool backwards)
{
	RtscanEachBlock *block = &each->block;
	CandidateKeys candidates;
	bool		entered = true;

	rtscan_find_each_cells(each, from, n);
	if (compares_places(each))
		rtscan_find_places(&each->columns[each->nkeys], typed, from, n, block->places);
	else
		memset(block->places, 0, n * sizeof(int64));
	choose_candidates(each, selection, from, n);
	if (block->m == 0)
		return true;
	prefetch_groups(each);
	candidates = read_candidate_keys(each, typed, from);
	for (uint32 i = 0; i < block->m && entered; i++)
		entered = enter_candidate(each, &candidates, backwards ? block->m - 1 - i : i);
	return entered;
}

/* ---------------------------------------------------------------- segments */

/* Do the bounds of a chunk show that none of its rows is among the first of its group? */
static bool
chunk_is_beyond(RtscanFirstOfEach *each, uint32 chunk)
{
	const RtscanFirstColumn *column = &each->columns[each->nkeys];
	RtscanChunkBounds bounds;

	if (!each->is_bounded)
		return false;
	bounds = rtscan_chunk_bounds(rtscan_source_values(each->source, column->order->column), chunk);
	if (bounds.kind == RTSCAN_EXACT_NONE || rtscan_exact_is_float(bounds.kind) || bounds.nulls > 0)
		return false;
	return (column->order->descending ? ~bounds.greatest : bounds.least) > each->bound;
}

/* Select the matching rows of a chunk that the snapshot sees. */
static RtscanSelection
select_rows(RtscanFirstOfEach *each, uint32 chunk)
{
	RtscanOrdered *ordered = each->ordered;
	uint64	   *bits = rtscan_bits_chunk(each->source->bits, chunk);

	if (!each->source->sees_all)
		rtscan_clear_invisible_in_chunk(&ordered->visibility, each->source->segment, chunk, bits);
	return rtscan_select_rows(&each->source->segment->reader, chunk, bits, RTSCAN_SELECT_CHEAPEST, each->block.list);
}

/* Enter the rows of a chunk, "backwards" or not. */
static void
pass_chunk(RtscanFirstOfEach *each, uint32 chunk, bool backwards)
{
	MemoryContext old = MemoryContextSwitchTo(each->short_context);
	RtscanSelection selection = select_rows(each, chunk);
	uint32		blocks = (selection.n + each->block_rows - 1) / each->block_rows;
	RtscanTyped typed = {0};

	if (selection.wanted > 0)
	{
		rtscan_read_each_digits(each, &selection);
		if (compares_places(each))
			rtscan_get_typed(rtscan_source_values(each->source, each->columns[each->nkeys].order->column), &selection,
							 false, &typed);
		for (uint32 i = 0; i < blocks; i++)
		{
			uint32		from = (backwards ? blocks - 1 - i : i) * each->block_rows;
			uint32		n = Min(selection.n - from, each->block_rows);

			while (!enter_block(each, &selection, &typed, from, n, backwards))
				rtscan_forget_each_cells(each);
			MemoryContextReset(each->short_context);
		}
	}
	MemoryContextSwitchTo(old);
}

/*
 * Does the last row of the segment sort before the first one, by the first column behind the group's?  Then others are
 * likely to do so, too, as those of a table that grows with time.
 */
static bool
runs_backwards(RtscanFirstOfEach *each)
{
	const RtscanFirstColumn *column = &each->columns[each->nkeys];
	uint32		first = 0;
	uint32		last = each->source->segment->reader.segment->header.rows - 1;
	MemoryContext old;
	bool		backwards;

	if (each->nmore == 0)
		return false;
	old = MemoryContextSwitchTo(each->short_context);
	backwards = rtscan_compare_first_keys(column, read_keys(each, column, &last, 1),
										  read_keys(each, column, &first, 1)) < 0;
	MemoryContextSwitchTo(old);
	MemoryContextReset(each->short_context);
	return backwards;
}

/* Free the work space for the current segment's vectors. */
static void
end_vectors(RtscanFirstOfEach *each)
{
	for (int i = 0; i < each->nkeys + (each->nmore > 0); i++)
		rtscan_end_typed(rtscan_source_values(each->source, each->columns[i].order->column));
}

/* Find the bound of the current segment.  Is the first row that the segment can have beyond it? */
static bool
segment_is_beyond(RtscanFirstOfEach *each)
{
	if (compares_places(each))
		rtscan_find_each_bound(each);
	return each->is_bounded && each->source->first_place > each->bound;
}

/* Enter the rows of a segment's chunks.  The bound is found anew when 1, 2, 4, 8, ... chunks have been read. */
static void
pass_chunks(RtscanFirstOfEach *each, bool backwards)
{
	uint32		chunks = each->source->segment->reader.segment->chunks;

	for (uint32 i = 0, read = 0; i < chunks; i++)
	{
		uint32		chunk = backwards ? chunks - 1 - i : i;

		CHECK_FOR_INTERRUPTS();
		if (chunk_is_beyond(each, chunk))
			continue;
		pass_chunk(each, chunk, backwards);
		read++;
		if ((read & (read - 1)) == 0 && segment_is_beyond(each))
			break;
	}
}

/* Enter the rows of a segment, of which nothing is read if all of them are beyond the bound. */
static void
pass_segment(RtscanFirstOfEach *each)
{
	if (segment_is_beyond(each))
		return;
	pass_chunks(each, runs_backwards(each));
	end_vectors(each);
}

/* ---------------------------------------------------------------- pending rows */

/* Make the keys of a pending row in some columns. */
static void
make_pending_keys(const RtscanFirstColumn *columns, int n, const RtscanPendingRow *row, RtscanFirstKey *keys)
{
	for (int i = 0; i < n; i++)
	{
		int			column = columns[i].order->column;

		rtscan_make_first_keys(&columns[i], &row->values[column], &row->isnull[column], 1, &keys[i]);
	}
}

static void
pass_pending(RtscanFirstOfEach *each)
{
	const RtscanOrderedPending *pending = &each->ordered->pending;

	for (uint32 i = 0; i < pending->n; i++)
	{
		bool		dropped = false;
		uint32		number;

		CHECK_FOR_INTERRUPTS();
		make_pending_keys(each->columns, each->nkeys, &pending->rows[i], each->candidate->keys);
		make_pending_keys(each->columns + each->nkeys, each->nmore, &pending->rows[i], each->candidate_row->keys);
		each->candidate_row->source = each->source->number;
		each->candidate_row->row = i;
		number = each->dense ? rtscan_each_cell_of_keys(each, each->candidate->keys) :
			rtscan_find_each_group(each, &dropped);
		if (number != RTSCAN_EACH_REFUSED)
			rtscan_enter_each_row(each, number, &dropped);
	}
}

/* ---------------------------------------------------------------- passes */

static void
run_pass(RtscanFirstOfEach *each, uint32 cells)
{
	ListCell   *cell;

	rtscan_begin_each_groups(each, cells);
	foreach(cell, each->sources)
	{
		rtscan_begin_each_source(each, lfirst(cell));
		if (each->source->segment)
			pass_segment(each);
		else
			pass_pending(each);
	}
	rtscan_sort_each_groups(each);
	each->next_group = each->next_row = 0;
}

/* Run another pass if there may be further groups.  Returns false if there are none. */
static bool
pass_again(RtscanFirstOfEach *each)
{
	if (each->last == NULL)
		return false;
	each->after = each->last;
	if (++each->passes > EXPECTED_PASSES)
		each->limit *= 2;
	run_pass(each, 0);
	return each->kept.n > 0;
}

/* ---------------------------------------------------------------- begin, and rows */

/* list_sort_comparator: compare sources by the place of their first row, as far as bounds tell it. */
static int
compare_sources(const ListCell *a, const ListCell *b)
{
	int64		left = ((const RtscanOrderedSource *) lfirst(a))->first_place;
	int64		right = ((const RtscanOrderedSource *) lfirst(b))->first_place;

	return left < right ? -1 : left > right;
}

/*
 * Set the place of the first row that a source can have, in the first column behind the group's.  It is known of a
 * segment if the column has integers, and NULLs sort last, or there are none.
 */
static void
set_first_place(RtscanOrderedSource *source, const RtscanFirstColumn *column)
{
	const RtscanOrderColumn *order = column->order;
	int64		least,
				greatest;

	source->first_place = PG_INT64_MIN;
	if (source->segment == NULL || rtscan_exact_is_float(column->type->exact) ||
		(order->nulls_first && !rtscan_each_has_no_nulls(source, order->column)) ||
		!rtscan_find_each_range(source, order->column, &least, &greatest))
		return;
	source->first_place = order->descending ? ~greatest : least;
}

/* Return the sources; those come first whose rows sort first within their groups. */
static List *
sort_sources(const RtscanFirstOfEach *each)
{
	List	   *sources = list_copy(each->ordered->sources);
	ListCell   *cell;

	if (!compares_places(each))
		return sources;
	foreach(cell, sources)
		set_first_place(lfirst(cell), &each->columns[each->nkeys]);
	list_sort(sources, compare_sources);
	return sources;
}

/* Look up the hash functions of the group's columns. */
static FmgrInfo *
find_hashes(const RtscanFirstOfEach *each)
{
	FmgrInfo   *hashes = palloc0(each->nkeys * sizeof(FmgrInfo));

	for (int i = 0; i < each->nkeys; i++)
	{
		Oid			type = TupleDescAttr(each->ordered->schema->tupdesc, each->columns[i].order->column)->atttypid;

		fmgr_info_copy(&hashes[i], &lookup_type_cache(type, TYPECACHE_HASH_PROC_FINFO)->hash_proc_finfo,
					   CurrentMemoryContext);
	}
	return hashes;
}

struct RtscanFirstOfEach *
rtscan_begin_first_of_each(RtscanOrdered *ordered)
{
	RtscanFirstOfEach *each = palloc(sizeof(RtscanFirstOfEach));
	const RtscanOrder *order = ordered->order;

	memset(each, 0, offsetof(RtscanFirstOfEach, block));
	each->ordered = ordered;
	each->columns = rtscan_begin_first_columns(ordered);
	each->nkeys = order->group_columns;
	each->nmore = order->ncolumns - order->group_columns;
	each->of_each = order->of_each;
	each->hashes = find_hashes(each);
	each->sources = sort_sources(each);
	each->limit = get_hash_memory_limit();
	each->short_context = AllocSetContextCreate(CurrentMemoryContext, "rtscan candidates", ALLOCSET_DEFAULT_SIZES);
	each->candidate = palloc0(offsetof(RtscanEachGroup, keys) + each->nkeys * sizeof(RtscanFirstKey));
	each->candidate_row = palloc0(offsetof(RtscanEachRow, keys) + each->nmore * sizeof(RtscanFirstKey));
	each->passes = 1;
	if (rtscan_each_has_references(each))
	{
		each->block_rows = BLOCK_OF_REFERENCES;
		run_pass(each, 0);
	}
	else
	{
		each->block_rows = RTSCAN_FIRST_BLOCK;
		run_pass(each, rtscan_count_each_cells(each));
	}
	return each;
}

/* Return the group whose rows are next; NULL if no group is left in the pass. */
static const RtscanEachGroup *
next_group(RtscanFirstOfEach *each)
{
	while (each->next_group < each->kept.n)
	{
		const RtscanEachGroup *group = rtscan_each_group(each, each->dense ? each->next_group :
														 each->sorted[each->next_group]);

		if (each->next_row < group->n)
			return group;
		each->next_group++;
		each->next_row = 0;
	}
	return NULL;
}

uint32
rtscan_next_first_of_each(struct RtscanFirstOfEach *each, RtscanLotRow *rows, uint32 n)
{
	uint32		done = 0;

	while (done < n)
	{
		const RtscanEachGroup *group = next_group(each);
		const RtscanEachRow *row;

		if (group == NULL && pass_again(each))
			continue;
		if (group == NULL)
			break;
		row = rtscan_each_row(each, group, each->next_row++);
		rows[done++] = (RtscanLotRow) {
			.source = list_nth(each->ordered->sources, row->source),
			.row = row->row,
			.visible = true,
		};
	}
	return done;
}
