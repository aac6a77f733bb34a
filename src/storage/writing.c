/* SPDX-License-Identifier: PostgreSQL */
/*
 * writing.c
 *		Note the pages that an attempt takes, and free them if the attempt was interrupted.
 */
#include "storage/writing.h"

#include "access/generic_xlog.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/allocate.h"

/* ---------------------------------------------------------------- attempts */

/* Does an attempt note the pages that it takes, so that they can be freed if it is interrupted?  A build does not. */
static bool
is_noted(const RtscanWriting *writing)
{
	return writing->slot != RTSCAN_SLOT_BUILD;
}

/* RtscanChange: give out an id; the first id becomes the name of the attempt. */
static bool
give_id(Relation index, RtscanImage **image, void *arg)
{
	RtscanWriting *writing = (RtscanWriting *) arg;
	RtscanMeta *meta = &(*image)->meta;

	writing->id = meta->next_id++;
	if (writing->attempt == 0 && is_noted(writing))
		meta->writing[writing->slot] = writing->id;
	return true;
}

static BlockNumber
new_taken_page(Relation index, RtscanWriterSlot slot)
{
	RtscanTakenPage empty = {.attempt = 0};

	return rtscan_write_new_page(index, RTSCAN_PAGE_TAKEN, slot, 0, &empty, sizeof(empty), InvalidBlockNumber);
}

/* RtscanChange: set the first taken pages of slots that have none. */
static bool
name_taken_pages(Relation index, RtscanImage **image, void *arg)
{
	const BlockNumber *blocks = (const BlockNumber *) arg;

	for (int slot = RTSCAN_SLOT_FLUSH; slot <= RTSCAN_SLOT_MERGE; slot++)
		if ((*image)->meta.taken[slot] == RTSCAN_NO_TAKEN_PAGE)
			(*image)->meta.taken[slot] = blocks[slot];
	return true;
}

/*
 * Return the first taken page of a slot.  Both slots get their first taken pages when one slot is first used, while
 * the file is short.  These pages stay where they are, and near the end of a longer file they would keep VACUUM from
 * truncating it.
 */
static BlockNumber
first_taken_page(Relation index, RtscanWriterSlot slot)
{
	if (rtscan_read_image(index, NULL, false)->meta.taken[slot] == RTSCAN_NO_TAKEN_PAGE)
	{
		BlockNumber blocks[] = {new_taken_page(index, RTSCAN_SLOT_FLUSH), new_taken_page(index, RTSCAN_SLOT_MERGE)};

		rtscan_switch(index, name_taken_pages, blocks);
	}
	return rtscan_read_image(index, NULL, false)->meta.taken[slot];
}

/*
 * Write an empty directory page.  Its owner is version 0, which is the directory_version of an index without a
 * directory.
 */
static BlockNumber
new_directory(Relation index)
{
	return rtscan_write_new_page(index, RTSCAN_PAGE_DIRECTORY, 0, 0, NULL, 0, InvalidBlockNumber);
}

/* RtscanChange: make the metapage name the taken pages and directories that "arg" names. */
static bool
set_pages(Relation index, RtscanImage **image, void *arg)
{
	RtscanMeta *meta = &(*image)->meta;
	const RtscanMeta *prepared = (const RtscanMeta *) arg;

	Assert(meta->directory == InvalidBlockNumber && meta->directory_version == 0 && meta->spare_version == 0);
	memcpy(meta->taken, prepared->taken, sizeof(meta->taken));
	meta->directory = prepared->directory;
	meta->spare = prepared->spare;
	return true;
}

void
rtscan_prepare_writing(Relation index)
{
	RtscanMeta	prepared = {
		.taken = {
			[RTSCAN_SLOT_FLUSH] = new_taken_page(index, RTSCAN_SLOT_FLUSH),
			[RTSCAN_SLOT_MERGE] = new_taken_page(index, RTSCAN_SLOT_MERGE),
		},
		.directory = new_directory(index),
		.spare = new_directory(index),
	};

	rtscan_switch(index, set_pages, &prepared);
}

uint64
rtscan_writing_id(RtscanWriting *writing)
{
	if (writing->attempt == 0 && is_noted(writing))
	{
		rtscan_reclaim(writing->index, writing->slot);
		writing->page = first_taken_page(writing->index, writing->slot);
	}
	rtscan_switch(writing->index, give_id, writing);
	if (writing->attempt == 0)
		writing->attempt = writing->id;
	return writing->id;
}

void
rtscan_end_writing(const RtscanWriting *writing, RtscanImage *image)
{
	if (writing->attempt != 0 && is_noted(writing))
		rtscan_image_end_writing(image, writing->slot);
}

/* ---------------------------------------------------------------- notes */

static Buffer
lock_taken_page(RtscanWriting *writing)
{
	return rtscan_read_page(writing->index, writing->page, BUFFER_LOCK_EXCLUSIVE, RTSCAN_PAGE_TAKEN,
							writing->slot, writing->ordinal);
}

/*
 * Add a taken page to the slot's chain after its last page, "last", which is locked.  Returns the block of the new
 * page.
 */
static BlockNumber
chain_taken_page(RtscanWriting *writing, Buffer last)
{
	Buffer		added = rtscan_allocate_page(writing->index);
	BlockNumber block = BufferGetBlockNumber(added);
	GenericXLogState *state = GenericXLogStart(writing->index);
	Page		page = GenericXLogRegisterBuffer(state, added, GENERIC_XLOG_FULL_IMAGE);

	rtscan_page_init(page, RTSCAN_PAGE_TAKEN, writing->slot, writing->ordinal + 1);
	rtscan_page_set_used(page, sizeof(RtscanTakenPage));
	rtscan_page_opaque(GenericXLogRegisterBuffer(state, last, 0))->next = block;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(added);
	return block;
}

/* Go on to the next taken page, unless the current one has room for n more notes. */
static void
make_room(RtscanWriting *writing, int n)
{
	Buffer		buffer;
	BlockNumber next;

	if (writing->count + n <= RTSCAN_TAKEN_PER_PAGE)
		return;
	buffer = lock_taken_page(writing);
	next = rtscan_page_opaque(BufferGetPage(buffer))->next;
	if (next == InvalidBlockNumber)
		next = chain_taken_page(writing, buffer);
	UnlockReleaseBuffer(buffer);
	writing->page = next;
	writing->ordinal++;
	writing->count = 0;
}

/* Write n notes to the current taken page, from the index "place" on.  They become the last notes of the page. */
static void
write_notes(RtscanWriting *writing, uint32 place, const RtscanTaken *notes, int n)
{
	Buffer		buffer = lock_taken_page(writing);
	Page		page = BufferGetPage(buffer);
	RtscanTakenPage *content = (RtscanTakenPage *) rtscan_page_payload(page);
	RtscanPageRange ranges[] = {
		{offsetof(PageHeaderData, pd_lower), sizeof(LocationIndex)},
		{RTSCAN_PAYLOAD_OFFSET, sizeof(content->attempt)},
		{RTSCAN_PAYLOAD_OFFSET + offsetof(RtscanTakenPage, taken) + place * sizeof(RtscanTaken),
			n * sizeof(RtscanTaken)},
	};

	START_CRIT_SECTION();
	content->attempt = writing->attempt;
	memcpy(&content->taken[place], notes, n * sizeof(RtscanTaken));
	rtscan_page_set_used(page, offsetof(RtscanTakenPage, taken) + (place + n) * sizeof(RtscanTaken));
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(writing->index))
		rtscan_log_ranges(buffer, ranges, lengthof(ranges));
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/*
 * Note the blocks in "buffers", and "more" blocks from "end" on, by which the index is about to be extended.  Blocks
 * that continue the last note are added to it.
 */
static void
note_taken(RtscanWriting *writing, uint64 owner, const Buffer *buffers, int nbuffers, BlockNumber end, int more)
{
	RtscanTaken notes[RTSCAN_TAKE_PAGES + 1];
	uint32		place = writing->count > 0 ? writing->count - 1 : 0;
	int			n = writing->count > 0 ? 1 : 0;

	notes[0] = writing->last;
	for (int i = 0; i < nbuffers + more; i++)
	{
		BlockNumber block = i < nbuffers ? BufferGetBlockNumber(buffers[i]) : end + (i - nbuffers);

		if (n > 0 && notes[n - 1].owner == owner && notes[n - 1].first + notes[n - 1].count == block)
			notes[n - 1].count++;
		else
			notes[n++] = (RtscanTaken) {.owner = owner, .first = block, .count = 1};
	}
	write_notes(writing, place, notes, n);
	writing->count = place + n;
	writing->last = notes[n - 1];
}

/* Take free pages first, then extend the index. */
static void
take_and_note_pages(RtscanWriting *writing, uint64 owner, Buffer *buffers, int n)
{
	int			reused;
	BlockNumber end;

	make_room(writing, n);
	reused = rtscan_reuse_pages(writing->index, buffers, n);
	if (reused == n)
	{
		note_taken(writing, owner, buffers, n, InvalidBlockNumber, 0);
		return;
	}
	end = rtscan_begin_extension(writing->index);
	note_taken(writing, owner, buffers, reused, end, n - reused);
	for (int i = reused; i < n; i++)
		buffers[i] = rtscan_extend(writing->index);
	rtscan_end_extension(writing->index);
}

void
rtscan_take_pages(RtscanWriting *writing, uint64 owner, Buffer *buffers, int n)
{
	Assert(writing->attempt != 0 && n <= RTSCAN_TAKE_PAGES);
	if (is_noted(writing))
		take_and_note_pages(writing, owner, buffers, n);
	else
		rtscan_extend_build(writing->index, buffers, n);
}

BlockNumber
rtscan_write_taken_page(RtscanWriting *writing, RtscanPageKind kind, uint64 owner,
						uint32 ordinal, const void *content, Size used, BlockNumber next)
{
	Buffer		buffer;
	BlockNumber block;

	rtscan_take_pages(writing, owner, &buffer, 1);
	block = BufferGetBlockNumber(buffer);
	rtscan_write_page(writing->index, buffer, kind, owner, ordinal, content, used, next);
	UnlockReleaseBuffer(buffer);
	return block;
}

/* ---------------------------------------------------------------- interrupted attempts */

RtscanTakenPage *
rtscan_read_taken(Relation index, RtscanWriterSlot slot, BlockNumber block, uint32 ordinal, uint32 *count)
{
	Buffer		buffer = rtscan_read_page(index, block, BUFFER_LOCK_SHARE, RTSCAN_PAGE_TAKEN, slot, ordinal);
	Size		used = rtscan_page_used(BufferGetPage(buffer));
	RtscanTakenPage *copy = palloc(Max(used, sizeof(RtscanTakenPage)));

	if (used < sizeof(RtscanTakenPage) || (used - sizeof(RtscanTakenPage)) % sizeof(RtscanTaken) != 0)
		rtscan_page_corrupted(index, block, "The note of taken pages has the wrong size.");
	memcpy(copy, rtscan_page_payload(BufferGetPage(buffer)), used);
	*count = (used - sizeof(RtscanTakenPage)) / sizeof(RtscanTaken);
	UnlockReleaseBuffer(buffer);
	return copy;
}

static void
free_taken(RtscanFreed *freed, const RtscanTaken *taken)
{
	uint64		end = Min((uint64) taken->first + taken->count, RelationGetNumberOfBlocks(freed->index));

	for (uint64 block = taken->first; block < end; block++)
	{
		vacuum_delay_point(false);
		rtscan_free_block(freed, block, taken->owner);
	}
}

/*
 * Free the pages that an attempt has noted.  Its notes are on the first pages of the slot's chain of pages of the kind
 * RTSCAN_PAGE_TAKEN.  They end at the first page that names another attempt, or none: this page and those after it are
 * left from earlier attempts, or empty.
 */
static void
free_attempt(RtscanFreed *freed, RtscanWriterSlot slot, BlockNumber first, uint64 attempt)
{
	List	   *pages = rtscan_chain_blocks(freed->index, RTSCAN_PAGE_TAKEN, slot, first);

	for (int ordinal = 0; ordinal < list_length(pages); ordinal++)
	{
		uint32		count;
		RtscanTakenPage *content = rtscan_read_taken(freed->index, slot, list_nth_int(pages, ordinal),
													 ordinal, &count);

		if (content->attempt != attempt)
			break;
		for (uint32 i = 0; i < count; i++)
			free_taken(freed, &content->taken[i]);
		pfree(content);
	}
	list_free(pages);
}

/* RtscanChange: remove the name of the attempt in a slot, whose pages have been freed. */
static bool
forget_attempt(Relation index, RtscanImage **image, void *arg)
{
	rtscan_image_end_writing(*image, *(RtscanWriterSlot *) arg);
	return true;
}

void
rtscan_reclaim(Relation index, RtscanWriterSlot slot)
{
	const RtscanMeta meta = rtscan_read_image(index, NULL, false)->meta;
	RtscanFreed freed = {.index = index};

	if (meta.writing[slot] == 0)
		return;
	free_attempt(&freed, slot, meta.taken[slot], meta.writing[slot]);
	rtscan_save_freed(&freed);
	rtscan_switch(index, forget_attempt, &slot);
}
