/*
 * area.c
 *		Write the areas of a segment.
 */
#include "storage/area.h"

#include "access/xloginsert.h"
#include "catalog/pg_control.h"
#include "miscadmin.h"

#define BATCH_PAGES		RTSCAN_TAKE_PAGES
#define SHARED_ALIGN	64		/* areas on shared pages begin at cache lines */

typedef struct BatchedPage
{
	RtscanPageKind kind;
	uint32		ordinal;
	Size		used;
	char		payload[RTSCAN_CHUNK_BYTES];
} BatchedPage;

struct RtscanAreaWriter
{
	RtscanWriting *writing;

	BlockNumber *blocks;		/* by ordinal */
	uint32		npages;			/* ordinals given out */
	uint32		capacity;

	/* the area being written */
	RtscanArea	area;
	Size		used;			/* of its current page, SIZE_MAX: no current page */
	BatchedPage *current;

	BatchedPage *shared;		/* the shared page that is being filled */
	bool		has_shared;

	int			nbatch;
	BatchedPage *batch;
};

RtscanAreaWriter *
rtscan_area_writer(RtscanWriting *writing)
{
	RtscanAreaWriter *writer = palloc0(sizeof(RtscanAreaWriter));

	writer->writing = writing;
	writer->capacity = 64;
	writer->blocks = palloc(writer->capacity * sizeof(BlockNumber));
	writer->current = palloc0(sizeof(BatchedPage));
	writer->shared = palloc0(sizeof(BatchedPage));
	writer->batch = palloc(BATCH_PAGES * sizeof(BatchedPage));
	writer->used = SIZE_MAX;
	return writer;
}

/* ---------------------------------------------------------------- batches of pages */

static void
fill_page(RtscanAreaWriter *writer, Buffer buffer, const BatchedPage *source)
{
	Page		page = BufferGetPage(buffer);

	rtscan_page_init(page, source->kind, writer->writing->id, source->ordinal);
	memcpy(rtscan_page_payload(page), source->payload, source->used);
	rtscan_page_set_used(page, source->used);
	MarkBufferDirty(buffer);
}

static void
log_pages(Buffer *buffers, int n)
{
	XLogRecPtr	lsn;

	XLogBeginInsert();
	for (int i = 0; i < n; i++)
		XLogRegisterBuffer(i, buffers[i], REGBUF_FORCE_IMAGE | REGBUF_STANDARD);
	lsn = XLogInsert(RM_XLOG_ID, XLOG_FPI);
	for (int i = 0; i < n; i++)
		PageSetLSN(BufferGetPage(buffers[i]), lsn);
}

static void
write_batch(RtscanAreaWriter *writer)
{
	Buffer		buffers[BATCH_PAGES];
	bool		wal = RelationNeedsWAL(writer->writing->index);

	CHECK_FOR_INTERRUPTS();
	if (writer->nbatch == 0)
		return;
	rtscan_take_pages(writer->writing, writer->writing->id, buffers, writer->nbatch);
	if (wal)
		XLogEnsureRecordSpace(BATCH_PAGES - 1, 0);

	START_CRIT_SECTION();
	for (int i = 0; i < writer->nbatch; i++)
		fill_page(writer, buffers[i], &writer->batch[i]);
	if (wal)
		log_pages(buffers, writer->nbatch);
	END_CRIT_SECTION();

	for (int i = 0; i < writer->nbatch; i++)
	{
		writer->blocks[writer->batch[i].ordinal] = BufferGetBlockNumber(buffers[i]);
		UnlockReleaseBuffer(buffers[i]);
	}
	writer->nbatch = 0;
}

static void
add_to_batch(RtscanAreaWriter *writer, const BatchedPage *page)
{
	BatchedPage *room;

	if (writer->nbatch == BATCH_PAGES)
		write_batch(writer);
	room = &writer->batch[writer->nbatch++];
	room->kind = page->kind;
	room->ordinal = page->ordinal;
	room->used = page->used;
	memcpy(room->payload, page->payload, page->used);
}

static uint32
take_ordinal(RtscanAreaWriter *writer)
{
	if (writer->npages == writer->capacity)
	{
		writer->capacity *= 2;
		writer->blocks = repalloc(writer->blocks, writer->capacity * sizeof(BlockNumber));
	}
	writer->blocks[writer->npages] = InvalidBlockNumber;
	return writer->npages++;
}

/* ---------------------------------------------------------------- areas */

void
rtscan_area_begin(RtscanAreaWriter *writer, RtscanPageKind kind)
{
	Assert(writer->used == SIZE_MAX);
	writer->area = (RtscanArea) {.kind = kind};
}

/* The current page is full: it becomes the area's own. */
static void
end_page(RtscanAreaWriter *writer)
{
	BatchedPage *page = writer->current;

	page->kind = writer->area.kind;
	page->ordinal = take_ordinal(writer);
	page->used = writer->used;
	if (writer->area.pages++ == 0)
		writer->area.page = page->ordinal;
	add_to_batch(writer, page);
	writer->used = SIZE_MAX;
}

char *
rtscan_area_room(RtscanAreaWriter *writer)
{
	if (writer->used != SIZE_MAX)
		end_page(writer);
	memset(writer->current->payload, 0, RTSCAN_CHUNK_BYTES);
	return writer->current->payload;
}

void
rtscan_area_used(RtscanAreaWriter *writer, Size used)
{
	Assert(used <= RTSCAN_CHUNK_BYTES);
	writer->used = used;
}

static void
end_shared_page(RtscanAreaWriter *writer)
{
	if (writer->has_shared)
		add_to_batch(writer, writer->shared);
	writer->has_shared = false;
}

/* Put the current page, all that there is of its area, on a page that it shares. */
static void
share_page(RtscanAreaWriter *writer)
{
	BatchedPage *shared = writer->shared;
	Size		offset = TYPEALIGN(SHARED_ALIGN, shared->used);

	if (!writer->has_shared || offset + writer->used > RTSCAN_CHUNK_BYTES)
	{
		end_shared_page(writer);
		memset(shared, 0, sizeof(BatchedPage));
		shared->kind = RTSCAN_PAGE_SHARED;
		shared->ordinal = take_ordinal(writer);
		writer->has_shared = true;
		offset = 0;
	}
	memcpy(shared->payload + offset, writer->current->payload, writer->used);
	shared->used = offset + writer->used;
	writer->area.page = shared->ordinal;
	writer->area.offset = offset;
	writer->area.pages = 1;
	writer->area.kind = RTSCAN_PAGE_SHARED;
	writer->used = SIZE_MAX;
}

RtscanArea
rtscan_area_end(RtscanAreaWriter *writer)
{
	if (writer->used != SIZE_MAX)
	{
		if (writer->area.pages == 0 && writer->used < RTSCAN_CHUNK_BYTES)
			share_page(writer);
		else
			end_page(writer);
	}
	return writer->area;
}

BlockNumber *
rtscan_area_finish(RtscanAreaWriter *writer, uint32 *pages)
{
	end_shared_page(writer);
	write_batch(writer);
	*pages = writer->npages;
	return writer->blocks;
}

/* ---------------------------------------------------------------- packing */

RtscanPacker
rtscan_packer(RtscanAreaWriter *writer, RtscanPageKind kind, uint32 width)
{
	rtscan_area_begin(writer, kind);
	return (RtscanPacker) {.writer = writer, .width = width, .per_page = rtscan_per_page(width)};
}

RtscanArea
rtscan_packer_end(RtscanPacker *packer)
{
	if (packer->room)
		rtscan_area_used(packer->writer, packer->count * packer->width);
	return rtscan_area_end(packer->writer);
}
