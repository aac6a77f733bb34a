/* SPDX-License-Identifier: PostgreSQL */
/*
 * segment.c
 *		Keep the descriptors of segments in a backend's memory, and read pages of segments.
 */
#include "segment/segment.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/dead.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

/* The most memory that the descriptors kept by a backend may take between transactions, in bytes. */
#define KEEP_MEMORY		((Size) 64 * 1024 * 1024)

/* Number of cache lines at the beginning of a page's payload that rtscan_prefetch_page() prefetches. */
#define PREFETCH_LINES	12

/* ---------------------------------------------------------------- the backend's descriptors */

/*
 * The key of a kept descriptor.  It includes the file, since uuid and id are not unique: ALTER INDEX ... SET
 * TABLESPACE copies the file, and new segments of the copy get the next ids.  If the command is rolled back, new
 * segments of the original file get the same ids as those of the copy.
 */
typedef struct KeptKey
{
	RelFileLocator file;		/* the index's main file */
	uint32		unused;			/* zero, since keys are compared as bytes */
	pg_uuid_t	uuid;			/* the index's uuid, from its metapage */
	uint64		id;				/* the segment's id */
} KeptKey;

/* A descriptor that the backend keeps. */
typedef struct KeptSegment
{
	KeptKey		key;
	uint64		last_used;		/* value of "uses" at the last use */
	RtscanSegment *segment;
} KeptSegment;

static HTAB *kept_segments;		/* all kept descriptors; NULL before the first one */
static Size kept_memory;		/* bytes of all kept descriptors */
static uint64 uses;				/* number of uses so far, a clock for last_used */

/* Drop the least recently used descriptors until the others fit into KEEP_MEMORY. */
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

/*
 * XactCallback.  Readers hold pointers to descriptors until the transaction ends, so descriptors are dropped only at
 * its end.
 */
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

/* ---------------------------------------------------------------- readers */

/*
 * Return the descriptor of a segment, and read it if the backend does not keep it yet.  If "soft" is true, returns
 * NULL if the descriptor cannot be read.
 */
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
		RtscanSegment *segment = rtscan_load_segment(index, entry, soft);

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
	reader->trusts = !reader->lock && !soft;
	reader->context = CurrentMemoryContext;
	if (image == NULL)
		image = rtscan_read_image(index, NULL, soft);
	if (image)
		reader->segment = keep_segment(index, entry, &image->meta.uuid, soft);
	return reader->segment != NULL;
}

/* ---------------------------------------------------------------- reading pages */

/* Pin a page if it is still in the buffer where the backend found it last.  Returns false if it is not. */
static bool
pin_recent(RtscanReader *reader, uint32 ordinal)
{
	Buffer		recent = reader->segment->recent[ordinal];

	if (!BufferIsValid(recent) ||
		!ReadRecentBuffer(reader->index->rd_locator, MAIN_FORKNUM, reader->segment->blocks[ordinal], recent))
		return false;
	pgstat_count_buffer_read(reader->index);
	pgstat_count_buffer_hit(reader->index);
	return true;
}

/*
 * Lock a page, if the reader locks pages, and check that it is the expected one.  If it is not, or if it cannot be
 * locked, releases it and returns false.  A page cannot be locked if this backend has locked it already: a damaged
 * descriptor can give two pages the same block.
 */
static bool
lock_and_check(RtscanReader *reader, const RtscanArea *area, uint32 ordinal, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);

	if (reader->lock && !rtscan_lock_page(buffer, BUFFER_LOCK_SHARE))
	{
		ReleaseBuffer(buffer);
		return false;
	}
	if (rtscan_page_is(page, area->kind, reader->segment->header.id, ordinal) && rtscan_page_used(page) >= area->offset)
		return true;
	rtscan_release(reader, buffer);
	return false;
}

const char *
rtscan_get_page(RtscanReader *reader, const RtscanArea *area, uint32 i, Buffer *buffer, Size *used)
{
	RtscanSegment *segment = reader->segment;
	uint32		ordinal = area->page + i;
	bool		checked = false;
	Page		page;

	if (unlikely(i >= area->pages))
		rtscan_page_corrupted(reader->index, segment->blocks[area->page],
							  "The segment refers to page %u of an area that has %u pages.", i, area->pages);
	reader->pages_read++;
	if (likely(pin_recent(reader, ordinal)))
	{
		*buffer = segment->recent[ordinal];
		checked = reader->trusts;
	}
	else
		*buffer = ReadBuffer(reader->index, segment->blocks[ordinal]);
	page = BufferGetPage(*buffer);
	if (unlikely(!checked && !lock_and_check(reader, area, ordinal, *buffer)))
	{
		if (reader->soft)
			return NULL;
		rtscan_page_mismatch(reader->index, segment->blocks[ordinal], area->kind);
	}
	segment->recent[ordinal] = *buffer;
	if (used)
		*used = Max(rtscan_page_used(page), area->offset) - area->offset;
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
	if (!reader->trusts)
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

/* ---------------------------------------------------------------- freeing */

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
