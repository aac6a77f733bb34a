/*
 * dictionary.c
 *		Look values up in dictionaries.
 */
#include "segment/dictionary_page.h"

#include "miscadmin.h"
#include "segment/plain.h"

#define BLOCK	RTSCAN_DICTIONARY_BLOCK

/* To look a value up takes as long as to visit so many, one after another. */
#define VALUES_A_LOOKUP	6

/* ---------------------------------------------------------------- the tree */

/* Number in the area of the first page of a level. */
static uint32
level_start(const RtscanColumnHeader *header, uint32 level)
{
	uint32		start = 0;

	for (uint32 i = 0; i < level; i++)
		start += header->level_pages[i];
	return start;
}

/*
 * Descend one level: the entry before place is about the page to look at.  False if the
 * level below has no such page.
 */
static bool
child_page(const RtscanColumnHeader *header, const RtscanDictionaryView *view, uint32 place,
		   uint32 level, uint32 *page)
{
	*page = view->page.first_code + (place > 0 ? place - 1 : 0);
	return *page < header->level_pages[level - 1];
}

/* What is looked for in the top level: the place of a probe, or if there is none, of a code. */
typedef struct Target
{
	const RtscanColumn *type;
	const RtscanProbe *probe;
	bool		after;			/* the probe's place is behind values that equal it */
	uint32		code;
} Target;

/* Does a page of the top level begin before the target, or at its code? */
static bool
begins_before(const RtscanDictionaryView *view, const Target *target, bool leaf, bool *before)
{
	if (target->probe)
		return rtscan_dictionary_first_is_before(view, target->probe, target->after, before);
	*before = (leaf ? view->page.first_code : view->page.first_rank) <= target->code;
	return true;
}

/* The page of the top level to look at: the last that begins before the target. */
static bool
find_top_page(RtscanReader *reader, int column, const Target *target, uint32 *page)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;
	uint32		high = header->levels > 0 ? header->level_pages[header->levels - 1] : 0;

	*page = 0;
	while (high > *page + 1)
	{
		uint32		middle = (*page + high) / 2;
		RtscanDictionaryView	view;
		bool		before;

		if (!rtscan_dictionary_open_page(&view, reader, column, target->type, level_start(header, header->levels - 1) + middle))
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

/* The number of the leaf that a probe's place is on. */
static bool
descend(RtscanReader *reader, int column, const RtscanProbe *probe, bool after, uint32 *page)
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

/* The place among the dictionary's entries. */
static bool
find_entry(RtscanReader *reader, int column, const RtscanProbe *probe, bool after, RtscanPosition *position, RtscanBetween *between)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;
	RtscanDictionaryView view;
	uint32		page,
				place = 0;
	bool		found;

	if (!descend(reader, column, probe, after, &page) ||
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
		rtscan_plain_note(reader, column, between, position->rank);
	return true;
}

bool
rtscan_dictionary_find(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
					   RtscanPosition *position)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;
	bool		plain = rtscan_is_plain(header);
	RtscanBetween between;

	/* There are many segments. */
	CHECK_FOR_INTERRUPTS();
	*position = (RtscanPosition) {0, 0};
	if (header->levels == 0)
		return true;
	if (!(plain && rtscan_plain_recall(reader, column, probe, after, &between, position)) &&
		!find_entry(reader, column, probe, after, position, &between))
		return false;
	return !plain || rtscan_plain_find(reader, column, probe, after, &between, position);
}

bool
rtscan_dictionary_approach(RtscanReader *reader, int column, const RtscanProbe *probe, bool after)
{
	RtscanPosition position;
	RtscanBetween between;

	return reader->segment->columns[column].header.levels > 0 && find_entry(reader, column, probe, after, &position, &between);
}

bool
rtscan_dictionary_find_behind(RtscanReader *reader, int column, const RtscanProbe *probe, const RtscanPosition *place,
							  RtscanPosition *behind)
{
	if (!rtscan_is_plain(&reader->segment->columns[column].header))
		return rtscan_dictionary_find(reader, column, probe, true, behind);
	return rtscan_plain_find_behind(reader, column, probe, place, behind);
}

/* ---------------------------------------------------------------- many values */

/* The leaf at hand, if any. */
typedef struct Leaf
{
	int			column;
	bool		open;
	RtscanDictionaryView view;
	RtscanDictionaryBlockView block;
} Leaf;

static void
close_leaf(Leaf *leaf)
{
	if (leaf->open)
		rtscan_dictionary_close_page(&leaf->view);
	leaf->open = false;
}

/* Go to the leaf that a probe's place is on; pages are locked on a standby, so never have two. */
static bool
open_leaf(Leaf *leaf, RtscanReader *reader, const RtscanProbe *probe)
{
	uint32		page;

	close_leaf(leaf);
	CHECK_FOR_INTERRUPTS();
	if (!descend(reader, leaf->column, probe, true, &page))
		return false;
	leaf->block.n = leaf->block.number = 0;
	leaf->open = rtscan_dictionary_open_page(&leaf->view, reader, leaf->column, probe->column, page);
	return leaf->open;
}

/* Look for a probe on the leaf at hand; false if it is damaged, and then it is closed. */
static bool
look_in_leaf(Leaf *leaf, const RtscanColumnHeader *header, const RtscanProbe *probe, RtscanFoundEntry *found)
{
	if (rtscan_dictionary_look_in_page(&leaf->block, &leaf->view, probe, found) &&
		(found->entries == 0 || (found->rank < found->end_rank && found->end_rank <= header->nonnull &&
								 (uint64) leaf->view.page.first_code + found->entries <= header->distinct)))
		return true;
	leaf->open = false;
	rtscan_dictionary_fault(&leaf->view, "The entries of a dictionary page contradict each other.");
	return false;
}

/* Is what a probe equals, if there is any, on a leaf behind this one? */
static bool
is_beyond(const Leaf *leaf, const RtscanFoundEntry *found)
{
	return found->entries == leaf->view.page.entries && !found->equal &&
		leaf->view.number + 1 < leaf->view.reader->segment->columns[leaf->column].header.level_pages[0];
}

static bool
find_next(Leaf *leaf, RtscanReader *reader, const RtscanProbe *probe, RtscanFoundEntry *found)
{
	const RtscanColumnHeader *header = &reader->segment->columns[leaf->column].header;

	if (leaf->open && !look_in_leaf(leaf, header, probe, found))
		return false;
	if (leaf->open && !is_beyond(leaf, found))
		return true;
	return open_leaf(leaf, reader, probe) && look_in_leaf(leaf, header, probe, found);
}

/* Look at the dictionary for all probes before any value is looked at, for that is on other pages. */
static bool
find_candidates(RtscanReader *reader, int column, const RtscanProbes *probes, RtscanCandidate *candidates, int *n)
{
	Leaf		leaf = {.column = column};

	*n = 0;
	for (int i = 0; i < probes->n; i++)
	{
		RtscanProbe probe = rtscan_probe_of(probes, i);
		RtscanFoundEntry found;

		if (!find_next(&leaf, reader, &probe, &found))
			return false;
		if (found.entries > 0)
			candidates[(*n)++] = (RtscanCandidate) {
				.probe = i,
				.equal = found.equal,
				.has_next = found.has_next,
				.first = found.rank,
				.end = found.end_rank,
				.key = found.key,
				.next_key = found.next_key,
			};
	}
	close_leaf(&leaf);
	return true;
}

static bool
find_all_plain(RtscanReader *reader, int column, const RtscanProbes *probes, RtscanFoundVisitor visitor, void *arg)
{
	RtscanCandidate *candidates = palloc_extended(Max(probes->n, 1) * sizeof(RtscanCandidate), MCXT_ALLOC_HUGE);
	int			n;
	bool		sound = find_candidates(reader, column, probes, candidates, &n) &&
		rtscan_plain_find_all(reader, column, probes, candidates, n, visitor, arg);

	pfree(candidates);
	return sound;
}

/* Entries of a packed page, one after another. */
typedef struct Entries
{
	uint32		code;			/* the first one's */
	uint32		n;
	const uint64 *keys;
	const uint32 *ranks;		/* and where the last one's end */
} Entries;

/* Probes' keys are close to each other if they are so far apart on average, at most, and so many. */
#define CLOSE_KEYS		8
#define MANY_KEYS		1024

/* To make an array for so many probes takes as long as to merge them, if there are no entries. */
#define FEW_KEYS_AN_ENTRY	4

/* No probe has this number. */
#define NO_PROBE		PG_UINT32_MAX

/* Probes that are merged with a dictionary, from the next on. */
typedef struct Merge
{
	const RtscanProbes *probes;
	uint32		next;
	uint32	   *by_distance;	/* of close keys: whose key is so far from the first one, and none behind the last; or NULL */
	uint64		reach;			/* of the last one */
	RtscanFoundVisitor visitor;
	void	   *arg;
} Merge;

/* A probe and an entry that are equal. */
typedef struct Match
{
	uint32		probe;
	uint32		entry;
} Match;

/* The next of these, as many as there is room for.  Nobody could foresee a branch on which of two keys is less, so there is none. */
static uint32
match_keys(Merge *merge, const Entries *entries, uint32 *entry, Match *matches)
{
	const uint64 *probes = merge->probes->keys;
	uint32		nprobes = merge->probes->n;
	uint32		next = merge->next,
				at = *entry,
				n = 0;

	while (n < BLOCK && next < nprobes && at < entries->n)
	{
		uint64		probe = probes[next],
					key = entries->keys[at];

		matches[n] = (Match) {next, at};
		n += probe == key;
		next += probe <= key;
		at += probe > key;
	}
	merge->next = next;
	*entry = at;
	return n;
}

/* Likewise of close keys.  In a damaged dictionary keys may come again: a probe does not. */
static uint32
match_close_keys(Merge *merge, const Entries *entries, uint32 *entry, Match *matches)
{
	uint64		first = merge->probes->keys[0];
	uint32		next = merge->next,
				at = *entry,
				n = 0;

	for (; at < entries->n && n < BLOCK; at++)
	{
		uint32		probe = merge->by_distance[Min(entries->keys[at] - first, merge->reach + 1)];
		bool		equal = probe != NO_PROBE && probe >= next;

		matches[n] = (Match) {probe, at};
		n += equal;
		next = equal ? probe + 1 : next;
	}
	merge->next = next;
	*entry = at;
	return n;
}

static void
merge_entries(Merge *merge, const Entries *entries)
{
	Match		matches[BLOCK];
	RtscanFound found[BLOCK];
	uint32		entry = 0,
				n;

	do
	{
		n = merge->by_distance ? match_close_keys(merge, entries, &entry, matches) : match_keys(merge, entries, &entry, matches);
		for (uint32 i = 0; i < n; i++)
		{
			uint32		k = matches[i].entry;

			found[i] = (RtscanFound) {
				.value = matches[i].probe,
				.place = {entries->code + k, entries->ranks[k]},
				.behind = {entries->code + k + 1, entries->ranks[k + 1]},
			};
		}
		if (n > 0)
			merge->visitor(found, n, merge->arg);
	} while (n == BLOCK);
}

/* A visit of the entries with codes from code up to last: one by one, or for a merge, which those of packed pages can have. */
typedef struct Visit
{
	uint32		code;			/* to be visited next */
	uint32		last;
	uint32		end_rank;		/* of the value before, once there was one */
	uint32		nonnull;
	RtscanDictionaryVisitor visitor;
	void	   *arg;
	Merge	   *merge;
	const uint32 *wanted;		/* the next rank that the visitor wants: blocks before it are passed over; or NULL */
} Visit;

static bool visit_all(RtscanReader *reader, int column, const RtscanColumn *type, Visit *visit);

/* Are they many and close, and all different; and the entries so many that an array is worth it, and its memory allowed? */
static bool
want_distances(const RtscanProbes *probes, uint32 entries)
{
	const uint64 *keys = probes->keys;
	uint32		n = probes->n;
	uint64		reach = keys[n - 1] - keys[0];
	bool		differ = true;

	if (n < MANY_KEYS || entries < n / FEW_KEYS_AN_ENTRY || reach / CLOSE_KEYS >= n || reach >= get_hash_memory_limit() / sizeof(uint32))
		return false;
	for (uint32 i = 1; i < n; i++)
		differ &= keys[i] != keys[i - 1];
	return differ;
}

static void
take_distances(Merge *merge)
{
	const uint64 *keys = merge->probes->keys;
	uint32		n = merge->probes->n;

	merge->reach = keys[n - 1] - keys[0];
	merge->by_distance = palloc_extended((merge->reach + 2) * sizeof(uint32), MCXT_ALLOC_HUGE);
	memset(merge->by_distance, 0xff, (merge->reach + 2) * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		merge->by_distance[keys[i] - keys[0]] = i;
	}
}

/* Where probes are many, values are compared one after another, from the first probe's on to the last one's. */
static bool
merge_all(RtscanReader *reader, int column, const RtscanProbes *probes, RtscanFoundVisitor visitor, void *arg)
{
	Merge		merge = {.probes = probes, .visitor = visitor, .arg = arg};
	RtscanProbe first = rtscan_probe_of(probes, 0),
				last = rtscan_probe_of(probes, probes->n - 1);
	RtscanPosition from,
				to;
	bool		sound;

	if (!rtscan_dictionary_find(reader, column, &first, false, &from) || !rtscan_dictionary_find(reader, column, &last, true, &to))
		return false;
	if (from.code >= to.code)
		return true;
	if (want_distances(probes, to.code - from.code))
		take_distances(&merge);
	sound = visit_all(reader, column, probes->column, &(Visit) {.code = from.code, .last = to.code, .merge = &merge});
	if (merge.by_distance)
		pfree(merge.by_distance);
	return sound;
}

bool
rtscan_dictionary_find_all(RtscanReader *reader, int column, const RtscanProbes *probes, RtscanFoundVisitor visitor, void *arg)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;
	Leaf		leaf = {.column = column};

	if (header->levels == 0 || probes->n == 0)
		return true;
	if (rtscan_is_plain(header))
		return find_all_plain(reader, column, probes, visitor, arg);
	if (probes->keys && (uint32) probes->n >= header->distinct / VALUES_A_LOOKUP)
		return merge_all(reader, column, probes, visitor, arg);
	for (int i = 0; i < probes->n; i++)
	{
		RtscanProbe probe = rtscan_probe_of(probes, i);
		RtscanFoundEntry found;

		if (!find_next(&leaf, reader, &probe, &found))
			return false;
		if (found.equal)
		{
			uint32		code = leaf.view.page.first_code + found.entries - 1;

			visitor(&(RtscanFound) {.value = i, .place = {code, found.rank}, .behind = {code + 1, found.end_rank}}, 1, arg);
		}
	}
	close_leaf(&leaf);
	return true;
}

/* ---------------------------------------------------------------- codes */

/* How many ranks of a packed page's blocks are not above target: only those of the last block that begins so are unpacked. */
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
	n = rtscan_dictionary_unpack(view, low - 1, PG_UINT64_MAX, keys, ranks);
	*place = (low - 1) * BLOCK;
	for (uint32 k = 0; k < n && ranks[k] <= target; k++)
		(*place)++;
	return n > 0;
}

/* How many entries of a page have a rank (inner: a first code) that is not above target. */
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

/* The number of the leaf that has a code. */
static bool
find_leaf(RtscanReader *reader, int column, const RtscanColumn *type, uint32 code, uint32 *page)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;

	if (!find_top_page(reader, column, &(Target) {.type = type, .code = code}, page))
		return false;
	for (int level = (int) header->levels - 1; level > 0; level--)
	{
		RtscanDictionaryView	view;
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

/* Visitors fill arrays by code and by rank: both must be in order, and within bounds. */
static bool
visit_entry(Visit *visit, uint64 value, uint32 first_rank, uint32 end_rank)
{
	if (first_rank < visit->end_rank || end_rank <= first_rank || end_rank > visit->nonnull)
		return false;
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

static bool
visit_entries(Visit *visit, const Entries *entries)
{
	const uint32 *ranks = entries->ranks;

	if (visit->merge == NULL)
	{
		for (uint32 k = 0; k < entries->n; k++)
			if (!visit_entry(visit, entries->keys[k], ranks[k], ranks[k + 1]))
				return false;
		return true;
	}
	if (ranks[0] < visit->end_rank || !ranks_ascend(ranks, entries->n) || ranks[entries->n] > visit->nonnull)
		return false;
	merge_entries(visit->merge, entries);
	visit->code += entries->n;
	visit->end_rank = ranks[entries->n];
	return true;
}

/* Pass a block over whose ranks end before the one that is wanted. */
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

static bool
visit_packed(const RtscanDictionaryView *view, Visit *visit)
{
	for (uint32 b = (visit->code - view->page.first_code) / BLOCK;
		 b < view->page.blocks && visit->code < visit->last; b++)
	{
		uint32		skipped = visit->code - view->page.first_code - b * BLOCK;
		uint32		end_rank = b + 1 < view->page.blocks ? view->blocks[b + 1].rank : view->page.end_rank;
		uint64		keys[BLOCK];
		uint32		ranks[BLOCK + 1];
		uint32		n;

		if (pass_block(view, b, end_rank, visit))
			continue;
		n = rtscan_dictionary_unpack(view, b, PG_UINT64_MAX, keys, ranks);
		if (n <= skipped)
			return false;
		ranks[n] = end_rank;
		if (!visit_entries(visit, &(Entries) {visit->code, Min(n - skipped, visit->last - visit->code), keys + skipped, ranks + skipped}))
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

	Assert(packed || visit->merge == NULL);
	visit->nonnull = header->nonnull;
	if (visit->code >= visit->last)
		return true;
	if (!find_leaf(reader, column, type, visit->code, &page))
		return false;
	for (; visit->code < visit->last; page++)
	{
		RtscanDictionaryView	view;

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
rtscan_dictionary_visit_ranks(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first, uint32 last, const uint32 *wanted,
							  RtscanDictionaryVisitor visitor, void *arg)
{
	return visit_all(reader, column, type, &(Visit) {.code = first, .last = last, .visitor = visitor, .arg = arg, .wanted = wanted});
}

/* RtscanDictionaryVisitor: where a value's ranks end. */
static void
note_end(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	*(uint32 *) arg = end_rank;
}

uint32
rtscan_code_at_rank(RtscanReader *reader, int column, const RtscanColumn *type, uint32 rank)
{
	uint32		low = 0,
				high = reader->segment->columns[column].header.distinct - 1;

	while (low < high)
	{
		uint32		middle = (low + high) / 2,
					end = 0;

		rtscan_dictionary_visit(reader, column, type, middle, middle + 1, note_end, &end);
		if (end <= rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
