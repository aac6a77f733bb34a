/* SPDX-License-Identifier: PostgreSQL */
/*
 * pending.c
 *		Append to, seal and read pending lists.
 */
#include "storage/pending.h"

#include "access/generic_xlog.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/allocate.h"
#include "storage/list_page.h"
#include "storage/predicate.h"

/* ---------------------------------------------------------------- the list page */

static RtscanPendingList *
list_of(Buffer buffer)
{
	return (RtscanPendingList *) rtscan_page_payload(BufferGetPage(buffer));
}

/* Is the page the list page of "list", and not sealed? */
static bool
is_open(Buffer buffer, const RtscanListRef *list)
{
	Page		page = BufferGetPage(buffer);

	return rtscan_page_is(page, RTSCAN_PAGE_LIST, list->id, 0) && !rtscan_page_opaque(page)->sealed;
}

/* RtscanChange: make the page at block *arg the list page of the open list, unless the list already has one. */
static bool
set_list_page(Relation index, RtscanImage **image, void *arg)
{
	RtscanListRef *open = &(*image)->meta.open;

	if (open->head != InvalidBlockNumber)
		return false;
	open->head = *(BlockNumber *) arg;
	return true;
}

static void
open_list(Relation index)
{
	RtscanListPages pages = {.list = rtscan_allocate_page(index), .is_new = true};
	BlockNumber block = BufferGetBlockNumber(pages.list);

	if (rtscan_switch_list(index, set_list_page, &block, &pages))
		UnlockReleaseBuffer(pages.list);
	else
		rtscan_return_page(index, pages.list);
}

/* Return the current image, with the page of its open list exclusively locked. */
static RtscanImage *
lock_open_list(Relation index, Buffer *buffer)
{
	uint64		unusable = 0;	/* version of the last image whose list was sealed or recycled before its page was
								 * locked */

	for (;;)
	{
		RtscanImage *image = rtscan_read_image(index, NULL, false);

		CHECK_FOR_INTERRUPTS();
		if (image->meta.open.head == InvalidBlockNumber)
		{
			open_list(index);
			continue;
		}
		if (image->meta.version == unusable)
			rtscan_page_mismatch(index, image->meta.open.head, RTSCAN_PAGE_LIST);
		*buffer = ReadBuffer(index, image->meta.open.head);
		LockBuffer(*buffer, BUFFER_LOCK_EXCLUSIVE);
		if (is_open(*buffer, &image->meta.open))
			return image;
		UnlockReleaseBuffer(*buffer);
		unusable = image->meta.version;
	}
}

/* ---------------------------------------------------------------- append */

/* Append a tuple to a page, which is locked and has room for it. */
static void
append_to_page(Relation index, Buffer buffer, IndexTuple tuple)
{
	Page		page = BufferGetPage(buffer);
	Size		used = rtscan_page_used(page);
	Size		size = MAXALIGN(IndexTupleSize(tuple));
	RtscanPageRange ranges[] = {
		{offsetof(PageHeaderData, pd_lower), sizeof(LocationIndex)},
		{RTSCAN_PAYLOAD_OFFSET + used, size},
	};

	START_CRIT_SECTION();
	memcpy(rtscan_page_payload(page) + used, tuple, size);
	rtscan_page_set_used(page, used + size);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
		rtscan_log_ranges(buffer, ranges, lengthof(ranges));
	END_CRIT_SECTION();
}

/*
 * Pin the page to which this backend has appended before.  Usually the page is still in the same shared buffer.
 * Returns InvalidBuffer if the page is beyond the end of the index: the backend may have appended to it in an earlier
 * statement, and VACUUM may have truncated the index between the statements.
 */
static Buffer
pin_own_page(Relation index, RtscanImage *image)
{
	if (BufferIsValid(image->own_buffer) &&
		ReadRecentBuffer(index->rd_locator, MAIN_FORKNUM, image->own_page, image->own_buffer))
	{
		pgstat_count_buffer_read(index);
		pgstat_count_buffer_hit(index);
		return image->own_buffer;
	}
	if (image->own_page >= RelationGetNumberOfBlocks(index))
		return InvalidBuffer;
	return image->own_buffer = ReadBuffer(index, image->own_page);
}

/*
 * Lock exclusively the page to which this backend has appended before.  Returns InvalidBuffer if there is no such
 * page, or if it is sealed, has no room for "size" bytes, or does not belong to the open list.
 */
static Buffer
lock_own_page(Relation index, RtscanImage *image, Size size)
{
	Buffer		buffer;
	Page		page;
	RtscanPageOpaqueData *opaque;

	if (image == NULL || image->own_page == InvalidBlockNumber)
		return InvalidBuffer;
	buffer = pin_own_page(index, image);
	if (!BufferIsValid(buffer))
		return InvalidBuffer;
	page = BufferGetPage(buffer);
	opaque = rtscan_page_opaque(page);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (rtscan_page_is(page, RTSCAN_PAGE_PENDING, image->meta.open.id, opaque->ordinal) && !opaque->sealed &&
		rtscan_page_used(page) + size <= RTSCAN_CHUNK_BYTES)
		return buffer;
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}

/* Return the number of pages of a list that are not insertion pages. */
static uint32
full_pages(const RtscanPendingList *list)
{
	uint32		full = list->pages;

	for (int i = 0; i < RTSCAN_INSERTION_PAGES; i++)
		full -= list->insertion[i] != InvalidBlockNumber;
	return full;
}

/*
 * Lock exclusively the insertion page of a list at "place", or return InvalidBuffer if there is none.  Raises an error
 * if the list page is damaged and names a page that is locked already, or a page of another list.
 */
static Buffer
lock_insertion_page(Relation index, const RtscanListRef *list, Buffer list_buffer, int place)
{
	BlockNumber *insertion = list_of(list_buffer)->insertion;
	RtscanPageOpaqueData *opaque;
	Buffer		buffer;

	if (insertion[place] == InvalidBlockNumber)
		return InvalidBuffer;
	buffer = ReadBuffer(index, insertion[place]);
	if (!rtscan_lock_page(buffer, BUFFER_LOCK_EXCLUSIVE))
		rtscan_page_corrupted(index, list->head,
							  "The list page names block %u for insertions, but that block is in use already.",
							  insertion[place]);
	opaque = rtscan_page_opaque(BufferGetPage(buffer));
	if (!rtscan_page_is(BufferGetPage(buffer), RTSCAN_PAGE_PENDING, list->id, opaque->ordinal))
		rtscan_page_mismatch(index, insertion[place], RTSCAN_PAGE_PENDING);
	return buffer;
}

/*
 * Insert the page "added" into the chain directly after the list page, as the insertion page at "place".  Seals
 * "full", the page that was at this place before; InvalidBuffer: there was none.
 */
static void
chain_page(Relation index, const RtscanListRef *ref, Buffer list_buffer, int place, Buffer full, Buffer added)
{
	GenericXLogState *state = GenericXLogStart(index);
	Page		list_page = GenericXLogRegisterBuffer(state, list_buffer, 0);
	Page		page = GenericXLogRegisterBuffer(state, added, GENERIC_XLOG_FULL_IMAGE);
	RtscanPendingList *list = (RtscanPendingList *) rtscan_page_payload(list_page);

	if (BufferIsValid(full))
		rtscan_page_opaque(GenericXLogRegisterBuffer(state, full, 0))->sealed = true;
	list->insertion[place] = InvalidBlockNumber;
	rtscan_page_init(page, RTSCAN_PAGE_PENDING, ref->id, list->pages + 1);
	rtscan_page_opaque(page)->full = full_pages(list);
	rtscan_page_opaque(page)->next = rtscan_page_opaque(list_page)->next;
	rtscan_page_opaque(list_page)->next = BufferGetBlockNumber(added);
	list->insertion[place] = BufferGetBlockNumber(added);
	list->pages++;
	GenericXLogFinish(state);
}

/* Add a new insertion page at "place" to a list whose list page is locked; returns its block. */
static BlockNumber
add_page(Relation index, const RtscanListRef *list, Buffer list_buffer, int place)
{
	Buffer		full = lock_insertion_page(index, list, list_buffer, place);
	bool		is_empty = rtscan_page_opaque(BufferGetPage(list_buffer))->next == InvalidBlockNumber;
	Buffer		added;
	BlockNumber block;

	if ((list_of(list_buffer)->pages == 0) != is_empty)
		rtscan_page_corrupted(index, list->head, "The list page counts %u pages, but its chain is %s.",
							  list_of(list_buffer)->pages, is_empty ? "empty" : "not empty");
	added = rtscan_allocate_page(index);
	block = BufferGetBlockNumber(added);
	chain_page(index, list, list_buffer, place, full, added);
	if (BufferIsValid(full))
		UnlockReleaseBuffer(full);
	UnlockReleaseBuffer(added);
	return block;
}

/*
 * Return the current image with own_page set to the insertion page at this backend's place.  If there is no page at
 * this place, or if its block is "unusable", own_page is set to a new page.
 */
static RtscanImage *
find_own_page(Relation index, BlockNumber unusable)
{
	int			place = (uint32) MyProcNumber % RTSCAN_INSERTION_PAGES;
	Buffer		buffer;
	RtscanImage *image = lock_open_list(index, &buffer);

	image->own_page = list_of(buffer)->insertion[place];
	if (image->own_page == InvalidBlockNumber || image->own_page == unusable)
		image->own_page = add_page(index, &image->meta.open, buffer, place);
	UnlockReleaseBuffer(buffer);
	return image;
}

static int64
weigh(uint32 full_pages, const RtscanMeta *meta)
{
	return ((int64) full_pages * (BLCKSZ / 1024)) >> Min(meta->flush_attempts, RTSCAN_MAX_DOUBLINGS);
}

int64
rtscan_pending_append(Relation index, IndexTuple tuple)
{
	RtscanImage *image = (RtscanImage *) index->rd_amcache;
	Size		size = MAXALIGN(IndexTupleSize(tuple));
	Buffer		buffer;
	int64		weight = 0;

	while ((buffer = lock_own_page(index, image, size)) == InvalidBuffer)
		image = find_own_page(index, image ? image->own_page : InvalidBlockNumber);
	if (rtscan_page_used(BufferGetPage(buffer)) == 0)
		weight = weigh(rtscan_page_opaque(BufferGetPage(buffer))->full, &image->meta);

	/* the page is locked: a scan that takes its predicate lock after this check reads the page after the append */
	CheckForSerializableConflictIn(index, NULL, InvalidBlockNumber);
	append_to_page(index, buffer, tuple);
	UnlockReleaseBuffer(buffer);
	return weight;
}

/* ---------------------------------------------------------------- seal */

/* RtscanChange: seal the open list. */
static bool
seal_open_list(Relation index, RtscanImage **image, void *arg)
{
	RtscanListRef sealed = (*image)->meta.open;
	RtscanMeta *meta;

	rtscan_image_add_list(image, &sealed);
	meta = &(*image)->meta;
	meta->open = (RtscanListRef) {.id = meta->next_id++, .head = InvalidBlockNumber};
	return true;
}

/* Return the number of full pages of a list; 0 if it is empty. */
static uint32
count_full_pages(Relation index, const RtscanListRef *list)
{
	Buffer		buffer;
	uint32		full;

	if (list->head == InvalidBlockNumber)
		return 0;
	buffer = rtscan_read_page(index, list->head, BUFFER_LOCK_SHARE, RTSCAN_PAGE_LIST, list->id, 0);
	full = full_pages(list_of(buffer));
	UnlockReleaseBuffer(buffer);
	return full;
}

int64
rtscan_pending_weight(Relation index)
{
	RtscanMeta	meta = rtscan_read_image(index, NULL, false)->meta;

	return weigh(count_full_pages(index, &meta.open), &meta);
}

void
rtscan_pending_seal(Relation index, int64 kilobytes)
{
	RtscanListRef open = rtscan_read_image(index, NULL, false)->meta.open;
	RtscanListPages pages = {.ninsertion = 0};

	if (open.head == InvalidBlockNumber || (int64) count_full_pages(index, &open) * (BLCKSZ / 1024) < kilobytes)
		return;
	pages.list = rtscan_read_page(index, open.head, BUFFER_LOCK_EXCLUSIVE, RTSCAN_PAGE_LIST, open.id, 0);
	for (int place = 0; place < RTSCAN_INSERTION_PAGES; place++)
	{
		Buffer		page = lock_insertion_page(index, &open, pages.list, place);

		if (BufferIsValid(page))
			pages.insertion[pages.ninsertion++] = page;
	}
	(void) rtscan_switch_list(index, seal_open_list, NULL, &pages);
	while (pages.ninsertion > 0)
		UnlockReleaseBuffer(pages.insertion[--pages.ninsertion]);
	UnlockReleaseBuffer(pages.list);
}

/* ---------------------------------------------------------------- read */

/*
 * Set *block to the newest page of a list's chain, and *pages to the number of pages in the chain.  Returns false if
 * the page at list->head is not the list page of this list.
 */
static bool
read_list(Relation index, const RtscanListRef *list, BlockNumber *block, uint32 *pages)
{
	Buffer		buffer = ReadBuffer(index, list->head);
	bool		found;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	found = rtscan_page_is(BufferGetPage(buffer), RTSCAN_PAGE_LIST, list->id, 0);
	*block = rtscan_page_opaque(BufferGetPage(buffer))->next;
	*pages = list_of(buffer)->pages;
	UnlockReleaseBuffer(buffer);
	return found;
}

void
rtscan_pending_open(RtscanPendingReader *reader, Relation index, const RtscanListRef *list)
{
	reader->index = index;
	reader->list = *list;
	reader->pages = 0;
	reader->next = InvalidBlockNumber;
	reader->offset = reader->used = 0;
	if (list->head != InvalidBlockNumber && !read_list(index, list, &reader->next, &reader->pages))
		rtscan_page_mismatch(index, list->head, RTSCAN_PAGE_LIST);
}

/* Copy the next page; returns false if there is none. */
static bool
read_next_page(RtscanPendingReader *reader)
{
	Buffer		buffer;

	CHECK_FOR_INTERRUPTS();
	if (reader->pages == 0)
	{
		if (reader->next != InvalidBlockNumber)
			rtscan_page_corrupted(reader->index, reader->list.head,
								  "The chain of the list has more pages than its list page counts.");
		return false;
	}
	reader->block = reader->next;
	buffer = rtscan_read_page(reader->index, reader->block, BUFFER_LOCK_SHARE, RTSCAN_PAGE_PENDING, reader->list.id,
							  reader->pages--);
	memcpy(reader->copy.data, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
	reader->next = rtscan_page_opaque(reader->copy.data)->next;
	reader->offset = 0;
	reader->used = rtscan_page_used(reader->copy.data);
	return true;
}

IndexTuple
rtscan_pending_next(RtscanPendingReader *reader)
{
	IndexTuple	tuple;
	Size		left,
				size;

	while (reader->offset == reader->used)
		if (!read_next_page(reader))
			return NULL;
	tuple = (IndexTuple) (rtscan_page_payload(reader->copy.data) + reader->offset);
	left = reader->used - reader->offset;
	size = left < sizeof(IndexTupleData) ? 0 : MAXALIGN(IndexTupleSize(tuple));
	if (size < sizeof(IndexTupleData) || size > left)
		rtscan_page_corrupted(reader->index, reader->block,
							  "The pending row at offset %zu has a size of %zu bytes, but %zu bytes are left.",
							  reader->offset, size, left);
	reader->offset += size;
	return tuple;
}

void
rtscan_pending_visit(Relation index, const RtscanListRef *list,
					 RtscanPendingVisitor visitor, void *arg)
{
	RtscanPendingReader reader;
	IndexTuple	tuple;

	rtscan_pending_open(&reader, index, list);
	while ((tuple = rtscan_pending_next(&reader)))
		visitor(tuple, arg);
}

/*
 * Check that the chain of a list has all pages that the list page names, that these are not sealed, and that all other
 * pages of the chain are sealed.  The list page is locked.
 */
static void
check_insertion_pages(Relation index, const RtscanListRef *list, Buffer list_buffer)
{
	BlockNumber block = rtscan_page_opaque(BufferGetPage(list_buffer))->next;
	int			expected = 0;

	for (int i = 0; i < RTSCAN_INSERTION_PAGES; i++)
		expected += list_of(list_buffer)->insertion[i] != InvalidBlockNumber;
	for (uint32 ordinal = list_of(list_buffer)->pages; ordinal > 0; ordinal--)
	{
		Buffer		buffer = rtscan_read_page(index, block, BUFFER_LOCK_SHARE,
											  RTSCAN_PAGE_PENDING, list->id, ordinal);
		bool		sealed = rtscan_page_opaque(BufferGetPage(buffer))->sealed;
		bool		named = false;

		for (int i = 0; i < RTSCAN_INSERTION_PAGES; i++)
			named |= list_of(list_buffer)->insertion[i] == block;
		expected -= named;
		if (named == sealed)
			rtscan_page_corrupted(index, block, "The page is %s, but its list page %s it for insertions.",
								  sealed ? "sealed" : "not sealed", named ? "names" : "does not name");
		block = rtscan_page_opaque(BufferGetPage(buffer))->next;
		UnlockReleaseBuffer(buffer);
	}
	if (expected != 0)
		rtscan_page_corrupted(index, list->head,
							  "The list page names pages for insertions that are not in its chain.");
}

void
rtscan_check_list_page(Relation index, const RtscanListRef *list, bool must_be_sealed)
{
	Buffer		buffer = rtscan_read_page(index, list->head, BUFFER_LOCK_SHARE, RTSCAN_PAGE_LIST, list->id, 0);

	if (rtscan_page_used(BufferGetPage(buffer)) != sizeof(RtscanPendingList))
		rtscan_page_corrupted(index, list->head, "The list page has the wrong size.");
	if (must_be_sealed && !rtscan_page_opaque(BufferGetPage(buffer))->sealed)
		rtscan_page_corrupted(index, list->head,
							  "The directory says that the list is sealed, but its list page is not.");
	if (!rtscan_page_opaque(BufferGetPage(buffer))->sealed)
		check_insertion_pages(index, list, buffer);
	UnlockReleaseBuffer(buffer);
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

/* Is the page at *block the page of the list with this ordinal?  Sets *block to the next page in the chain. */
static bool
read_next(Relation index, const RtscanListRef *list, uint32 ordinal, BlockNumber *block)
{
	Buffer		buffer = ReadBuffer(index, *block);
	bool		found;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	found = rtscan_page_is(BufferGetPage(buffer), RTSCAN_PAGE_PENDING, list->id, ordinal);
	*block = rtscan_page_opaque(BufferGetPage(buffer))->next;
	UnlockReleaseBuffer(buffer);
	return found;
}

List *
rtscan_pending_blocks(Relation index, const RtscanListRef *list)
{
	List	   *blocks;
	BlockNumber block;
	uint32		pages;
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);

	/* a crash may have interrupted an attempt to free the list, and VACUUM may have truncated the index since */
	if (list->head >= nblocks || !read_list(index, list, &block, &pages))
		return NIL;
	nblocks = RelationGetNumberOfBlocks(index);
	blocks = list_make1_int(list->head);
	for (uint32 ordinal = pages; ordinal > 0 && block < nblocks; ordinal--)
	{
		BlockNumber this = block;

		if (!read_next(index, list, ordinal, &block))
			break;
		blocks = lappend_int(blocks, this);
	}
	return blocks;
}
