/* SPDX-License-Identifier: PostgreSQL */
/*
 * dictionary.c
 *		Look values up in dictionaries.
 */
#include "segment/dictionary_parts.h"

#include "miscadmin.h"
#include "segment/plain.h"

#define BLOCK	RTSCAN_DICTIONARY_BLOCK

/* ---------------------------------------------------------------- the tree */

/* Return the number of a level's first page in the area. */
static uint32
level_start(const RtscanColumnHeader *header, uint32 level)
{
	uint32		start = 0;

	for (uint32 i = 0; i < level; i++)
		start += header->level_pages[i];
	return start;
}

/*
 * Set *page to the page one level below "level" that the entry before "place" refers to (the first entry if "place" is
 * 0).  Returns false if the level below does not have this page.
 */
static bool
child_page(const RtscanColumnHeader *header, const RtscanDictionaryView *view, uint32 place,
		   uint32 level, uint32 *page)
{
	*page = view->page.first_code + (place > 0 ? place - 1 : 0);
	return *page < header->level_pages[level - 1];
}

/* The target of a search in the top level: the place of a probe or, if "probe" is NULL, a code. */
typedef struct Target
{
	const RtscanColumn *type;	/* the column */
	const RtscanProbe *probe;	/* the probe, or NULL */
	bool		after;			/* the target is the place behind values that equal the probe */
	uint32		code;			/* the code, if there is no probe */
} Target;

/*
 * Set *before to whether a page of the top level begins before the target.  If the target is a code, a page that
 * begins at this code counts, too.  "leaf" tells that the top level consists of leaves.  Returns false if the page is
 * damaged.
 */
static bool
begins_before(const RtscanDictionaryView *view, const Target *target, bool leaf, bool *before)
{
	if (target->probe)
		return rtscan_dictionary_first_is_before(view, target->probe, target->after, before);
	*before = (leaf ? view->page.first_code : view->page.first_rank) <= target->code;
	return true;
}

/* Find the page of the top level to descend from: the last page that begins before the target. */
static bool
find_top_page(RtscanReader *reader, int column, const Target *target, uint32 *page)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;
	uint32		high = header->levels > 0 ? header->level_pages[header->levels - 1] : 0;

	*page = 0;
	while (high > *page + 1)
	{
		uint32		middle = (*page + high) / 2;
		RtscanDictionaryView view;
		bool		before;

		if (!rtscan_dictionary_open_page(&view, reader, column, target->type,
										 level_start(header, header->levels - 1) + middle))
			return false;
		if (!begins_before(&view, target, header->levels == 1, &before))
		{
			rtscan_dictionary_fault(&view, "An entry of a dictionary page lies outside of it.");
			return false;
		}
		rtscan_dictionary_close_page(&view);
		if (before)
			*page = middle;
		else
			high = middle;
	}
	return true;
}

bool
rtscan_dictionary_descend(RtscanReader *reader, int column, const RtscanProbe *probe, bool after, uint32 *page)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;

	if (!find_top_page(reader, column, &(Target) {.type = probe->column, .probe = probe, .after = after}, page))
		return false;
	for (int level = (int) header->levels - 1; level > 0; level--)
	{
		RtscanDictionaryView view;
		uint32		place,
					rank;

		if (!rtscan_dictionary_open_page(&view, reader, column, probe->column, level_start(header, level) + *page))
			return false;
		if (!rtscan_dictionary_search_page(&view, probe, after, &place, &rank, NULL) ||
			!child_page(header, &view, place, level, page))
		{
			rtscan_dictionary_fault(&view, "The entries of a dictionary page contradict each other.");
			return false;
		}
		rtscan_dictionary_close_page(&view);
	}
	return true;
}

/* Find the place of a probe among the entries of the dictionary. */
static bool
find_entry(RtscanReader *reader, int column, const RtscanProbe *probe, bool after, RtscanPosition *position,
		   RtscanBetween *between)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;
	RtscanDictionaryView view;
	uint32		page,
				place = 0;
	bool		found;

	if (!rtscan_dictionary_descend(reader, column, probe, after, &page) ||
		!rtscan_dictionary_open_page(&view, reader, column, probe->column, page))
		return false;
	found = rtscan_dictionary_search_page(&view, probe, after, &place, &position->rank, between);
	position->code = view.page.first_code + place;
	if (!found || position->rank > header->nonnull || (uint64) view.page.first_code + place > header->distinct)
	{
		rtscan_dictionary_fault(&view, "The entries of a dictionary page contradict each other.");
		return false;
	}
	rtscan_dictionary_close_page(&view);
	if (rtscan_is_plain(header))
		rtscan_plain_note(reader, column, after, between, position->rank);
	return true;
}

bool
rtscan_dictionary_find(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
					   RtscanPosition *position)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;
	bool		plain = rtscan_is_plain(header);
	RtscanBetween between;

	/* An interrupt must not wait for lookups in many segments. */
	CHECK_FOR_INTERRUPTS();
	*position = (RtscanPosition) {0, 0};
	if (header->levels == 0)
		return true;
	if (!(plain && rtscan_plain_recall(reader, column, probe, after, &between, position)) &&
		!find_entry(reader, column, probe, after, position, &between))
		return false;
	return !plain || rtscan_plain_find(reader, column, probe, after, &between, position);
}

/* Look a probe up in the dictionary of a plain column, and keep the entries beside its place (rtscan_plain_note()). */
static bool
note_entry(RtscanReader *reader, int column, const RtscanProbe *probe, bool after)
{
	RtscanPosition position;
	RtscanBetween between;

	return reader->segment->columns[column].header.levels > 0 &&
		find_entry(reader, column, probe, after, &position, &between);
}

void
rtscan_dictionary_approach(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
						   RtscanApproachStep step)
{
	RtscanPosition position;
	RtscanBetween between;
	bool		noted = rtscan_plain_recall(reader, column, probe, after, &between, &position);

	if (!noted && step == RTSCAN_APPROACH_PREFETCH_ROWS && note_entry(reader, column, probe, after))
		noted = rtscan_plain_recall(reader, column, probe, after, &between, &position);
	if (noted)
		rtscan_plain_approach(reader, column, probe, after, &between, &position, step);
}

bool
rtscan_dictionary_find_behind(RtscanReader *reader, int column, const RtscanProbe *probe, const RtscanPosition *place,
							  RtscanPosition *behind)
{
	if (!rtscan_is_plain(&reader->segment->columns[column].header))
		return rtscan_dictionary_find(reader, column, probe, true, behind);
	return rtscan_plain_find_behind(reader, column, probe, place, behind);
}

/* ---------------------------------------------------------------- codes */

/*
 * A visit of the entries with codes from "code" up to "last", exclusively.  Exactly one of the three visitors is set.
 */
typedef struct Visit
{
	uint32		code;			/* code to visit next */
	uint32		last;			/* code to stop before */
	uint32		end_rank;		/* end of the ranks of the value visited or skipped last; 0 before the first value */
	uint32		nonnull;		/* number of rows that are not NULL */
	RtscanDictionaryVisitor visitor;	/* called for each value; or NULL */
	RtscanDictionaryEntriesVisitor visit_many;	/* called for consecutive entries; or NULL */
	RtscanValuesVisitor visit_values;	/* called for values without ranks; or NULL */
	void	   *arg;			/* argument of the visitor */
	const uint32 *wanted;		/* next rank to visit, set by the visitor: blocks that end before it are skipped;
								 * NULL: no block is skipped */
} Visit;

/*
 * Set *place to the number of entries of a packed page whose rank is at most "target".  Only one block is unpacked:
 * the last block whose first rank is at most "target".  Returns false if this block is damaged.
 */
static bool
count_packed_ranks(const RtscanDictionaryView *view, uint32 target, uint32 *place)
{
	uint64		keys[BLOCK];
	uint32		ranks[BLOCK];
	uint32		low = 0,
				high = view->page.blocks,
				n;

	while (low < high)
	{
		uint32		middle = (low + high) / 2;

		if (view->blocks[middle].rank <= target)
			low = middle + 1;
		else
			high = middle;
	}
	*place = 0;
	if (low == 0)
		return true;
	n = rtscan_dictionary_unpack(view, low - 1, BLOCK, PG_UINT64_MAX, keys, ranks);
	*place = (low - 1) * BLOCK;
	for (uint32 k = 0; k < n && ranks[k] <= target; k++)
		(*place)++;
	return n > 0;
}

/* Set *place to the number of entries of a page whose rank (in an inner page: first code) is at most "target". */
static bool
count_ranks(const RtscanDictionaryView *view, uint32 target, uint32 *place)
{
	uint32		high = view->page.entries;

	if (view->page.blocks > 0)
		return count_packed_ranks(view, target, place);
	*place = 0;
	while (*place < high)
	{
		uint32		middle = (*place + high) / 2;

		if (rtscan_dictionary_rank(view, middle) <= target)
			*place = middle + 1;
		else
			high = middle;
	}
	return true;
}

/* Find the leaf that has a code. */
static bool
find_leaf(RtscanReader *reader, int column, const RtscanColumn *type, uint32 code, uint32 *page)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;

	if (!find_top_page(reader, column, &(Target) {.type = type, .code = code}, page))
		return false;
	for (int level = (int) header->levels - 1; level > 0; level--)
	{
		RtscanDictionaryView view;
		uint32		place;

		if (!rtscan_dictionary_open_page(&view, reader, column, type, level_start(header, level) + *page))
			return false;
		if (!count_ranks(&view, code, &place) || !child_page(header, &view, place, level, page))
		{
			rtscan_dictionary_fault(&view, "The codes of a dictionary page contradict each other.");
			return false;
		}
		rtscan_dictionary_close_page(&view);
	}
	return true;
}

/*
 * Visit one entry.  Returns false if it has no ranks, if its ranks overlap those of the entry before, or if they
 * exceed the number of rows that are not NULL.  Visitors rely on this check when they fill arrays by code and by rank.
 */
static bool
visit_entry(Visit *visit, uint64 value, uint32 first_rank, uint32 end_rank)
{
	const uint32 ranks[] = {first_rank, end_rank};

	if (first_rank < visit->end_rank || end_rank <= first_rank || end_rank > visit->nonnull)
		return false;
	if (visit->visit_values)
		visit->visit_values(visit->code, 1, &value, visit->arg);
	else if (visit->visit_many)
		visit->visit_many(&(RtscanDictionaryEntries) {visit->code, 1, &value, ranks}, visit->arg);
	else
		visit->visitor(visit->code, value, first_rank, end_rank, visit->arg);
	visit->code++;
	visit->end_rank = end_rank;
	return true;
}

static bool
ranks_ascend(const uint32 *ranks, uint32 n)
{
	bool		ascend = true;

	for (uint32 k = 0; k < n; k++)
		ascend &= ranks[k] < ranks[k + 1];
	return ascend;
}

/* Visit entries of a packed page: all by one call of visit_many, or one by one. */
static bool
visit_entries(Visit *visit, const RtscanDictionaryEntries *entries)
{
	const uint32 *ranks = entries->ranks;

	if (visit->visit_many == NULL)
	{
		for (uint32 k = 0; k < entries->n; k++)
			if (!visit_entry(visit, entries->keys[k], ranks[k], ranks[k + 1]))
				return false;
		return true;
	}
	if (ranks[0] < visit->end_rank || !ranks_ascend(ranks, entries->n) || ranks[entries->n] > visit->nonnull)
		return false;
	visit->visit_many(entries, visit->arg);
	visit->code += entries->n;
	visit->end_rank = ranks[entries->n];
	return true;
}

/* Skip a block that ends before the next rank to visit, *visit->wanted.  Returns false if the block must be visited. */
static bool
pass_block(const RtscanDictionaryView *view, uint32 block, uint32 end_rank, Visit *visit)
{
	uint32		end = view->page.first_code + Min((block + 1) * BLOCK, view->page.entries);

	if (visit->wanted == NULL || end_rank > *visit->wanted || end_rank <= visit->end_rank)
		return false;
	visit->code = end;
	visit->end_rank = end_rank;
	return true;
}

/* Visit the keys of a block, except for the first "skipped" keys, whose codes are less than visit->code. */
static bool
visit_keys_of_block(const RtscanDictionaryView *view, Visit *visit, uint32 block, uint32 skipped)
{
	uint64		keys[BLOCK];
	uint32		wanted = Min(visit->last - visit->code, BLOCK);
	uint32		n = rtscan_dictionary_unpack(view, block, skipped + wanted, PG_UINT64_MAX, keys, NULL);

	if (n <= skipped)
		return false;
	n = Min(n - skipped, wanted);
	visit->visit_values(visit->code, n, keys + skipped, visit->arg);
	visit->code += n;
	return true;
}

/* Visit the entries of a block, except for the first "skipped" entries, whose codes are less than visit->code. */
static bool
visit_block(const RtscanDictionaryView *view, Visit *visit, uint32 block, uint32 skipped, uint32 end_rank)
{
	uint64		keys[BLOCK];
	uint32		ranks[BLOCK + 1];
	uint32		n = rtscan_dictionary_unpack(view, block, BLOCK, PG_UINT64_MAX, keys, ranks);

	if (n <= skipped)
		return false;
	ranks[n] = end_rank;
	return visit_entries(visit,
						 &(RtscanDictionaryEntries) {visit->code, Min(n - skipped, visit->last - visit->code),
							 keys + skipped, ranks + skipped});
}

static bool
visit_packed(const RtscanDictionaryView *view, Visit *visit)
{
	for (uint32 b = (visit->code - view->page.first_code) / BLOCK;
		 b < view->page.blocks && visit->code < visit->last; b++)
	{
		uint32		skipped = visit->code - view->page.first_code - b * BLOCK;
		uint32		end_rank = b + 1 < view->page.blocks ? view->blocks[b + 1].rank : view->page.end_rank;

		if (pass_block(view, b, end_rank, visit))
			continue;
		if (!(visit->visit_values ? visit_keys_of_block(view, visit, b, skipped)
			  : visit_block(view, visit, b, skipped, end_rank)))
			return false;
	}
	return true;
}

static bool
visit_whole(const RtscanDictionaryView *view, Visit *visit)
{
	for (uint32 i = visit->code - view->page.first_code;
		 i < view->page.entries && visit->code < visit->last; i++)
	{
		Datum		value;

		if (!rtscan_dictionary_value(view, i, &value) ||
			!visit_entry(visit, (uint64) value, rtscan_dictionary_rank(view, i), rtscan_dictionary_rank(view, i + 1)))
			return false;
	}
	return true;
}

static bool
visit_all(RtscanReader *reader, int column, const RtscanColumn *type, Visit *visit)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;
	bool		packed = type->key_kind != RTSCAN_KEY_NONE;
	uint32		page;

	visit->nonnull = header->nonnull;
	if (visit->code >= visit->last)
		return true;
	if (!find_leaf(reader, column, type, visit->code, &page))
		return false;
	for (; visit->code < visit->last; page++)
	{
		RtscanDictionaryView view;

		CHECK_FOR_INTERRUPTS();
		if (page >= header->level_pages[0])
		{
			rtscan_fault(reader, &header->dictionary, header->level_pages[0] - 1,
						 "The dictionary has fewer values than it should.");
			return false;
		}
		if (!rtscan_dictionary_open_page(&view, reader, column, type, page))
			return false;
		if (visit->code < view.page.first_code ||
			visit->code - view.page.first_code >= view.page.entries ||
			!(packed ? visit_packed : visit_whole) (&view, visit))
		{
			rtscan_dictionary_fault(&view, "The entries of a dictionary page contradict each other.");
			return false;
		}
		rtscan_dictionary_close_page(&view);
	}
	return true;
}

bool
rtscan_dictionary_visit(RtscanReader *reader, int column, const RtscanColumn *type,
						uint32 first, uint32 last, RtscanDictionaryVisitor visitor, void *arg)
{
	return visit_all(reader, column, type, &(Visit) {.code = first, .last = last, .visitor = visitor, .arg = arg});
}

bool
rtscan_dictionary_visit_many(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first, uint32 last,
							 RtscanDictionaryEntriesVisitor visitor, void *arg)
{
	return visit_all(reader, column, type, &(Visit) {.code = first, .last = last, .visit_many = visitor, .arg = arg});
}

bool
rtscan_dictionary_visit_values(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first, uint32 last,
							   RtscanValuesVisitor visitor, void *arg)
{
	return visit_all(reader, column, type, &(Visit) {.code = first, .last = last, .visit_values = visitor, .arg = arg});
}

bool
rtscan_dictionary_visit_ranks(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first, uint32 last,
							  const uint32 *wanted, RtscanDictionaryEntriesVisitor visitor, void *arg)
{
	return visit_all(reader, column, type,
					 &(Visit) {.code = first, .last = last, .visit_many = visitor, .arg = arg, .wanted = wanted});
}

/*
 * Find the leaf that has a rank: the last leaf whose first rank is at most "rank".  Returns false only for a soft
 * reader.
 */
static bool
find_leaf_of_rank(RtscanReader *reader, int column, const RtscanColumn *type, uint32 rank, uint32 *page)
{
	uint32		high = reader->segment->columns[column].header.level_pages[0];

	*page = 0;
	while (high > *page + 1)
	{
		uint32		middle = *page + (high - *page) / 2;
		RtscanDictionaryView view;

		if (!rtscan_dictionary_open_page(&view, reader, column, type, middle))
			return false;
		if (view.page.first_rank <= rank)
			*page = middle;
		else
			high = middle;
		rtscan_dictionary_close_page(&view);
	}
	return true;
}

uint32
rtscan_code_at_rank(RtscanReader *reader, int column, const RtscanColumn *type, uint32 rank)
{
	RtscanDictionaryView view;
	uint32		page,
				place,
				code;

	/* A soft reader gets the code 0 if a page cannot be read or is damaged. */
	if (!find_leaf_of_rank(reader, column, type, rank, &page) ||
		!rtscan_dictionary_open_page(&view, reader, column, type, page))
		return 0;
	if (!count_ranks(&view, rank, &place) || place == 0 ||
		(uint64) view.page.first_code + place > reader->segment->columns[column].header.distinct)
	{
		rtscan_dictionary_fault(&view, "The ranks of a dictionary page contradict each other.");
		return 0;
	}
	code = view.page.first_code + place - 1;
	rtscan_dictionary_close_page(&view);
	return code;
}
