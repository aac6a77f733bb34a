/*
 * segment.c
 *		Read, keep and write descriptors of segments, and read their pages.
 */
#include "storage/segment.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "encode/decimal.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/recycle.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

/* Descriptors that a backend keeps between transactions, in bytes. */
#define KEEP_MEMORY		((Size) 64 * 1024 * 1024)

#define PART_ALIGN		8

/* Cache lines at the beginning of a page to prefetch. */
#define PREFETCH_LINES	12

/* ---------------------------------------------------------------- the backend's descriptors */

/*
 * A file and an id in it: a copy of the file (ALTER INDEX ... SET TABLESPACE) goes on with the
 * same ids, and if that is rolled back so does the original.
 */
typedef struct KeptKey
{
	RelFileLocator file;
	uint32		unused;
	pg_uuid_t	uuid;
	uint64		id;
} KeptKey;

typedef struct KeptSegment
{
	KeptKey		key;
	uint64		last_used;
	RtscanSegment *segment;
} KeptSegment;

static HTAB *kept_segments;
static Size kept_memory;
static uint64 uses;

/* Drop the descriptors that were not used for the longest time. */
static void
shrink_kept(void)
{
	while (kept_memory > KEEP_MEMORY)
	{
		HASH_SEQ_STATUS status;
		KeptSegment *kept,
				   *oldest = NULL;

		hash_seq_init(&status, kept_segments);
		while ((kept = hash_seq_search(&status)) != NULL)
			if (oldest == NULL || kept->last_used < oldest->last_used)
				oldest = kept;
		kept_memory -= oldest->segment->memory;
		MemoryContextDelete(oldest->segment->context);
		hash_search(kept_segments, &oldest->key, HASH_REMOVE, NULL);
	}
}

/* Readers hold pointers to descriptors only within a transaction. */
static void
end_of_transaction(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
		shrink_kept();
}

static void
init_kept(void)
{
	HASHCTL		ctl = {
		.keysize = sizeof(KeptKey),
		.entrysize = sizeof(KeptSegment),
		.hcxt = CacheMemoryContext,
	};

	kept_segments = hash_create("rtscan segments", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	RegisterXactCallback(end_of_transaction, NULL);
}

/* ---------------------------------------------------------------- parsing */

/* What is left to parse of a descriptor. */
typedef struct Cursor
{
	const char *at;
	Size		left;
} Cursor;

/* The next count elements; NULL if there are not so many. */
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

/* Take an array, and keep a copy of it. */
static uint32 *
take_array(Cursor *cursor, Size count)
{
	const void *part = take(cursor, sizeof(uint32), count);
	uint32	   *copy;

	if (part == NULL)
		return NULL;
	copy = palloc(Max(count, 1) * sizeof(uint32));
	memcpy(copy, part, count * sizeof(uint32));
	return copy;
}

static bool
strictly_ascending(const uint32 *values, Size count)
{
	for (Size i = 1; i < count; i++)
		if (values[i - 1] >= values[i])
			return false;
	return true;
}

/* Does an area lie within the segment's pages? */
static bool
area_fits(const RtscanSegment *segment, const RtscanArea *area)
{
	return area->pages == 0 ||
		(area->page < segment->header.pages && area->pages <= segment->header.pages - area->page &&
		 area->offset < RTSCAN_CHUNK_BYTES && area->offset % PART_ALIGN == 0 &&
		 (area->kind == RTSCAN_PAGE_SHARED ? area->pages == 1 : area->offset == 0));
}

/* Is an area an array of count elements? */
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

/* Give each stored page of bits its ordinal, in the order in which they were written. */
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

/* Are the numbers of a column what its flags and rows make of them? */
static bool
column_is_sane(const RtscanSegment *segment, const RtscanColumnHeader *header)
{
	uint32		rows = segment->header.rows;
	bool		heap_order = (header->flags & RTSCAN_COLUMN_HEAP_ORDER) != 0;
	bool		exact = (header->flags & RTSCAN_COLUMN_EXACT) != 0;
	uint32		high;

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
		return header->bins == 0 && header->codes.pages == 0 && header->order.pages == 0;
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

static bool
parse_column(Cursor *cursor, RtscanSegment *segment, RtscanSegmentColumn *column)
{
	const RtscanColumnHeader *header = take(cursor, sizeof(*header), 1);
	uint32		bins;

	if (header == NULL)
		return false;
	column->header = *header;
	if (!column_is_sane(segment, header))
		return false;
	bins = header->bins;
	if (bins == 0)
		return true;
	column->boundaries = take_array(cursor, bins + 1);
	return column->boundaries && column->boundaries[0] == 0 &&
		column->boundaries[bins] == segment->header.rows &&
		strictly_ascending(column->boundaries, bins + 1) &&
		parse_vectors(cursor, segment, column);
}

static bool
parse_include(Cursor *cursor, RtscanSegment *segment, RtscanSegmentInclude *include,
			  const RtscanColumn *column)
{
	const RtscanIncludeHeader *header = take(cursor, sizeof(*header), 1);
	uint32		rows = segment->header.rows;

	if (header == NULL)
		return false;
	include->header = *header;
	if (header->nulls.pages > 0 && !area_holds(segment, &header->nulls, (rows + 7) / 8, 1))
		return false;
	if (header->width > 0)
		return header->width == rtscan_packed_width(column) && header->scale <= RTSCAN_MAX_SCALE &&
			area_holds(segment, &header->values, rows, header->width);
	if (column->typlen > 0)
		return false;
	include->first_rows = take_array(cursor, header->values.pages);
	return include->first_rows && area_fits(segment, &header->values) &&
		header->values.pages > 0 && include->first_rows[0] == 0 &&
		strictly_ascending(include->first_rows, header->values.pages) &&
		include->first_rows[header->values.pages - 1] < rows;
}

/* Parse a descriptor into the current memory context; false if it contradicts itself. */
static bool
parse_segment(Cursor *cursor, RtscanSegment *segment, uint64 id, const RtscanSchema *schema,
			  BlockNumber nblocks)
{
	if (!parse_header(cursor, segment, id, schema) ||
		!parse_extents(cursor, segment, nblocks) || !parse_tidmap(cursor, segment))
		return false;

	segment->columns = palloc0(schema->nkeys * sizeof(RtscanSegmentColumn));
	for (int i = 0; i < schema->nkeys; i++)
		if (!parse_column(cursor, segment, &segment->columns[i]))
			return false;

	segment->includes = palloc0((schema->ncolumns - schema->nkeys + 1) * sizeof(RtscanSegmentInclude));
	for (int i = schema->nkeys; i < schema->ncolumns; i++)
		if (!parse_include(cursor, segment, &segment->includes[i - schema->nkeys],
						   &schema->columns[i]))
			return false;
	return true;
}

/* ---------------------------------------------------------------- loading */

/* The payloads of a descriptor's pages; false if soft and one is not what it should be. */
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

static RtscanSegment *
load_segment(Relation index, const RtscanEntry *entry, bool soft)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan segment",
												  ALLOCSET_START_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RtscanSegment *segment = palloc0(sizeof(RtscanSegment));
	StringInfoData content;
	bool		parsed = false;

	segment->context = context;
	initStringInfo(&content);
	if (read_descriptor(index, entry, soft, &content))
	{
		Cursor		cursor = {content.data, content.len};

		parsed = parse_segment(&cursor, segment, entry->id, rtscan_schema(index),
							   RelationGetNumberOfBlocks(index)) &&
			segment->header.rows == entry->rows;
		if (!parsed && !soft)
			rtscan_page_corrupted(index, entry->root, "The descriptor of segment " UINT64_FORMAT " contradicts itself.",
								  entry->id);
	}
	MemoryContextSwitchTo(old);
	if (!parsed)
	{
		MemoryContextDelete(context);
		return NULL;
	}
	pfree(content.data);
	segment->memory = MemoryContextMemAllocated(context, true);
	return segment;
}

static RtscanSegment *
keep_segment(Relation index, const RtscanEntry *entry, const pg_uuid_t *uuid, bool soft)
{
	KeptKey		key = {.file = index->rd_locator, .uuid = *uuid, .id = entry->id};
	KeptSegment *kept;
	bool		found;

	if (kept_segments == NULL)
		init_kept();
	kept = hash_search(kept_segments, &key, HASH_FIND, NULL);
	if (kept == NULL)
	{
		RtscanSegment *segment = load_segment(index, entry, soft);

		if (segment == NULL)
			return NULL;
		kept = hash_search(kept_segments, &key, HASH_ENTER, &found);
		kept->segment = segment;
		MemoryContextSetParent(segment->context, CacheMemoryContext);
		kept_memory += segment->memory;
	}
	kept->last_used = ++uses;
	return kept->segment;
}

bool
rtscan_reader_open(RtscanReader *reader, Relation index, const RtscanEntry *entry, bool soft)
{
	RtscanImage *image = (RtscanImage *) index->rd_amcache;

	memset(reader, 0, sizeof(RtscanReader));
	reader->index = index;
	reader->lock = RecoveryInProgress() || TransactionStartedDuringRecovery();
	reader->soft = soft;
	if (image == NULL)
		image = rtscan_read_image(index, NULL, soft);
	if (image)
		reader->segment = keep_segment(index, entry, &image->meta.uuid, soft);
	return reader->segment != NULL;
}

/* ---------------------------------------------------------------- reading pages */

static Buffer
pin_page(RtscanReader *reader, uint32 ordinal)
{
	RtscanSegment *segment = reader->segment;
	Buffer		recent = segment->recent[ordinal];
	BlockNumber block = segment->blocks[ordinal];

	reader->pages_read++;
	if (BufferIsValid(recent) &&
		ReadRecentBuffer(reader->index->rd_locator, MAIN_FORKNUM, block, recent))
	{
		pgstat_count_buffer_read(reader->index);
		pgstat_count_buffer_hit(reader->index);
		return recent;
	}
	return segment->recent[ordinal] = ReadBuffer(reader->index, block);
}

const char *
rtscan_get_page(RtscanReader *reader, const RtscanArea *area, uint32 i, Buffer *buffer, Size *used)
{
	uint32		ordinal = area->page + i;
	Page		page;
	Size		bytes;

	if (unlikely(i >= area->pages))
		rtscan_page_corrupted(reader->index, reader->segment->blocks[area->page],
							  "Page %u of an area of %u pages is asked for.", i, area->pages);
	*buffer = pin_page(reader, ordinal);
	page = BufferGetPage(*buffer);
	if (reader->lock)
		LockBuffer(*buffer, BUFFER_LOCK_SHARE);
	bytes = rtscan_page_used(page);
	if (unlikely(!rtscan_page_is(page, area->kind, reader->segment->header.id, ordinal) ||
				 bytes < area->offset))
	{
		rtscan_release(reader, *buffer);
		if (reader->soft)
			return NULL;
		rtscan_page_mismatch(reader->index, reader->segment->blocks[ordinal], area->kind);
	}
	*used = bytes - area->offset;
	return rtscan_page_payload(page) + area->offset;
}

void
rtscan_release(RtscanReader *reader, Buffer buffer)
{
	if (reader->lock)
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	ReleaseBuffer(buffer);
}

void
rtscan_prefetch_head(RtscanReader *reader, const RtscanArea *area, uint32 i)
{
	Buffer		recent = reader->segment->recent[area->page + i];

	if (!BufferIsValid(recent) || BufferIsLocal(recent))
		return;
	__builtin_prefetch(GetBufferDescriptor(recent - 1), 1);
	__builtin_prefetch(BufferGetPage(recent));
	__builtin_prefetch(rtscan_page_opaque(BufferGetPage(recent)));
}

void
rtscan_prefetch_page(RtscanReader *reader, const RtscanArea *area, uint32 i)
{
	Buffer		recent = reader->segment->recent[area->page + i];
	const char *page;

	if (!BufferIsValid(recent) || BufferIsLocal(recent))
		return;
	page = BufferGetPage(recent);
	rtscan_prefetch_head(reader, area, i);
	for (int line = 0; line < PREFETCH_LINES; line++)
		__builtin_prefetch(rtscan_page_payload((Page) page) + line * 64);
}

void
rtscan_fault(RtscanReader *reader, const RtscanArea *area, uint32 i, const char *detail)
{
	if (!reader->soft)
		rtscan_page_corrupted(reader->index, reader->segment->blocks[area->page + i],
							  "%s", detail);
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
rtscan_dead_blocks(Relation index, const RtscanEntry *entry)
{
	List	   *blocks = rtscan_chain_blocks(index, RTSCAN_PAGE_DEAD_MAP, entry->id, entry->dead);

	if (blocks != NIL)
	{
		Buffer		buffer = rtscan_read_page(index, entry->dead, BUFFER_LOCK_SHARE,
											  RTSCAN_PAGE_DEAD_MAP, entry->id, 0);
		Page		page = BufferGetPage(buffer);
		BlockNumber *map = (BlockNumber *) rtscan_page_payload(page);

		for (Size i = 0; i < rtscan_page_used(page) / sizeof(BlockNumber); i++)
			blocks = lappend_int(blocks, map[i]);
		UnlockReleaseBuffer(buffer);
	}
	return blocks;
}

List *
rtscan_descriptor_blocks(Relation index, const RtscanEntry *entry)
{
	return rtscan_chain_blocks(index, RTSCAN_PAGE_DESCRIPTOR, entry->id, entry->root);
}

List *
rtscan_segment_blocks(Relation index, const RtscanEntry *entry)
{
	List	   *blocks = rtscan_descriptor_blocks(index, entry);
	RtscanReader reader;

	if (blocks != NIL && rtscan_reader_open(&reader, index, entry, true))
		for (uint32 i = 0; i < reader.segment->header.pages; i++)
			blocks = lappend_int(blocks, reader.segment->blocks[i]);
	return list_concat(blocks, rtscan_dead_blocks(index, entry));
}
