/*
 * pending.c
 *		Append to, seal and read pending lists.
 */
#include "storage/pending.h"

#include "access/generic_xlog.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/predicate.h"
#include "storage/recycle.h"

/* ---------------------------------------------------------------- append */

/*
 * A generic WAL record's fragment for a page: offset, length, bytes.  See
 * writeFragment() in PostgreSQL's generic_xlog.c, whose redo function replays this.
 */
typedef struct Fragment
{
	OffsetNumber offset;
	OffsetNumber length;
} Fragment;

static void
log_append(Buffer buffer, LocationIndex offset, IndexTuple tuple)
{
	Page		page = BufferGetPage(buffer);
	Fragment	lower = {offsetof(PageHeaderData, pd_lower), sizeof(LocationIndex)};
	Fragment	bytes = {offset, MAXALIGN(IndexTupleSize(tuple))};
	XLogRecPtr	lsn;

	XLogBeginInsert();
	XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
	XLogRegisterBufData(0, (char *) &lower, sizeof(lower));
	XLogRegisterBufData(0, (char *) &((PageHeader) page)->pd_lower, sizeof(LocationIndex));
	XLogRegisterBufData(0, (char *) &bytes, sizeof(bytes));
	XLogRegisterBufData(0, (char *) page + offset, bytes.length);
	lsn = XLogInsert(RM_GENERIC_ID, 0);
	PageSetLSN(page, lsn);
}

/* Put a tuple on a page, locked and with room for it. */
static void
append_to_page(Relation index, Buffer buffer, IndexTuple tuple)
{
	Page		page = BufferGetPage(buffer);
	Size		used = rtscan_page_used(page);

	START_CRIT_SECTION();
	memcpy(rtscan_page_payload(page) + used, tuple, MAXALIGN(IndexTupleSize(tuple)));
	rtscan_page_set_used(page, used + MAXALIGN(IndexTupleSize(tuple)));
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
		log_append(buffer, RTSCAN_PAYLOAD_OFFSET + used, tuple);
	END_CRIT_SECTION();
}

/* Chain a new page to the full last one, both in one record with the list's tail hint. */
static BlockNumber
add_page(Relation index, const RtscanListRef *list, Buffer last)
{
	Buffer		added = rtscan_allocate_page(index);
	BlockNumber block = BufferGetBlockNumber(added);
	uint32		ordinal = rtscan_page_opaque(BufferGetPage(last))->ordinal + 1;
	Buffer		head = InvalidBuffer;
	GenericXLogState *state = GenericXLogStart(index);
	Page		last_page = GenericXLogRegisterBuffer(state, last, 0);
	Page		head_page = last_page;

	rtscan_page_init(GenericXLogRegisterBuffer(state, added, GENERIC_XLOG_FULL_IMAGE),
					 RTSCAN_PAGE_PENDING, list->id, ordinal);
	if (BufferGetBlockNumber(last) != list->head)
	{
		head = rtscan_read_page(index, list->head, BUFFER_LOCK_EXCLUSIVE,
								RTSCAN_PAGE_PENDING, list->id, 0);
		head_page = GenericXLogRegisterBuffer(state, head, 0);
	}
	rtscan_page_opaque(last_page)->next = block;
	rtscan_page_opaque(head_page)->tail = block;
	GenericXLogFinish(state);

	if (BufferIsValid(head))
		UnlockReleaseBuffer(head);
	UnlockReleaseBuffer(added);
	return block;
}

/* RtscanChange: give the open list its first page, unless somebody else already has. */
static bool
open_list(Relation index, RtscanImage **image, void *arg)
{
	RtscanListRef *open = &(*image)->meta.open;

	if (open->head != InvalidBlockNumber)
		return false;

	open->head = rtscan_write_new_page(index, RTSCAN_PAGE_PENDING, open->id, 0, NULL, 0, InvalidBlockNumber);
	return true;
}

/* The page that the first page of a list takes for its last, or InvalidBlockNumber if recycled. */
static BlockNumber
tail_hint(Relation index, const RtscanListRef *list)
{
	Buffer		buffer = ReadBuffer(index, list->head);
	Page		page = BufferGetPage(buffer);
	BlockNumber tail = InvalidBlockNumber;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (rtscan_page_is(page, RTSCAN_PAGE_PENDING, list->id, 0))
	{
		tail = rtscan_page_opaque(page)->tail;
		if (tail == InvalidBlockNumber)
			tail = list->head;
	}
	UnlockReleaseBuffer(buffer);
	return tail;
}

/*
 * The image to append by: its open list has a first page, and tail is set.  The caller has
 * found the image of a version unusable (0: has none); if it is the current one, it is
 * corrupted, for what a current image names is there.
 */
static RtscanImage *
find_open_list(Relation index, uint64 unusable)
{
	for (;;)
	{
		RtscanImage *image = rtscan_read_image(index, NULL, false);

		CHECK_FOR_INTERRUPTS();
		if (image->meta.open.head == InvalidBlockNumber)
		{
			rtscan_switch(index, open_list, NULL);
			continue;
		}
		if (image->meta.version == unusable)
			rtscan_page_mismatch(index, image->meta.open.head, RTSCAN_PAGE_PENDING);
		image->tail = tail_hint(index, &image->meta.open);
		if (image->tail != InvalidBlockNumber)
			return image;
		unusable = image->meta.version;
	}
}

/*
 * The last page of a list, exclusively locked, starting to look at block; or
 * InvalidBuffer if the list is sealed or its page recycled: look at the metapage again.
 */
static Buffer
lock_last_page(Relation index, const RtscanListRef *list, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(index, block);
	RtscanPageOpaqueData *opaque = rtscan_page_opaque(BufferGetPage(buffer));
	uint32		ordinal;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	ordinal = opaque->ordinal;
	while (rtscan_page_is(BufferGetPage(buffer), RTSCAN_PAGE_PENDING, list->id, ordinal) &&
		   !opaque->sealed)
	{
		if (opaque->next == InvalidBlockNumber)
			return buffer;
		block = opaque->next;
		ordinal++;				/* so that a damaged chain cannot go round in circles */
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
		buffer = ReadBuffer(index, block);
		opaque = rtscan_page_opaque(BufferGetPage(buffer));
		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	}
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}

bool
rtscan_pending_append(Relation index, IndexTuple tuple)
{
	RtscanImage *image = (RtscanImage *) index->rd_amcache;
	Size		size = MAXALIGN(IndexTupleSize(tuple));

	if (image == NULL || image->tail == InvalidBlockNumber)
		image = find_open_list(index, 0);
	for (;;)
	{
		Buffer		last = lock_last_page(index, &image->meta.open, image->tail);
		uint32		pages;

		if (!BufferIsValid(last))
		{
			image = find_open_list(index, image->meta.version);
			continue;
		}
		image->tail = BufferGetBlockNumber(last);
		pages = rtscan_page_opaque(BufferGetPage(last))->ordinal;
		if (rtscan_page_used(BufferGetPage(last)) + size <= RTSCAN_CHUNK_BYTES)
		{
			/* a scan that took its predicate lock later sees the entry, for it locks this page later */
			CheckForSerializableConflictIn(index, NULL, InvalidBlockNumber);
			append_to_page(index, last, tuple);
			UnlockReleaseBuffer(last);
			return (int64) pages * (BLCKSZ / 1024) >= rtscan_pending_list_limit;
		}
		image->tail = add_page(index, &image->meta.open, last);
		UnlockReleaseBuffer(last);
	}
}

/* ---------------------------------------------------------------- seal */

/* RtscanChange: seal the open list. */
static bool
seal_open_list(Relation index, RtscanImage **image, void *arg)
{
	RtscanMeta *meta = &(*image)->meta;

	Assert(meta->sealed.id == 0);
	meta->sealed = meta->open;
	meta->open = (RtscanListRef) {.id = meta->next_id++, .head = InvalidBlockNumber};
	return true;
}

void
rtscan_pending_seal(Relation index)
{
	RtscanListRef list = rtscan_read_image(index, NULL, false)->meta.open;
	BlockNumber tail;
	Buffer		last;

	if (list.head == InvalidBlockNumber)
		return;
	tail = tail_hint(index, &list);
	last = tail == InvalidBlockNumber ? InvalidBuffer : lock_last_page(index, &list, tail);
	if (!BufferIsValid(last))
		rtscan_page_mismatch(index, list.head, RTSCAN_PAGE_PENDING);
	rtscan_switch_and_seal(index, seal_open_list, NULL, last);
	UnlockReleaseBuffer(last);
}

/* ---------------------------------------------------------------- read */

/* Visit the tuples on a private copy of a page. */
static void
visit_page(Relation index, BlockNumber block, Page page, RtscanPendingVisitor visitor, void *arg)
{
	char	   *payload = rtscan_page_payload(page);
	Size		used = rtscan_page_used(page);

	for (Size offset = 0; offset < used;)
	{
		IndexTuple	tuple = (IndexTuple) (payload + offset);
		Size		size = used - offset < sizeof(IndexTupleData) ? 0 : MAXALIGN(IndexTupleSize(tuple));

		if (size < sizeof(IndexTupleData) || size > used - offset)
			rtscan_page_corrupted(index, block, "The tuple at offset %zu has %zu bytes.", offset, size);
		visitor(tuple, arg);
		offset += size;
	}
}

void
rtscan_pending_visit(Relation index, const RtscanListRef *list,
					 RtscanPendingVisitor visitor, void *arg)
{
	BlockNumber block = list->head;
	PGAlignedBlock copy;

	for (uint32 ordinal = 0; block != InvalidBlockNumber; ordinal++)
	{
		Buffer		buffer = rtscan_read_page(index, block, BUFFER_LOCK_SHARE,
											  RTSCAN_PAGE_PENDING, list->id, ordinal);

		memcpy(copy.data, BufferGetPage(buffer), BLCKSZ);
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
		visit_page(index, block, copy.data, visitor, arg);
		block = rtscan_page_opaque(copy.data)->next;
	}
}

static void
pending_row_corrupted(Relation index)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" contains a corrupted pending row",
					RelationGetRelationName(index)),
			 errhint("Please REINDEX it.")));
}

void
rtscan_check_pending_tid(Relation index, IndexTuple tuple)
{
	if (!OffsetNumberIsValid(ItemPointerGetOffsetNumberNoCheck(&tuple->t_tid)) ||
		!BlockNumberIsValid(ItemPointerGetBlockNumberNoCheck(&tuple->t_tid)))
		pending_row_corrupted(index);
}

void
rtscan_deform_pending(Relation index, const RtscanSchema *schema, IndexTuple tuple,
					  Datum *values, bool *isnull)
{
	rtscan_check_pending_tid(index, tuple);
	if (!rtscan_deform_tuple(schema, tuple, values, isnull))
		pending_row_corrupted(index);
}

uint32
rtscan_pending_pages(Relation index, const RtscanListRef *list)
{
	BlockNumber tail;
	Buffer		buffer;
	RtscanPageOpaqueData *opaque;
	uint32		pages = 0;

	if (list->head == InvalidBlockNumber)
		return 0;
	tail = tail_hint(index, list);
	if (tail == InvalidBlockNumber)
		return 0;
	buffer = ReadBuffer(index, tail);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	opaque = rtscan_page_opaque(BufferGetPage(buffer));
	if (opaque->kind == RTSCAN_PAGE_PENDING && opaque->owner == list->id)
		pages = opaque->ordinal + 1;
	UnlockReleaseBuffer(buffer);
	return pages;
}
