/* SPDX-License-Identifier: PostgreSQL */
/*
 * dictionary_write.c
 *		Write dictionaries.
 */
#include "segment/dictionary.h"

#include "access/tupmacs.h"
#include "port/pg_bitutils.h"
#include "segment/plain.h"
#include "utils/datum.h"

#define BLOCK	RTSCAN_DICTIONARY_BLOCK

/*
 * A dictionary that is being written, one level after another.  The writer has the current page, which is being
 * filled, and the first value of each page of the current level that has been written.
 */
struct RtscanDictionaryWriter
{
	RtscanAreaWriter *areas;	/* receives the pages */
	const RtscanColumn *column; /* the column */
	bool		packed;			/* pages are packed */

	RtscanDictionaryPage page;	/* header of the current page */
	uint32		entries;		/* number of entries added to the level so far */

	uint32		open;			/* packed: number of entries in the open block, which is not in the page yet */
	uint64		keys[BLOCK];	/* packed: keys of the open block */
	uint32		ranks[BLOCK];	/* packed: ranks of the open block */
	/* packed: headers of the current page's closed blocks */
	RtscanDictionaryBlock blocks[RTSCAN_CHUNK_BYTES / sizeof(RtscanDictionaryBlock)];
	char		data[RTSCAN_CHUNK_BYTES + sizeof(uint64)];	/* packed: gaps of the current page's closed blocks */
	uint32		data_bytes;		/* packed: number of bytes in "data" */

	char		values[RTSCAN_CHUNK_BYTES]; /* whole values: the current page's values, at their offsets in the page */
	uint32		value_ranks[RTSCAN_CHUNK_BYTES / sizeof(uint16)];	/* whole values: ranks of the current page's
																	 * entries */
	uint16		offsets[RTSCAN_CHUNK_BYTES / sizeof(uint16)];	/* whole values: offsets of the current page's
																 * entries */

	bool		inner;			/* the level consists of inner pages, not of leaves */
	uint32		pages;			/* number of pages of the level written so far */
	uint32		capacity;		/* number of pages that page_values and page_codes have room for */
	uint64	   *page_values;	/* first value of each page written; the next level has an entry for each */
	uint32	   *page_codes;		/* by page: first code of the leaves below the page; of a leaf, its own first code */
};

RtscanDictionaryWriter *
rtscan_dictionary_writer(RtscanAreaWriter *areas, const RtscanColumn *column)
{
	RtscanDictionaryWriter *writer = palloc0(sizeof(RtscanDictionaryWriter));

	writer->areas = areas;
	writer->column = column;
	writer->packed = column->key_kind != RTSCAN_KEY_NONE;
	writer->page.values_end = sizeof(RtscanDictionaryPage);
	writer->capacity = 64;
	writer->page_values = palloc(writer->capacity * sizeof(uint64));
	writer->page_codes = palloc(writer->capacity * sizeof(uint32));
	rtscan_area_begin(areas, RTSCAN_PAGE_DICTIONARY);
	return writer;
}

/* Keep the first value and code of the current page, for its entry in the level above. */
static void
note_page(RtscanDictionaryWriter *writer, uint64 first_value)
{
	const RtscanColumn *column = writer->column;

	if (writer->pages == writer->capacity)
	{
		writer->capacity *= 2;
		writer->page_values = repalloc(writer->page_values, writer->capacity * sizeof(uint64));
		writer->page_codes = repalloc(writer->page_codes, writer->capacity * sizeof(uint32));
	}
	if (!writer->packed)
		first_value = datumCopy((Datum) first_value, column->typbyval, column->typlen);
	writer->page_values[writer->pages] = first_value;
	writer->page_codes[writer->pages] = writer->inner ? writer->page.first_rank : writer->page.first_code;
	writer->pages++;
}

static void
begin_next_page(RtscanDictionaryWriter *writer, uint32 next_rank)
{
	writer->page = (RtscanDictionaryPage) {
		.first_code = writer->page.first_code + writer->page.entries,
		.first_rank = next_rank,
		.values_end = sizeof(RtscanDictionaryPage),
	};
	writer->data_bytes = 0;
}

/* ---------------------------------------------------------------- packed pages */

static void
put_bits(char *data, uint32 bit, uint32 width, uint64 value)
{
	char	   *place = data + bit / 8;
	uint64		word;

	memcpy(&word, place, sizeof(word));
	word |= value << (bit % 8);
	memcpy(place, &word, sizeof(word));
}

static uint8
bits_for(uint64 value)
{
	return value == 0 ? 0 : pg_leftmost_one_pos64(value) + 1;
}

/* Return the header of the open block, and in *bytes the bytes that its gaps take. */
static RtscanDictionaryBlock
describe_block(const RtscanDictionaryWriter *writer, uint32 *bytes)
{
	RtscanDictionaryBlock block = {.key = writer->keys[0], .rank = writer->ranks[0]};
	uint64		key_gaps = 0;
	uint32		rank_gaps = 0;

	for (uint32 i = 1; i < writer->open; i++)
	{
		key_gaps |= writer->keys[i] - writer->keys[i - 1] - 1;
		rank_gaps |= writer->ranks[i] - writer->ranks[i - 1] - 1;
	}
	block.key_bits = bits_for(key_gaps) > 56 ? 64 : bits_for(key_gaps);
	block.rank_bits = bits_for(rank_gaps);
	*bytes = ((writer->open - 1) * (block.key_bits + block.rank_bits) + 7) / 8;
	return block;
}

static void
emit_packed_page(RtscanDictionaryWriter *writer, uint32 end_rank)
{
	Size		blocks = writer->page.blocks * sizeof(RtscanDictionaryBlock);
	Size		data = sizeof(RtscanDictionaryPage) + blocks;
	char	   *room = rtscan_area_room(writer->areas);

	for (uint32 i = 0; i < writer->page.blocks; i++)
		writer->blocks[i].data += data;
	writer->page.end_rank = end_rank;
	memcpy(room, &writer->page, sizeof(RtscanDictionaryPage));
	memcpy(room + sizeof(RtscanDictionaryPage), writer->blocks, blocks);
	memcpy(room + data, writer->data, writer->data_bytes);
	rtscan_area_used(writer->areas, data + writer->data_bytes);
	note_page(writer, writer->blocks[0].key);
	begin_next_page(writer, end_rank);
}

/* Pack the gaps of the open block into writer->data. */
static void
put_gaps(RtscanDictionaryWriter *writer, const RtscanDictionaryBlock *block, uint32 bytes)
{
	char	   *data = writer->data + block->data;
	uint32		bit = 0;

	memset(data, 0, bytes + sizeof(uint64));
	for (uint32 i = 1; i < writer->open && block->key_bits > 0; i++, bit += block->key_bits)
		put_bits(data, bit, block->key_bits, writer->keys[i] - writer->keys[i - 1] - 1);
	for (uint32 i = 1; i < writer->open && block->rank_bits > 0; i++, bit += block->rank_bits)
		put_bits(data, bit, block->rank_bits, writer->ranks[i] - writer->ranks[i - 1] - 1);
}

/* Close the open block: add it to the current page or, if the page has no room for it, to a new page. */
static void
close_block(RtscanDictionaryWriter *writer)
{
	uint32		bytes;
	RtscanDictionaryBlock block = describe_block(writer, &bytes);

	if (sizeof(RtscanDictionaryPage) + (writer->page.blocks + 1) * sizeof(RtscanDictionaryBlock) +
		writer->data_bytes + bytes > RTSCAN_CHUNK_BYTES)
		emit_packed_page(writer, block.rank);

	block.data = writer->data_bytes;
	put_gaps(writer, &block, bytes);
	writer->data_bytes += bytes;
	writer->blocks[writer->page.blocks++] = block;
	writer->page.entries += writer->open;
	writer->open = 0;
}

static void
add_packed(RtscanDictionaryWriter *writer, uint64 key, uint32 rank)
{
	if (writer->open == BLOCK)
		close_block(writer);
	writer->keys[writer->open] = key;
	writer->ranks[writer->open] = rank;
	writer->open++;
}

/* ---------------------------------------------------------------- whole values */

static void
emit_whole_page(RtscanDictionaryWriter *writer, uint32 end_rank)
{
	RtscanDictionaryPage *page = &writer->page;
	Size		place = TYPEALIGN(sizeof(uint32), page->values_end);
	char	   *room = rtscan_area_room(writer->areas);

	page->end_rank = end_rank;
	page->implicit_ranks = end_rank - page->first_rank == page->entries;
	page->values_end = place;
	memcpy(room + sizeof(RtscanDictionaryPage), writer->values + sizeof(RtscanDictionaryPage),
		   place - sizeof(RtscanDictionaryPage));
	memcpy(room, page, sizeof(RtscanDictionaryPage));
	if (!page->implicit_ranks)
	{
		memcpy(room + place, writer->value_ranks, page->entries * sizeof(uint32));
		place += page->entries * sizeof(uint32);
	}
	memcpy(room + place, writer->offsets, page->entries * sizeof(uint16));
	rtscan_area_used(writer->areas, place + page->entries * sizeof(uint16));
	note_page(writer, fetch_att(room + writer->offsets[0], writer->column->typbyval,
								writer->column->typlen));
	begin_next_page(writer, end_rank);
}

static void
add_whole(RtscanDictionaryWriter *writer, Datum value, uint32 rank)
{
	const RtscanColumn *column = writer->column;
	RtscanDictionaryPage *page = &writer->page;
	Size		size = rtscan_value_size(column, value);
	Size		place = att_align_datum(page->values_end, column->typalign, column->typlen, value);

	if (TYPEALIGN(sizeof(uint32), place + size) +
		(page->entries + 1) * (sizeof(uint32) + sizeof(uint16)) > RTSCAN_CHUNK_BYTES)
	{
		emit_whole_page(writer, rank);
		place = att_align_datum(page->values_end, column->typalign, column->typlen, value);
	}
	memset(writer->values + page->values_end, 0, place - page->values_end);
	rtscan_store_value(column, writer->values + place, value, size);
	memset(writer->values + place + size, 0,
		   TYPEALIGN(sizeof(uint32), place + size) - (place + size));
	writer->offsets[page->entries] = place;
	writer->value_ranks[page->entries] = rank;
	page->entries++;
	page->values_end = place + size;
}

/* ---------------------------------------------------------------- packed pages and whole values */

void
rtscan_dictionary_add(RtscanDictionaryWriter *writer, uint64 value, uint32 rank)
{
	writer->entries++;
	if (writer->packed)
		add_packed(writer, value, rank);
	else
		add_whole(writer, (Datum) value, rank);
}

/* Write the entries that are left of a level.  Returns the number of pages of the whole level. */
static uint32
end_level(RtscanDictionaryWriter *writer, uint32 end_rank)
{
	if (writer->packed && writer->open > 0)
		close_block(writer);
	if (writer->page.entries > 0 && writer->packed)
		emit_packed_page(writer, end_rank);
	else if (writer->page.entries > 0)
		emit_whole_page(writer, end_rank);
	return writer->pages;
}

/*
 * Write the next level, which has an entry for each page of the level written last.  Returns the number of pages of
 * the new level.
 */
static uint32
write_inner_level(RtscanDictionaryWriter *writer, uint32 distinct)
{
	uint32		n = writer->pages;
	uint64	   *values = writer->page_values;
	uint32	   *codes = writer->page_codes;

	writer->inner = true;
	writer->capacity = n;
	writer->page_values = palloc(n * sizeof(uint64));
	writer->page_codes = palloc(n * sizeof(uint32));
	writer->pages = 0;
	writer->entries = 0;
	writer->page = (RtscanDictionaryPage) {.values_end = sizeof(RtscanDictionaryPage)};
	for (uint32 i = 0; i < n; i++)
		rtscan_dictionary_add(writer, values[i], codes[i]);
	return end_level(writer, distinct);
}

/* Would another level have less than about a quarter of the pages of the level written last? */
static bool
next_level_is_smaller(const RtscanDictionaryWriter *writer)
{
	Size		bytes = 0;

	if (writer->packed)
		return true;
	for (uint32 i = 0; i < writer->pages; i++)
		bytes += MAXALIGN(rtscan_value_size(writer->column, (Datum) writer->page_values[i])) +
			sizeof(uint32) + sizeof(uint16);
	return bytes / RTSCAN_CHUNK_BYTES < writer->pages / 4;
}

void
rtscan_dictionary_end(RtscanDictionaryWriter *writer, uint32 nonnull, RtscanColumnHeader *header)
{
	header->distinct = writer->entries;
	header->levels = 0;
	if (writer->entries > 0)
	{
		header->level_pages[header->levels++] = end_level(writer, nonnull);
		while (writer->pages > 1 && header->levels < RTSCAN_DICTIONARY_LEVELS &&
			   next_level_is_smaller(writer))
			header->level_pages[header->levels++] = write_inner_level(writer, header->distinct);
	}
	header->dictionary = rtscan_area_end(writer->areas);
	pfree(writer);
}

void
rtscan_write_sparse_dictionary(RtscanAreaWriter *areas, const RtscanSortedColumn *column, RtscanColumnHeader *header)
{
	RtscanDictionaryWriter *dictionary = rtscan_dictionary_writer(areas, column->type);

	for (uint32 rank = 0, next = 0; rank < column->nonnull; rank++)
		if (rank >= next && rtscan_starts_value(column, rank))
		{
			rtscan_dictionary_add(dictionary, rtscan_value_at(column, rank), rank);
			next = rank + RTSCAN_PLAIN_STEP;
		}
	rtscan_dictionary_end(dictionary, column->nonnull, header);
}
