/* SPDX-License-Identifier: PostgreSQL */
/*
 * pages.c
 *		Pages in memory, for tests that write and read areas.
 *
 * Each page is a separate object for the sanitizers.  The code under test sees pages of a temporary table.
 */
#include "unit.h"

#include "access/xloginsert.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#define MOST_PAGES	65536

static Block blocks[MOST_PAGES];
Block	   *LocalBufferBlockPointers = blocks;

static uint32 npages;
static int	at_hand;
static RtscanWriting writing;

/* ---------------------------------------------------------------- writing */

RtscanAreaWriter *
unit_area_writer(void)
{
	static FormData_pg_class class = {.relpersistence = RELPERSISTENCE_TEMP};
	static RelationData index = {.rd_rel = &class};

	while (npages > 0)
		free(blocks[--npages]);
	writing = (RtscanWriting) {.index = &index, .id = 1};
	return rtscan_area_writer(&writing);
}

void
rtscan_take_pages(RtscanWriting *to, uint64 owner, Buffer *buffers, int n)
{
	for (int i = 0; i < n; i++)
	{
		blocks[npages] = aligned_alloc(64, BLCKSZ);
		buffers[i] = -(Buffer) ++npages;
		at_hand++;
	}
}

void
rtscan_page_init(Page page, RtscanPageKind kind, uint64 owner, uint32 ordinal)
{
	memset(page, 0, BLCKSZ);
	*rtscan_page_opaque(page) = (RtscanPageOpaqueData) {.owner = owner, .ordinal = ordinal, .kind = kind};
}

BlockNumber
BufferGetBlockNumber(Buffer buffer)
{
	return -buffer - 1;
}

void
MarkBufferDirty(Buffer buffer)
{
}

void
UnlockReleaseBuffer(Buffer buffer)
{
	at_hand--;
}

void
XLogBeginInsert(void)
{
}

void
XLogEnsureRecordSpace(int max_block_id, int ndatas)
{
}

void
XLogRegisterBuffer(uint8 block_id, Buffer buffer, uint8 flags)
{
}

XLogRecPtr
XLogInsert(RmgrId rmid, uint8 info)
{
	return 0;
}

void
rtscan_append_part(StringInfo content, const void *part, Size size)
{
	appendBinaryStringInfo(content, part, size);
}

/* ---------------------------------------------------------------- reading */

RtscanReader
unit_reader(RtscanAreaWriter *writer, RtscanSegment *segment)
{
	uint32		pages;

	segment->blocks = rtscan_area_finish(writer, &pages);
	segment->header.pages = pages;
	segment->recent = palloc0(Max(pages, 1) * sizeof(Buffer));
	return (RtscanReader) {.index = writing.index, .segment = segment, .trusts = true, .context = CurrentMemoryContext};
}

int
unit_pages_at_hand(void)
{
	return at_hand;
}

void
unit_forget_pages(void)
{
	at_hand = 0;
}

const char *
rtscan_get_page(RtscanReader *reader, const RtscanArea *area, uint32 i, Buffer *buffer, Size *used)
{
	uint32		ordinal = area->page + i;
	Page		page;

	if (i >= area->pages)
		unit_raise("a page behind the end of an area");
	*buffer = -(Buffer) (reader->segment->blocks[ordinal] + 1);
	page = BufferGetPage(*buffer);
	assert_int_equal(rtscan_page_opaque(page)->kind, area->kind);
	assert_int_equal(rtscan_page_opaque(page)->ordinal, ordinal);
	if (used)
		*used = rtscan_page_used(page) - area->offset;
	at_hand++;
	reader->pages_read++;
	return rtscan_page_payload(page) + area->offset;
}

void
rtscan_release(RtscanReader *reader, Buffer buffer)
{
	at_hand--;
}

void
rtscan_fault(RtscanReader *reader, const RtscanArea *area, uint32 i, const char *detail)
{
	if (!reader->soft)
		unit_raise(detail);
}

void
rtscan_prefetch_page(RtscanReader *reader, const RtscanArea *area, uint32 i)
{
	assert_true(i < area->pages);
}

void
rtscan_prefetch_head(RtscanReader *reader, const RtscanArea *area, uint32 i)
{
	assert_true(i < area->pages);
}

void
unit_damage_page(RtscanReader *reader)
{
	Page		page = (Page) blocks[unit_below(npages)];
	uint32		used = rtscan_page_used(page);

	/* Change bytes often at the beginning, where counts and offsets are. */
	for (uint32 left = 1 + unit_below(4); left > 0 && used > 0; left--)
		rtscan_page_payload(page)[unit_below(unit_one_in(2) ? Min(used, 64) : used)] =
			unit_one_in(4) ? 0xFF : unit_random();
}
