/* SPDX-License-Identifier: PostgreSQL */
/*
 * dictionary_page.c
 *		Read and check pages of dictionaries, and find places on them.
 */
#include "segment/dictionary_parts.h"

#include "access/tupmacs.h"
#include "miscadmin.h"

#define BLOCK	RTSCAN_DICTIONARY_BLOCK

void
rtscan_dictionary_fault(RtscanDictionaryView *view, const char *detail)
{
	rtscan_release(view->reader, view->buffer);
	rtscan_fault(view->reader, view->area, view->number, detail);
}

static bool
view_layout_is_sane(RtscanDictionaryView *view)
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

bool
rtscan_dictionary_open_page(RtscanDictionaryView *view, RtscanReader *reader, int column, const RtscanColumn *type,
							uint32 i)
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
	rtscan_dictionary_fault(view, "The header of a dictionary page contradicts itself.");
	return false;
}

void
rtscan_dictionary_close_page(RtscanDictionaryView *view)
{
	rtscan_release(view->reader, view->buffer);
}

/* ---------------------------------------------------------------- packed pages */

/* Packed integers of equal width.  They are read by words; several integers are taken from each word. */
typedef struct Gaps
{
	const char *data;			/* the integers */
	uint32		bit;			/* bit at which the next integer begins */
	uint32		width;			/* bits of an integer: 0 .. 56, or 64 */
	uint32		per_word;		/* number of integers that are taken from each word */
	uint64		mask;			/* the lowest "width" bits */
} Gaps;

static Gaps
gaps_of(const char *data, uint32 bit, uint32 width)
{
	return (Gaps) {
		.data = data,
		.bit = bit,
		.width = width,
		.per_word = width == 0 ? BLOCK : Max(56 / width, 1),
		.mask = width == 64 ? PG_UINT64_MAX : (UINT64CONST(1) << width) - 1,
	};
}

/* Load a word whose lowest bits are the next per_word integers, and move behind these integers. */
static inline uint64
next_word(Gaps *gaps)
{
	uint64		word;

	memcpy(&word, gaps->data + gaps->bit / 8, sizeof(word));
	word >>= gaps->bit % 8;
	gaps->bit += gaps->per_word * gaps->width;
	return word;
}

/*
 * Unpack at most n keys from their gaps; the caller has set keys[0].  Stops after the word of gaps that has the first
 * key of at least "limit".  Returns the number of keys, including keys[0].
 */
static uint32
unpack_keys(Gaps gaps, uint64 limit, uint32 n, uint64 *keys)
{
	uint64		key = keys[0];
	uint32		k = 1;

	while (k < n && key < limit)
	{
		uint64		word = next_word(&gaps);

		for (uint32 end = Min(k + gaps.per_word, n); k < end; k++, word >>= gaps.width % 64)
			keys[k] = key += 1 + (word & gaps.mask);
	}
	return k;
}

/* Unpack n ranks from their gaps; the caller has set ranks[0]. */
static void
unpack_ranks(Gaps gaps, uint32 n, uint32 *ranks)
{
	uint32		rank = ranks[0];

	for (uint32 k = 1; k < n && gaps.width == 0; k++)
		ranks[k] = rank + k;
	for (uint32 k = 1; k < n && gaps.width > 0;)
	{
		uint64		word = next_word(&gaps);

		for (uint32 end = Min(k + gaps.per_word, n); k < end; k++, word >>= gaps.width)
			ranks[k] = rank += 1 + (uint32) (word & gaps.mask);
	}
}

uint32
rtscan_dictionary_unpack(const RtscanDictionaryView *view, uint32 i, uint32 most, uint64 limit, uint64 *keys,
						 uint32 *ranks)
{
	const RtscanDictionaryBlock *block = &view->blocks[i];
	uint32		all = Min(view->page.entries - i * BLOCK, BLOCK);
	const char *data = view->payload + block->data;
	uint32		n;

	if ((block->key_bits > 56 && block->key_bits != 64) || block->rank_bits > 32 ||
		block->data + ((all - 1) * (block->key_bits + block->rank_bits) + 7) / 8 > view->used)
		return 0;
	keys[0] = block->key;
	n = unpack_keys(gaps_of(data, 0, block->key_bits), limit, Min(all, most), keys);
	if (ranks == NULL)
		return n;
	ranks[0] = block->rank;
	unpack_ranks(gaps_of(data, (all - 1) * block->key_bits, block->rank_bits), n, ranks);
	return n;
}

/* Count the blocks that begin before the place of a probe. */
static uint32
blocks_before(const RtscanDictionaryView *view, const RtscanProbe *probe, bool after)
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

/*
 * Return the rank of entry i of a block, of which n entries are unpacked.  If i is n, all entries must be unpacked;
 * returns the rank of the first entry behind the block.
 */
static uint32
rank_in_block(const RtscanDictionaryView *view, uint32 block, const uint32 *ranks, uint32 n, uint32 i)
{
	return i < n ? ranks[i] : block + 1 < view->page.blocks ? view->blocks[block + 1].rank : view->page.end_rank;
}

/*
 * Return the entries beside a place in a block, of which n entries are unpacked.  The block has i entries before the
 * place; i is not 0, and less than n unless all entries are unpacked.
 */
static RtscanBetween
between_entries(const RtscanDictionaryView *view, uint32 block, const uint64 *keys, const uint32 *ranks, uint32 n,
				uint32 i)
{
	bool		has_next = block + 1 < view->page.blocks;

	return (RtscanBetween) {
		.has_low = true,
		.has_high = i < n || has_next,
		.low_rank = ranks[i - 1],
		.low_key = keys[i - 1],
		.high_key = i < n ? keys[i] : has_next ? view->blocks[block + 1].key : 0,
	};
}

/* Find the place of a probe on a packed page; see rtscan_dictionary_search_page(). */
static bool
search_packed(const RtscanDictionaryView *view, const RtscanProbe *probe, bool after,
			  uint32 *entries, uint32 *rank, RtscanBetween *between)
{
	uint32		block = blocks_before(view, probe, after);
	uint64		keys[BLOCK];
	uint32		ranks[BLOCK];
	uint64		limit = !probe->has_key ? PG_UINT64_MAX
		: after && probe->key < PG_UINT64_MAX ? probe->key + 1 : probe->key;
	uint32		n,
				low = 1,
				high;

	*entries = 0;
	*rank = view->page.first_rank;
	if (block == 0)
		return true;
	n = high = rtscan_dictionary_unpack(view, --block, BLOCK, limit, keys, ranks);
	while (low < high)
	{
		uint32		middle = (low + high) / 2;

		if (rtscan_key_is_before(probe, after, keys[middle]))
			low = middle + 1;
		else
			high = middle;
	}
	if (n == 0)
		return false;
	*entries = block * BLOCK + low;
	*rank = rank_in_block(view, block, ranks, n, low);
	if (between)
		*between = between_entries(view, block, keys, ranks, n, low);
	return true;
}

/* ---------------------------------------------------------------- whole values */

uint32
rtscan_dictionary_rank(const RtscanDictionaryView *view, uint32 i)
{
	uint32		rank;

	if (i == view->page.entries)
		return view->page.end_rank;
	if (view->ranks == NULL)
		return view->page.first_rank + i;
	memcpy(&rank, view->ranks + i * sizeof(uint32), sizeof(uint32));
	return rank;
}

bool
rtscan_dictionary_value(const RtscanDictionaryView *view, uint32 i, Datum *value)
{
	uint16		offset;
	Size		size;

	memcpy(&offset, view->offsets + i * sizeof(uint16), sizeof(uint16));
	return offset >= sizeof(RtscanDictionaryPage) && offset < view->page.values_end &&
		rtscan_fetch_value(view->type, view->payload + offset,
						   view->payload + view->page.values_end, value, &size);
}

/* Find the place of a probe on a page of whole values. */
static bool
search_whole(const RtscanDictionaryView *view, const RtscanProbe *probe, bool after,
			 uint32 *entries, uint32 *rank)
{
	uint32		low = 0,
				high = view->page.entries;

	while (low < high)
	{
		uint32		middle = (low + high) / 2;
		Datum		value;

		if (!rtscan_dictionary_value(view, middle, &value))
			return false;
		if (rtscan_value_is_before(probe, after, value))
			low = middle + 1;
		else
			high = middle;
	}
	*entries = low;
	*rank = rtscan_dictionary_rank(view, low);
	return true;
}

/* ---------------------------------------------------------------- places */

bool
rtscan_dictionary_search_page(const RtscanDictionaryView *view, const RtscanProbe *probe, bool after, uint32 *entries,
							  uint32 *rank, RtscanBetween *between)
{
	if (between)
		*between = (RtscanBetween) {.has_low = false};
	if (view->type->key_kind == RTSCAN_KEY_NONE)
		return search_whole(view, probe, after, entries, rank);
	return search_packed(view, probe, after, entries, rank, between);
}

bool
rtscan_dictionary_first_is_before(const RtscanDictionaryView *view, const RtscanProbe *probe, bool after, bool *before)
{
	Datum		value;

	if (probe->column->key_kind != RTSCAN_KEY_NONE)
		*before = rtscan_key_is_before(probe, after, view->blocks[0].key);
	else if (rtscan_dictionary_value(view, 0, &value))
		*before = rtscan_value_is_before(probe, after, value);
	else
		return false;
	return true;
}

/*
 * Unpack the block of a packed page that has the last entry not above the probe, unless *block has it already.  If all
 * entries of the page are above the probe, leaves *block empty.  Returns false if an entry would extend beyond the
 * page.
 */
static bool
enter_block(RtscanDictionaryBlockView *block, const RtscanDictionaryView *view, const RtscanProbe *probe)
{
	uint32		number = block->number;

	if (block->n == 0 ||
		(number + 1 < view->page.blocks && rtscan_key_is_before(probe, true, view->blocks[number + 1].key)))
	{
		number = blocks_before(view, probe, true);
		if (number-- == 0)
			return true;
		block->number = number;
		block->n = rtscan_dictionary_unpack(view, number, BLOCK, PG_UINT64_MAX, block->keys, block->ranks);
	}
	return block->n > 0;
}

static bool
find_in_packed(RtscanDictionaryBlockView *block, const RtscanDictionaryView *view, const RtscanProbe *probe,
			   RtscanFoundEntry *found)
{
	uint32		low = 0,
				high;
	RtscanBetween between;

	if (!enter_block(block, view, probe))
		return false;
	found->entries = 0;
	if (block->n == 0)
		return true;
	for (high = block->n; low < high;)
	{
		uint32		middle = (low + high) / 2;

		if (rtscan_key_is_before(probe, true, block->keys[middle]))
			low = middle + 1;
		else
			high = middle;
	}
	found->entries = block->number * BLOCK + low;
	if (low == 0)
		return true;
	found->equal = !rtscan_key_is_before(probe, false, block->keys[low - 1]);
	found->rank = block->ranks[low - 1];
	found->end_rank = rank_in_block(view, block->number, block->ranks, block->n, low);
	between = between_entries(view, block->number, block->keys, block->ranks, block->n, low);
	found->key = between.low_key;
	found->has_next = between.has_high;
	found->next_key = between.high_key;
	return true;
}

static bool
look_in_whole(const RtscanDictionaryView *view, const RtscanProbe *probe, RtscanFoundEntry *found)
{
	Datum		value;
	uint32		rank;

	if (!search_whole(view, probe, true, &found->entries, &rank))
		return false;
	if (found->entries == 0)
		return true;
	if (!rtscan_dictionary_value(view, found->entries - 1, &value))
		return false;
	found->equal = !rtscan_value_is_before(probe, false, value);
	found->rank = rtscan_dictionary_rank(view, found->entries - 1);
	found->end_rank = rank;
	return true;
}

bool
rtscan_dictionary_look_in_page(RtscanDictionaryBlockView *block, const RtscanDictionaryView *view,
							   const RtscanProbe *probe, RtscanFoundEntry *found)
{
	*found = (RtscanFoundEntry) {.equal = false};
	return view->type->key_kind != RTSCAN_KEY_NONE ? find_in_packed(block, view, probe, found)
		: look_in_whole(view, probe, found);
}
