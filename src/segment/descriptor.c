/* SPDX-License-Identifier: PostgreSQL */
/*
 * descriptor.c
 *		Read, check and write descriptors of segments.
 */
#include "segment/segment.h"

#include "miscadmin.h"
#include "row/decimal.h"
#include "segment/distinct.h"
#include "segment/frames.h"
#include "settings.h"
#include "storage/allocate.h"
#include "utils/memutils.h"

/* Alignment of the parts of a descriptor, in bytes. */
#define PART_ALIGN		8

/* ---------------------------------------------------------------- parsing */

/* The rest of a descriptor that has not been parsed. */
typedef struct Cursor
{
	const char *at;
	Size		left;
} Cursor;

/*
 * Return the next "count" elements of "size" bytes each, and move the cursor behind them.  Returns NULL if fewer
 * elements are left.
 */
static const void *
take(Cursor *cursor, Size size, Size count)
{
	const char *part = cursor->at;
	Size		bytes;

	if (count > 0 && size > cursor->left / count)
		return NULL;
	bytes = TYPEALIGN(PART_ALIGN, size * count);
	if (bytes > cursor->left)
		return NULL;
	cursor->at += bytes;
	cursor->left -= bytes;
	return part;
}

/* Return an array of "count" integers.  It is not copied, since the segment keeps the content of its descriptor. */
static const uint32 *
take_array(Cursor *cursor, Size count)
{
	return take(cursor, sizeof(uint32), count);
}

static bool
strictly_ascending(const uint32 *values, Size count)
{
	for (Size i = 1; i < count; i++)
		if (values[i - 1] >= values[i])
			return false;
	return true;
}

/* Is an area within the segment's pages? */
static bool
area_fits(const RtscanSegment *segment, const RtscanArea *area)
{
	return area->pages == 0 ||
		(area->page < segment->header.pages && area->pages <= segment->header.pages - area->page &&
		 area->offset < RTSCAN_CHUNK_BYTES && area->offset % PART_ALIGN == 0 &&
		 (area->kind == RTSCAN_PAGE_SHARED ? area->pages == 1 : area->offset == 0));
}

/* Is an area within the segment, and does it have exactly the pages that "count" elements of "width" bytes take? */
static bool
area_holds(const RtscanSegment *segment, const RtscanArea *area, uint32 count, uint32 width)
{
	uint32		per_page = rtscan_per_page(width);

	return area_fits(segment, area) && area->pages == (count + per_page - 1) / per_page &&
		area->offset + Min(count, per_page) * width <= RTSCAN_CHUNK_BYTES;
}

static bool
parse_header(Cursor *cursor, RtscanSegment *segment, uint64 id, const RtscanSchema *schema)
{
	const RtscanSegmentHeader *header = take(cursor, sizeof(*header), 1);

	if (header == NULL || header->id != id || header->rows == 0 ||
		header->rows > RTSCAN_SEGMENT_ROWS || header->nkeys != schema->nkeys ||
		header->ncolumns != schema->ncolumns)
		return false;
	segment->header = *header;
	segment->chunks = rtscan_chunks(header->rows);
	return area_fits(segment, &header->tidmap) && header->tidmap.pages > 0;
}

static bool
parse_extents(Cursor *cursor, RtscanSegment *segment, BlockNumber nblocks)
{
	uint32		n = segment->header.pages;
	const RtscanExtent *extents = take(cursor, sizeof(RtscanExtent), segment->header.extents);
	uint32		ordinal = 0;

	if (extents == NULL || n > nblocks)
		return false;
	segment->blocks = palloc(n * sizeof(BlockNumber));
	segment->recent = palloc0(n * sizeof(Buffer));
	for (uint32 i = 0; i < segment->header.extents; i++)
	{
		if (extents[i].count > n - ordinal || extents[i].first >= nblocks ||
			extents[i].count > nblocks - extents[i].first)
			return false;
		for (uint32 k = 0; k < extents[i].count; k++)
			segment->blocks[ordinal++] = extents[i].first + k;
	}
	return ordinal == n;
}

static bool
parse_tidmap(Cursor *cursor, RtscanSegment *segment)
{
	segment->tidmap_rows = take_array(cursor, segment->header.tidmap.pages);
	return segment->tidmap_rows && segment->tidmap_rows[0] == 0 &&
		strictly_ascending(segment->tidmap_rows, segment->header.tidmap.pages) &&
		segment->tidmap_rows[segment->header.tidmap.pages - 1] < segment->header.rows;
}

/* Parse the states of the pages of bits, and number the stored pages in the order in which they were written. */
static bool
parse_vectors(Cursor *cursor, RtscanSegment *segment, RtscanSegmentColumn *column)
{
	uint32		n = column->header.vectors * segment->chunks;
	const uint8 *states = take(cursor, 1, (n + 3) / 4);
	uint32		stored = 0;

	if (states == NULL)
		return false;
	column->vector_pages = palloc(Max(n, 1) * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
	{
		switch ((states[i / 4] >> (i % 4 * 2)) & 3)
		{
			case RTSCAN_VECTOR_ZEROS:
				column->vector_pages[i] = RTSCAN_PAGE_ZEROS;
				break;
			case RTSCAN_VECTOR_ONES:
				column->vector_pages[i] = RTSCAN_PAGE_ONES;
				break;
			case RTSCAN_VECTOR_STORED:
				column->vector_pages[i] = stored++;
				break;
			default:
				return false;
		}
	}
	return column->header.sieve.pages == stored && area_fits(segment, &column->header.sieve) &&
		column->header.sieve.kind == RTSCAN_PAGE_SIEVE;
}

static bool
dictionary_fits(const RtscanSegment *segment, const RtscanColumnHeader *header)
{
	uint32		pages = 0;

	if (header->levels > RTSCAN_DICTIONARY_LEVELS || !area_fits(segment, &header->dictionary))
		return false;
	for (uint32 i = 0; i < header->levels; i++)
	{
		if (header->level_pages[i] == 0 || header->level_pages[i] > header->dictionary.pages)
			return false;
		pages += header->level_pages[i];
	}
	return pages == header->dictionary.pages && (header->levels == 0) == (header->distinct == 0);
}

/* Are the members of a column's header consistent with its flags and with the number of rows? */
static bool
column_is_sane(const RtscanSegment *segment, const RtscanColumnHeader *header)
{
	uint32		rows = segment->header.rows;
	bool		heap_order = (header->flags & RTSCAN_COLUMN_HEAP_ORDER) != 0;
	bool		exact = (header->flags & RTSCAN_COLUMN_EXACT) != 0;
	uint32		high;

	if (rtscan_has_images(header) && (rtscan_is_plain(header) || (header->flags & RTSCAN_COLUMN_IDENTICAL)))
		return false;
	if (header->nonnull > rows || header->distinct > header->nonnull ||
		(header->nonnull > 0 && header->distinct == 0) || !dictionary_fits(segment, header))
		return false;
	if (header->bins > 0 && (header->bins > RTSCAN_MAX_BINS || header->radix == 0 ||
							 header->radix > header->bins))
		return false;
	high = header->bins > 0 ? (header->bins + header->radix - 1) / header->radix : 0;
	if (header->vectors != (header->bins > 0 ? high - 1 + header->radix - 1 : 0))
		return false;
	if (heap_order)
		return header->bins == 0 && header->codes.pages == 0 && header->order.pages == 0 && !rtscan_is_plain(header);
	if (rtscan_is_plain(header))
		return header->bins > 0 && rows >= RTSCAN_CHUNK_ROWS && !exact && header->codes.pages == 0 &&
			area_holds(segment, &header->order, rows, 3);
	if (header->code_bytes < 1 || header->code_bytes > 3 ||
		((uint64) header->distinct) >> (8 * header->code_bytes) != 0 ||
		!area_holds(segment, &header->codes, rows, header->code_bytes))
		return false;
	if ((header->bins > 0) != (rows >= RTSCAN_CHUNK_ROWS))
		return false;
	if (header->bins > 0 && !exact)
		return area_holds(segment, &header->order, rows, 3);
	return header->order.pages == 0;
}

/*
 * Parse the first row of each page of an area of whole values, which has n rows in all.  For a dictionary, parse the
 * first code of each page; n is the number of codes.
 */
static bool
parse_firsts(Cursor *cursor, const RtscanSegment *segment, RtscanSegmentInclude *include, const RtscanArea *area,
			 uint32 n)
{
	include->first_rows = take_array(cursor, area->pages);
	if (include->first_rows == NULL || !area_fits(segment, area))
		return false;
	if (area->pages == 0)
		return n == 0;
	return include->first_rows[0] == 0 && strictly_ascending(include->first_rows, area->pages) &&
		include->first_rows[area->pages - 1] < n;
}

/* Parse the areas of a PLAIN INCLUDE column. */
static bool
parse_plain(Cursor *cursor, RtscanSegment *segment, RtscanSegmentInclude *include, const RtscanColumn *column)
{
	const RtscanIncludeHeader *header = &include->header;
	uint32		rows = segment->header.rows;

	if (header->nulls.pages > 0 && !area_holds(segment, &header->nulls, (rows + 7) / 8, 1))
		return false;
	if (header->width > 0)
		return header->width == rtscan_packed_width(column) && header->scale <= RTSCAN_MAX_SCALE &&
			area_holds(segment, &header->values, rows, header->width);
	return column->typlen <= 0 && parse_firsts(cursor, segment, include, &header->values, rows);
}

static bool
parse_frames(Cursor *cursor, RtscanSegment *segment, RtscanFrames *frames, const RtscanArea *area)
{
	uint32		pages;

	frames->area = *area;
	frames->frames = take(cursor, sizeof(RtscanFrame), segment->chunks);
	if (frames->frames == NULL)
		return false;
	frames->pages = palloc(segment->chunks * sizeof(uint32));
	return rtscan_frames_are_sane(frames->frames, segment->header.rows, frames->pages, &pages) &&
		pages == area->pages &&
		area_fits(segment, area) &&
		area->offset + rtscan_frames_last_bytes(frames, segment->header.rows) <= RTSCAN_CHUNK_BYTES;
}

/* Are all codes less than the number of the dictionary's values, and do they have 16 bits at most? */
static bool
codes_are_sane(const RtscanSegment *segment, const RtscanSegmentInclude *include)
{
	for (uint32 chunk = 0; chunk < segment->chunks; chunk++)
	{
		const RtscanFrame *frame = &include->frames.frames[chunk];

		if (frame->least < 0 || frame->bits > 16 ||
			(frame->greatest >= include->codes.distinct &&
			 frame->nulls < rtscan_chunk_rows(segment->header.rows, chunk)))
			return false;
	}
	return true;
}

static bool
parse_codes(Cursor *cursor, RtscanSegment *segment, RtscanSegmentInclude *include)
{
	const RtscanCodesHeader *codes;

	if (!parse_frames(cursor, segment, &include->frames, &include->header.values) ||
		(codes = take(cursor, sizeof(*codes), 1)) == NULL)
		return false;
	include->codes = *codes;
	if (codes->distinct > RTSCAN_MOST_CODES || !codes_are_sane(segment, include))
		return false;
	if (include->header.exact != RTSCAN_EXACT_NONE)
		return area_holds(segment, &codes->dictionary, codes->distinct, sizeof(int64));
	return parse_firsts(cursor, segment, include, &codes->dictionary, codes->distinct);
}

/* Does the kind of exact integers in the header fit the column's type and storage? */
static bool
exact_is_sane(const RtscanIncludeHeader *header, const RtscanColumn *column)
{
	if (header->exact == RTSCAN_EXACT_DECIMAL)
		return column->numeric && header->scale <= RTSCAN_MAX_SCALE;
	if (header->exact == RTSCAN_EXACT_NONE)
		return header->storage == RTSCAN_STORED_CODES && !column->typbyval;
	return rtscan_exact_kind_fits(header->exact, column->typlen, column->typbyval);
}

static bool
parse_include(Cursor *cursor, RtscanSegment *segment, RtscanSegmentInclude *include,
			  const RtscanColumn *column)
{
	const RtscanIncludeHeader *header = take(cursor, sizeof(*header), 1);

	if (header == NULL)
		return false;
	include->header = *header;
	if (header->storage == RTSCAN_STORED_PLAIN)
		return parse_plain(cursor, segment, include, column);
	if (!exact_is_sane(header, column))
		return false;
	if (header->storage == RTSCAN_STORED_FRAMES)
		return parse_frames(cursor, segment, &include->frames, &header->values);
	return header->storage == RTSCAN_STORED_CODES && parse_codes(cursor, segment, include);
}

/* Parse the values of a plain key column. */
static bool
parse_plain_values(Cursor *cursor, RtscanSegment *segment, RtscanSegmentInclude *values, const RtscanColumn *type)
{
	return type->key_kind != RTSCAN_KEY_NONE && type->exact_sorts && parse_include(cursor, segment, values, type) &&
		values->header.storage == RTSCAN_STORED_FRAMES && values->header.exact == type->exact;
}

/* Parse the boundaries and the states of the vectors' pages. */
static bool
parse_sieve(Cursor *cursor, RtscanSegment *segment, RtscanSegmentColumn *column)
{
	uint32		bins = column->header.bins;

	column->boundaries = take_array(cursor, bins + 1);
	return column->boundaries && column->boundaries[0] == 0 &&
		column->boundaries[bins] == segment->header.rows &&
		strictly_ascending(column->boundaries, bins + 1) &&
		parse_vectors(cursor, segment, column);
}

static bool
parse_column(Cursor *cursor, RtscanSegment *segment, RtscanSegmentColumn *column, const RtscanColumn *type)
{
	const RtscanColumnHeader *header = take(cursor, sizeof(*header), 1);

	if (header == NULL)
		return false;
	column->header = *header;
	return column_is_sane(segment, header) && (header->bins == 0 || parse_sieve(cursor, segment, column)) &&
		(!rtscan_is_plain(header) || parse_plain_values(cursor, segment, &column->values, type)) &&
		(!rtscan_has_images(header) || parse_include(cursor, segment, &column->images, type));
}

/* Parse a descriptor into the current memory context.  Returns false if the descriptor contradicts itself. */
static bool
parse_segment(Cursor *cursor, RtscanSegment *segment, uint64 id, const RtscanSchema *schema,
			  BlockNumber nblocks)
{
	if (!parse_header(cursor, segment, id, schema) ||
		!parse_extents(cursor, segment, nblocks) || !parse_tidmap(cursor, segment))
		return false;

	segment->columns = palloc0(schema->nkeys * sizeof(RtscanSegmentColumn));
	for (int i = 0; i < schema->nkeys; i++)
		if (!parse_column(cursor, segment, &segment->columns[i], &schema->columns[i]))
			return false;

	segment->includes = palloc0((schema->ncolumns - schema->nkeys + 1) * sizeof(RtscanSegmentInclude));
	for (int i = schema->nkeys; i < schema->ncolumns; i++)
		if (!parse_include(cursor, segment, &segment->includes[i - schema->nkeys],
						   &schema->columns[i]))
			return false;
	return true;
}

/* ---------------------------------------------------------------- loading */

/*
 * Return the bytes of memory that a segment takes.  The fingers of its plain columns are counted, although they are
 * allocated only at the first lookup.
 */
static Size
memory_of(const RtscanSegment *segment)
{
	Size		memory = MemoryContextMemAllocated(segment->context, true);

	for (int i = 0; i < segment->header.nkeys; i++)
		if (rtscan_is_plain(&segment->columns[i].header))
			memory += RTSCAN_FINGERS * sizeof(RtscanFinger);
	return memory;
}

/*
 * Append the payloads of a descriptor's pages to "content".  If a page does not belong to the descriptor, raises an
 * error or, if "soft" is true, returns false.
 */
static bool
read_descriptor(Relation index, const RtscanEntry *entry, bool soft, StringInfo content)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	BlockNumber block = entry->root;

	for (uint32 ordinal = 0; block != InvalidBlockNumber; ordinal++)
	{
		Buffer		buffer;
		Page		page;
		bool		ours;

		if (block >= nblocks && soft)
			return false;
		buffer = ReadBuffer(index, block);
		page = BufferGetPage(buffer);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		ours = rtscan_page_is(page, RTSCAN_PAGE_DESCRIPTOR, entry->id, ordinal);
		if (ours)
		{
			appendBinaryStringInfo(content, rtscan_page_payload(page), rtscan_page_used(page));
			block = rtscan_page_opaque(page)->next;
		}
		UnlockReleaseBuffer(buffer);
		if (!ours && soft)
			return false;
		if (!ours)
			rtscan_page_mismatch(index, block, RTSCAN_PAGE_DESCRIPTOR);
	}
	return true;
}

/*
 * Make a segment from the content of a descriptor, in a memory context of its own.  Returns NULL if the content
 * contradicts itself.  The context starts small, since a session may have thousands of segments, and each page of
 * memory costs the session's first query a page fault.
 */
static RtscanSegment *
make_segment(Relation index, const RtscanEntry *entry, const StringInfoData *content)
{
	const RtscanSchema *schema = rtscan_schema(index);
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	MemoryContext context = GenerationContextCreate(CurrentMemoryContext, "rtscan segment", ALLOCSET_START_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RtscanSegment *segment = palloc0(sizeof(RtscanSegment));
	Cursor		cursor = {memcpy(palloc(Max(content->len, 1)), content->data, content->len), content->len};
	bool		parsed = parse_segment(&cursor, segment, entry->id, schema, nblocks) &&
		segment->header.rows == entry->rows;

	MemoryContextSwitchTo(old);
	if (!parsed)
	{
		MemoryContextDelete(context);
		return NULL;
	}
	segment->context = context;
	segment->memory = memory_of(segment);
	return segment;
}

RtscanSegment *
rtscan_load_segment(Relation index, const RtscanEntry *entry, bool soft)
{
	RtscanSegment *segment = NULL;
	StringInfoData content;

	initStringInfo(&content);
	if (read_descriptor(index, entry, soft, &content))
	{
		segment = make_segment(index, entry, &content);
		if (segment == NULL && !soft)
			rtscan_page_corrupted(index, entry->root, "The descriptor of segment " UINT64_FORMAT " contradicts itself.",
								  entry->id);
	}
	pfree(content.data);
	return segment;
}

/* ---------------------------------------------------------------- writing, freeing */

void
rtscan_append_part(StringInfo content, const void *part, Size size)
{
	static const char padding[PART_ALIGN];

	appendBinaryStringInfo(content, part, size);
	appendBinaryStringInfo(content, padding, TYPEALIGN(PART_ALIGN, size) - size);
}

BlockNumber
rtscan_write_descriptor(RtscanWriting *writing, StringInfo content)
{
	int			pages = (content->len + RTSCAN_CHUNK_BYTES - 1) / RTSCAN_CHUNK_BYTES;
	BlockNumber next = InvalidBlockNumber;

	for (int ordinal = pages - 1; ordinal >= 0; ordinal--)
	{
		int			from = ordinal * RTSCAN_CHUNK_BYTES;

		next = rtscan_write_taken_page(writing, RTSCAN_PAGE_DESCRIPTOR, writing->id, ordinal, content->data + from,
									   Min(content->len - from, RTSCAN_CHUNK_BYTES), next);
	}
	return next;
}

List *
rtscan_descriptor_blocks(Relation index, const RtscanEntry *entry)
{
	return rtscan_chain_blocks(index, RTSCAN_PAGE_DESCRIPTOR, entry->id, entry->root);
}
