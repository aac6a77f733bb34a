/*
 * dictionary.c
 *		Look values up in dictionaries.
 */
#include "segment/dictionary.h"

#include "access/tupmacs.h"
#include "miscadmin.h"
#include "segment/plain.h"

#define BLOCK	RTSCAN_DICTIONARY_BLOCK

/* A page of a dictionary, checked as far as its own header goes. */
typedef struct PageView
{
	RtscanReader *reader;
	const RtscanArea *area;
	uint32		number;
	const RtscanColumn *type;
	Buffer		buffer;
	const char *payload;
	Size		used;
	RtscanDictionaryPage page;
	const RtscanDictionaryBlock *blocks;
	const char *ranks;			/* whole: NULL if implicit */
	const char *offsets;
} PageView;

static void
fault(PageView *view, const char *detail)
{
	rtscan_release(view->reader, view->buffer);
	rtscan_fault(view->reader, view->area, view->number, detail);
}

static bool
view_layout_is_sane(PageView *view)
{
	const RtscanDictionaryPage *page = &view->page;
	Size		end;

	if (page->entries == 0 || page->entries > RTSCAN_CHUNK_BYTES * 8 ||
		page->end_rank < page->first_rank)
		return false;
	if (view->type->key_kind != RTSCAN_KEY_NONE)
	{
		view->blocks = (const RtscanDictionaryBlock *) (view->payload + sizeof(RtscanDictionaryPage));
		return page->blocks == (page->entries + BLOCK - 1) / BLOCK &&
			sizeof(RtscanDictionaryPage) + page->blocks * sizeof(RtscanDictionaryBlock) <= view->used;
	}
	if (page->blocks != 0 || page->values_end > view->used ||
		page->values_end % sizeof(uint32) != 0)
		return false;
	end = page->values_end;
	view->ranks = page->implicit_ranks ? NULL : view->payload + end;
	end += page->implicit_ranks ? 0 : page->entries * sizeof(uint32);
	view->offsets = view->payload + end;
	return end + page->entries * sizeof(uint16) <= view->used;
}

/* Look at page i of a column's dictionary; false only for a soft reader. */
static bool
open_page(PageView *view, RtscanReader *reader, int column, const RtscanColumn *type, uint32 i)
{
	view->reader = reader;
	view->area = &reader->segment->columns[column].header.dictionary;
	view->number = i;
	view->type = type;
	view->payload = rtscan_get_page(reader, view->area, i, &view->buffer, &view->used);
	if (view->payload == NULL)
		return false;
	if (view->used >= sizeof(RtscanDictionaryPage))
	{
		memcpy(&view->page, view->payload, sizeof(RtscanDictionaryPage));
		if (view_layout_is_sane(view))
			return true;
	}
	fault(view, "The header of a dictionary page contradicts itself.");
	return false;
}

static void
close_page(PageView *view)
{
	rtscan_release(view->reader, view->buffer);
}

/* ---------------------------------------------------------------- packed pages */

static inline uint64
get_bits(const char *data, uint32 bit, uint32 width)
{
	uint64		word;

	memcpy(&word, data + bit / 8, sizeof(word));
	word >>= bit % 8;
	return width == 64 ? word : word & ((UINT64CONST(1) << width) - 1);
}

/* The keys and ranks of a block; returns how many, 0 if they would lie outside of the page. */
static uint32
unpack_block(const PageView *view, uint32 i, uint64 *keys, uint32 *ranks)
{
	const RtscanDictionaryBlock *block = &view->blocks[i];
	uint32		n = Min(view->page.entries - i * BLOCK, BLOCK);
	const char *data = view->payload + block->data;
	uint32		bit = 0;

	if ((block->key_bits > 56 && block->key_bits != 64) || block->rank_bits > 32 ||
		block->data + ((n - 1) * (block->key_bits + block->rank_bits) + 7) / 8 > view->used)
		return 0;
	keys[0] = block->key;
	for (uint32 k = 1; k < n; k++, bit += block->key_bits)
		keys[k] = keys[k - 1] + 1 + get_bits(data, bit, block->key_bits);
	ranks[0] = block->rank;
	for (uint32 k = 1; k < n; k++, bit += block->rank_bits)
		ranks[k] = ranks[k - 1] + 1 + get_bits(data, bit, block->rank_bits);
	return n;
}

static bool
value_is_before(const RtscanProbe *probe, bool after, Datum value)
{
	int32		order = DatumGetInt32(FunctionCall2Coll(probe->compare, probe->column->collation,
														value, probe->value));

	return after ? order <= 0 : order < 0;
}

bool
rtscan_key_is_before(const RtscanProbe *probe, bool after, uint64 key)
{
	if (probe->has_key)
		return after ? key <= probe->key : key < probe->key;
	return value_is_before(probe, after, rtscan_key_decode(probe->column->key_kind, key));
}

/* How many blocks begin before the probe. */
static uint32
blocks_before(const PageView *view, const RtscanProbe *probe, bool after)
{
	uint32		low = 0,
				high = view->page.blocks;

	while (low < high)
	{
		uint32		middle = (low + high) / 2;

		if (rtscan_key_is_before(probe, after, view->blocks[middle].key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Entries of the page before the probe, and the rank of the one there. */
static bool
search_packed(const PageView *view, const RtscanProbe *probe, bool after,
			  uint32 *entries, uint32 *rank)
{
	uint32		block = blocks_before(view, probe, after);
	uint64		keys[BLOCK];
	uint32		ranks[BLOCK];
	uint32		n,
				low = 1,
				high;

	*entries = 0;
	*rank = view->page.first_rank;
	if (block == 0)
		return true;
	n = high = unpack_block(view, --block, keys, ranks);
	while (low < high)
	{
		uint32		middle = (low + high) / 2;

		if (rtscan_key_is_before(probe, after, keys[middle]))
			low = middle + 1;
		else
			high = middle;
	}
	*entries = block * BLOCK + low;
	if (low < n)
		*rank = ranks[low];
	else
		*rank = block + 1 < view->page.blocks ? view->blocks[block + 1].rank : view->page.end_rank;
	return n > 0;
}

/* ---------------------------------------------------------------- whole values */

static uint32
whole_rank(const PageView *view, uint32 i)
{
	uint32		rank;

	if (i == view->page.entries)
		return view->page.end_rank;
	if (view->ranks == NULL)
		return view->page.first_rank + i;
	memcpy(&rank, view->ranks + i * sizeof(uint32), sizeof(uint32));
	return rank;
}

static bool
whole_value(const PageView *view, uint32 i, Datum *value)
{
	uint16		offset;
	Size		size;

	memcpy(&offset, view->offsets + i * sizeof(uint16), sizeof(uint16));
	return offset >= sizeof(RtscanDictionaryPage) && offset < view->page.values_end &&
		rtscan_fetch_value(view->type, view->payload + offset,
						   view->payload + view->page.values_end, value, &size);
}

static bool
search_whole(const PageView *view, const RtscanProbe *probe, bool after,
			 uint32 *entries, uint32 *rank)
{
	uint32		low = 0,
				high = view->page.entries;

	while (low < high)
	{
		uint32		middle = (low + high) / 2;
		Datum		value;

		if (!whole_value(view, middle, &value))
			return false;
		if (value_is_before(probe, after, value))
			low = middle + 1;
		else
			high = middle;
	}
	*entries = low;
	*rank = whole_rank(view, low);
	return true;
}

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
child_page(const RtscanColumnHeader *header, const PageView *view, uint32 place,
		   uint32 level, uint32 *page)
{
	*page = view->page.first_code + (place > 0 ? place - 1 : 0);
	return *page < header->level_pages[level - 1];
}

/* Is the first entry of a page before the probe? */
static bool
first_is_before(const PageView *view, const RtscanProbe *probe, bool after, bool *before)
{
	Datum		value;

	if (probe->column->key_kind != RTSCAN_KEY_NONE)
		*before = rtscan_key_is_before(probe, after, view->blocks[0].key);
	else if (whole_value(view, 0, &value))
		*before = value_is_before(probe, after, value);
	else
		return false;
	return true;
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
begins_before(const PageView *view, const Target *target, bool leaf, bool *before)
{
	if (target->probe)
		return first_is_before(view, target->probe, target->after, before);
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
		PageView	view;
		bool		before;

		if (!open_page(&view, reader, column, target->type, level_start(header, header->levels - 1) + middle))
			return false;
		if (!begins_before(&view, target, header->levels == 1, &before))
		{
			fault(&view, "An entry of a dictionary page lies outside of it.");
			return false;
		}
		close_page(&view);
		if (before)
			*page = middle;
		else
			high = middle;
	}
	return true;
}

bool
rtscan_dictionary_find(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
					   RtscanPosition *position)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;
	uint32		page;

	/* Lists have many values, and there are many segments. */
	CHECK_FOR_INTERRUPTS();
	*position = (RtscanPosition) {0, 0};
	if (!find_top_page(reader, column, &(Target) {.type = probe->column, .probe = probe, .after = after}, &page))
		return false;
	for (int level = (int) header->levels - 1; level >= 0; level--)
	{
		PageView	view;
		uint32		place = 0;
		bool		found;

		if (!open_page(&view, reader, column, probe->column, level_start(header, level) + page))
			return false;
		if (probe->column->key_kind != RTSCAN_KEY_NONE)
			found = search_packed(&view, probe, after, &place, &position->rank);
		else
			found = search_whole(&view, probe, after, &place, &position->rank);
		position->code = view.page.first_code + place;
		if (!found || (level > 0 && !child_page(header, &view, place, level, &page)) ||
			(level == 0 && (position->rank > header->nonnull || position->code > header->distinct)))
		{
			fault(&view, "The entries of a dictionary page contradict each other.");
			return false;
		}
		close_page(&view);
	}
	return !rtscan_is_plain(header) || rtscan_plain_find(reader, column, probe, after, position);
}

/* How many ranks of a packed page's blocks are not above target: only those of the last block that begins so are unpacked. */
static bool
count_packed_ranks(const PageView *view, uint32 target, uint32 *place)
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
	n = unpack_block(view, low - 1, keys, ranks);
	*place = (low - 1) * BLOCK;
	for (uint32 k = 0; k < n && ranks[k] <= target; k++)
		(*place)++;
	return n > 0;
}

/* How many entries of a page have a rank (inner: a first code) that is not above target. */
static bool
count_ranks(const PageView *view, uint32 target, uint32 *place)
{
	uint32		high = view->page.entries;

	if (view->page.blocks > 0)
		return count_packed_ranks(view, target, place);
	*place = 0;
	while (*place < high)
	{
		uint32		middle = (*place + high) / 2;

		if (whole_rank(view, middle) <= target)
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
		PageView	view;
		uint32		place;

		if (!open_page(&view, reader, column, type, level_start(header, level) + *page))
			return false;
		if (!count_ranks(&view, code, &place) || !child_page(header, &view, place, level, page))
		{
			fault(&view, "The codes of a dictionary page contradict each other.");
			return false;
		}
		close_page(&view);
	}
	return true;
}

/* A visit of the entries with codes from code up to last. */
typedef struct Visit
{
	uint32		code;			/* to be visited next */
	uint32		last;
	uint32		end_rank;		/* of the value before, once there was one */
	uint32		nonnull;
	RtscanDictionaryVisitor visitor;
	void	   *arg;
} Visit;

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
visit_packed(const PageView *view, Visit *visit)
{
	for (uint32 b = (visit->code - view->page.first_code) / BLOCK;
		 b < view->page.blocks && visit->code < visit->last; b++)
	{
		uint32		next = b + 1 < view->page.blocks ? view->blocks[b + 1].rank : view->page.end_rank;
		uint64		keys[BLOCK];
		uint32		ranks[BLOCK];
		uint32		n = unpack_block(view, b, keys, ranks);

		if (n == 0)
			return false;
		for (uint32 k = visit->code - view->page.first_code - b * BLOCK; k < n && visit->code < visit->last; k++)
			if (!visit_entry(visit, keys[k], ranks[k], k + 1 < n ? ranks[k + 1] : next))
				return false;
	}
	return true;
}

static bool
visit_whole(const PageView *view, Visit *visit)
{
	for (uint32 i = visit->code - view->page.first_code;
		 i < view->page.entries && visit->code < visit->last; i++)
	{
		Datum		value;

		if (!whole_value(view, i, &value) ||
			!visit_entry(visit, (uint64) value, whole_rank(view, i), whole_rank(view, i + 1)))
			return false;
	}
	return true;
}

bool
rtscan_dictionary_visit(RtscanReader *reader, int column, const RtscanColumn *type,
						uint32 first, uint32 last, RtscanDictionaryVisitor visitor, void *arg)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;
	Visit		visit = {first, last, 0, header->nonnull, visitor, arg};
	bool		packed = type->key_kind != RTSCAN_KEY_NONE;
	uint32		page;

	if (first >= last)
		return true;
	if (!find_leaf(reader, column, type, first, &page))
		return false;
	for (; visit.code < last; page++)
	{
		PageView	view;

		CHECK_FOR_INTERRUPTS();
		if (page >= header->level_pages[0])
		{
			rtscan_fault(reader, &header->dictionary, header->level_pages[0] - 1,
						 "The dictionary has fewer values than it should.");
			return false;
		}
		if (!open_page(&view, reader, column, type, page))
			return false;
		if (visit.code < view.page.first_code ||
			visit.code - view.page.first_code >= view.page.entries ||
			!(packed ? visit_packed : visit_whole) (&view, &visit))
		{
			fault(&view, "The entries of a dictionary page contradict each other.");
			return false;
		}
		close_page(&view);
	}
	return true;
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
