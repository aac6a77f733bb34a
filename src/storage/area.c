/* SPDX-License-Identifier: PostgreSQL */
/*
 * area.c
 *		Write the areas of a segment.
 */
#include "storage/area.h"

#include "access/xloginsert.h"
#include "catalog/pg_control.h"
#include "miscadmin.h"

#define LOT_PAGES		RTSCAN_TAKE_PAGES
#define SHARED_ALIGN	64		/* alignment of areas on shared pages, in bytes: cache lines */

/* A page that waits to be written. */
typedef struct LotPage
{
	RtscanPageKind kind;
	uint32		ordinal;
	Size		used;
	char		payload[RTSCAN_CHUNK_BYTES];
} LotPage;

struct RtscanAreaWriter
{
	RtscanWriting *writing;

	BlockNumber *blocks;		/* block numbers of the segment's pages, by ordinal */
	uint32		npages;			/* number of ordinals given out */
	uint32		capacity;		/* size of blocks[] */

	RtscanArea	area;			/* the area being written */
	Size		used;			/* number of used bytes in the area's current page; SIZE_MAX: it has no current page */
	LotPage    *current;		/* the area's current page */

	LotPage    *shared;			/* the shared page that is being filled */
	bool		has_shared;

	int			nlot;			/* number of pages in the lot */
	LotPage    *lot;			/* pages to be written in the next WAL record */
};

RtscanAreaWriter *
rtscan_area_writer(RtscanWriting *writing)
{
	RtscanAreaWriter *writer = palloc0(sizeof(RtscanAreaWriter));

	writer->writing = writing;
	writer->capacity = 64;
	writer->blocks = palloc(writer->capacity * sizeof(BlockNumber));
	writer->current = palloc0(sizeof(LotPage));
	writer->shared = palloc0(sizeof(LotPage));
	writer->lot = palloc(LOT_PAGES * sizeof(LotPage));
	writer->used = SIZE_MAX;
	return writer;
}

/* ---------------------------------------------------------------- lots of pages */

static void
fill_page(RtscanAreaWriter *writer, Buffer buffer, const LotPage *source)
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
write_lot(RtscanAreaWriter *writer)
{
	Buffer		buffers[LOT_PAGES];
	bool		wal = RelationNeedsWAL(writer->writing->index);

	CHECK_FOR_INTERRUPTS();
	if (writer->nlot == 0)
		return;
	rtscan_take_pages(writer->writing, writer->writing->id, buffers, writer->nlot);
	if (wal)
		XLogEnsureRecordSpace(LOT_PAGES - 1, 0);

	START_CRIT_SECTION();
	for (int i = 0; i < writer->nlot; i++)
		fill_page(writer, buffers[i], &writer->lot[i]);
	if (wal)
		log_pages(buffers, writer->nlot);
	END_CRIT_SECTION();

	for (int i = 0; i < writer->nlot; i++)
	{
		writer->blocks[writer->lot[i].ordinal] = BufferGetBlockNumber(buffers[i]);
		UnlockReleaseBuffer(buffers[i]);
	}
	writer->nlot = 0;
}

static void
add_to_lot(RtscanAreaWriter *writer, const LotPage *page)
{
	LotPage    *room;

	if (writer->nlot == LOT_PAGES)
		write_lot(writer);
	room = &writer->lot[writer->nlot++];
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

/* Give the current page an ordinal and add it to the lot.  The page is full, or is the last page of its area. */
static void
end_page(RtscanAreaWriter *writer)
{
	LotPage    *page = writer->current;

	page->kind = writer->area.kind;
	page->ordinal = take_ordinal(writer);
	page->used = writer->used;
	if (writer->area.pages++ == 0)
		writer->area.page = page->ordinal;
	add_to_lot(writer, page);
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
		add_to_lot(writer, writer->shared);
	writer->has_shared = false;
}

/* Copy the current page, which is the only page of its area, to a shared page. */
static void
share_page(RtscanAreaWriter *writer)
{
	LotPage    *shared = writer->shared;
	Size		offset = TYPEALIGN(SHARED_ALIGN, shared->used);

	if (!writer->has_shared || offset + writer->used > RTSCAN_CHUNK_BYTES)
	{
		end_shared_page(writer);
		memset(shared, 0, sizeof(LotPage));
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
	write_lot(writer);
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
