/*
 * dictionary.c
 *		Write dictionaries, and look values up in them.
 */
#include "encode/dictionary.h"

#include "access/tupmacs.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/datum.h"

#define BLOCK	RTSCAN_DICTIONARY_BLOCK

/* ---------------------------------------------------------------- writing */

/* The entries of a page, or of one block of it, while it is being filled. */
struct RtscanDictionaryWriter
{
	RtscanAreaWriter *areas;
	const RtscanColumn *column;
	bool		packed;

	RtscanDictionaryPage page;
	uint32		entries;		/* of this level, so far */

	/* packed: the open block, then those that are closed */
	uint32		open;
	uint64		keys[BLOCK];
	uint32		ranks[BLOCK];
	RtscanDictionaryBlock blocks[RTSCAN_CHUNK_BYTES / sizeof(RtscanDictionaryBlock)];
	char		data[RTSCAN_CHUNK_BYTES + sizeof(uint64)];
	uint32		data_bytes;

	/* whole values: as they will stand in the page, from its beginning */
	char		values[RTSCAN_CHUNK_BYTES];
	uint32		value_ranks[RTSCAN_CHUNK_BYTES / sizeof(uint16)];
	uint16		offsets[RTSCAN_CHUNK_BYTES / sizeof(uint16)];

	/* first value and first (leaf) code of each page of this level: the next level's entries */
	bool		inner;
	uint32		pages;
	uint32		capacity;
	uint64	   *page_values;
	uint32	   *page_codes;
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

/* Remember a page's first value, for the level above. */
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

/* ---- packed pages */

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

/* The header of the open block, and how many bytes its gaps take. */
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

/* ---- whole values */

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
store_value(const RtscanColumn *column, char *place, Datum value, Size size)
{
	if (column->typbyval)
		store_att_byval(place, value, column->typlen);
	else
		memcpy(place, DatumGetPointer(value), size);
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
	store_value(column, writer->values + place, value, size);
	memset(writer->values + place + size, 0,
		   TYPEALIGN(sizeof(uint32), place + size) - (place + size));
	writer->offsets[page->entries] = place;
	writer->value_ranks[page->entries] = rank;
	page->entries++;
	page->values_end = place + size;
}

/* ---- both */

void
rtscan_dictionary_add(RtscanDictionaryWriter *writer, uint64 value, uint32 rank)
{
	writer->entries++;
	if (writer->packed)
		add_packed(writer, value, rank);
	else
		add_whole(writer, (Datum) value, rank);
}

/* Write what is left of a level; returns how many pages it has. */
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

/* The pages of the level just written become the entries of the next. */
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

void
rtscan_dictionary_end(RtscanDictionaryWriter *writer, uint32 nonnull, RtscanColumnHeader *header)
{
	header->distinct = writer->entries;
	header->levels = 0;
	if (writer->entries > 0)
	{
		header->level_pages[header->levels++] = end_level(writer, nonnull);
		while (writer->pages > 1)
			header->level_pages[header->levels++] = write_inner_level(writer, header->distinct);
	}
	header->dictionary = rtscan_area_end(writer->areas);
	pfree(writer);
}

/* ---------------------------------------------------------------- reading */

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

/* ---- packed pages */

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
key_is_before(const RtscanProbe *probe, bool after, uint64 key)
{
	int32		order;

	if (probe->has_key)
		return after ? key <= probe->key : key < probe->key;
	order = DatumGetInt32(FunctionCall2Coll(probe->compare, probe->column->collation,
											rtscan_key_decode(probe->column->key_kind, key),
											probe->value));
	return after ? order <= 0 : order < 0;
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

		if (key_is_before(probe, after, view->blocks[middle].key))
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

		if (key_is_before(probe, after, keys[middle]))
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

/* ---- whole values */

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
		int32		order;

		if (!whole_value(view, middle, &value))
			return false;
		order = DatumGetInt32(FunctionCall2Coll(probe->compare, probe->column->collation,
												value, probe->value));
		if (after ? order <= 0 : order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*entries = low;
	*rank = whole_rank(view, low);
	return true;
}

/* ---- the tree */

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

bool
rtscan_dictionary_find(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
					   RtscanPosition *position)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;
	uint32		page = 0;

	*position = (RtscanPosition) {0, 0};
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
	return true;
}

/* How many entries of a page have a rank (inner: a first code) that is not above target. */
static bool
count_ranks(const PageView *view, uint32 target, uint32 *place)
{
	*place = 0;
	for (uint32 b = 0; b < view->page.blocks && view->blocks[b].rank <= target; b++)
	{
		uint64		keys[BLOCK];
		uint32		ranks[BLOCK];
		uint32		n = unpack_block(view, b, keys, ranks);

		if (n == 0)
			return false;
		for (uint32 k = 0; k < n && ranks[k] <= target; k++)
			(*place)++;
	}
	for (uint32 i = 0; view->page.blocks == 0 && i < view->page.entries; i++)
		if (whole_rank(view, i) <= target)
			*place = i + 1;
	return true;
}

/* The number of the leaf that has a code. */
static bool
find_leaf(RtscanReader *reader, int column, const RtscanColumn *type, uint32 code, uint32 *page)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;

	*page = 0;
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

/* Visit the entries of a leaf with codes from first up to last. */
static bool
visit_packed(const PageView *view, uint32 first, uint32 last,
			 RtscanDictionaryVisitor visitor, void *arg)
{
	for (uint32 b = 0; b < view->page.blocks; b++)
	{
		uint32		code = view->page.first_code + b * BLOCK;
		uint32		next = b + 1 < view->page.blocks ? view->blocks[b + 1].rank : view->page.end_rank;
		uint64		keys[BLOCK];
		uint32		ranks[BLOCK];
		uint32		n;

		if (code >= last || code + BLOCK <= first)
			continue;
		n = unpack_block(view, b, keys, ranks);
		if (n == 0)
			return false;
		for (uint32 k = 0; k < n; k++)
			if (code + k >= first && code + k < last)
				visitor(code + k, keys[k], ranks[k], k + 1 < n ? ranks[k + 1] : next, arg);
	}
	return true;
}

static bool
visit_whole(const PageView *view, uint32 first, uint32 last,
			RtscanDictionaryVisitor visitor, void *arg)
{
	uint32		base = view->page.first_code;

	for (uint32 code = Max(first, base); code < Min(last, base + view->page.entries); code++)
	{
		Datum		value;

		if (!whole_value(view, code - base, &value))
			return false;
		visitor(code, (uint64) value, whole_rank(view, code - base),
				whole_rank(view, code - base + 1), arg);
	}
	return true;
}

bool
rtscan_dictionary_visit(RtscanReader *reader, int column, const RtscanColumn *type,
						uint32 first, uint32 last, RtscanDictionaryVisitor visitor, void *arg)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;
	uint32		page;

	if (first >= last)
		return true;
	if (!find_leaf(reader, column, type, first, &page))
		return false;
	for (uint32 code = first; code < last && page < header->level_pages[0]; page++)
	{
		PageView	view;
		bool		packed = type->key_kind != RTSCAN_KEY_NONE;

		CHECK_FOR_INTERRUPTS();
		if (!open_page(&view, reader, column, type, page))
			return false;
		if (!(packed ? visit_packed : visit_whole) (&view, first, last, visitor, arg))
		{
			fault(&view, "An entry of a dictionary page lies outside of it.");
			return false;
		}
		code = view.page.first_code + view.page.entries;
		close_page(&view);
	}
	return true;
}

/* RtscanDictionaryVisitor: note the position of the one value visited. */
static void
note_position(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	*(RtscanPosition *) arg = (RtscanPosition) {code, first_rank};
}

bool
rtscan_dictionary_position(RtscanReader *reader, int column, const RtscanColumn *type,
						   uint32 code, RtscanPosition *position)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;

	*position = (RtscanPosition) {header->distinct, header->nonnull};
	return code >= header->distinct ||
		rtscan_dictionary_visit(reader, column, type, code, code + 1, note_position, position);
}
