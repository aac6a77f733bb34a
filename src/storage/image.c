/* SPDX-License-Identifier: PostgreSQL */
/*
 * image.c
 *		Make, copy and change images of an index.
 */
#include "storage/image.h"

#include "access/transam.h"
#include "access/xact.h"
#include "storage/proc.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

/* ---------------------------------------------------------------- an image and its records */

/* Make an image without directory entries. */
static RtscanImage *
make_image(Relation index, const RtscanMeta *meta)
{
	RtscanImage *image = palloc(offsetof(RtscanImage, entries));

	image->meta = *meta;
	image->nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	image->nentries = 0;
	image->own_page = InvalidBlockNumber;
	image->own_buffer = InvalidBuffer;
	image->meta_buffer = InvalidBuffer;
	image->told = 0;
	return image;
}

/*
 * Make room for n more directory entries after the existing entries.  The caller sets the new entries and their
 * bounds.
 */
static void
enlarge_image(RtscanImage **image, uint32 n)
{
	uint32		before = (*image)->nentries;
	Size		bounds = (Size) before * (*image)->nkeys * sizeof(RtscanKeyBounds);

	(*image)->nentries += n;
	*image = repalloc(*image, rtscan_image_size(*image));
	memmove(rtscan_image_bounds(*image, 0), &(*image)->entries[before], bounds);
}

RtscanImage *
rtscan_unpack_image(Relation index, const RtscanMeta *meta, const StringInfoData *records)
{
	RtscanImage *image = make_image(index, meta);
	Size		size = rtscan_record_size(meta);

	enlarge_image(&image, records->len / size);
	for (uint32 i = 0; i < image->nentries; i++)
	{
		const char *record = records->data + i * size;
		RtscanKeyBounds *bounds = rtscan_image_bounds(image, i);

		memcpy(&image->entries[i], record, sizeof(RtscanEntry));
		for (uint32 column = 0; column < image->nkeys; column++)
			bounds[column] = RTSCAN_NO_BOUNDS;
		memcpy(bounds, record + sizeof(RtscanEntry), meta->bounded * sizeof(RtscanKeyBounds));
	}
	return image;
}

void
rtscan_pack_image(const RtscanImage *image, StringInfo records)
{
	initStringInfo(records);
	for (uint32 i = 0; i < image->nentries; i++)
	{
		appendBinaryStringInfo(records, (const char *) &image->entries[i], sizeof(RtscanEntry));
		appendBinaryStringInfo(records, (const char *) rtscan_image_bounds(image, i),
							   image->nkeys * sizeof(RtscanKeyBounds));
	}
}

/* ---------------------------------------------------------------- copies */

RtscanImage *
rtscan_copy_image_into(MemoryContext context, const RtscanImage *image)
{
	Size		size = rtscan_image_size(image);

	return memcpy(MemoryContextAlloc(context, size), image, size);
}

RtscanImage *
rtscan_copy_image(const RtscanImage *image)
{
	RtscanImage *copy = rtscan_copy_image_into(CurrentMemoryContext, image);

	copy->own_page = InvalidBlockNumber;
	copy->own_buffer = InvalidBuffer;
	copy->meta_buffer = InvalidBuffer;
	copy->told = 0;
	return copy;
}

/* ---------------------------------------------------------------- changes of an image */

void
rtscan_image_add_segment(RtscanImage **image, const RtscanNewSegment *segment)
{
	uint32		i = (*image)->nentries;

	enlarge_image(image, 1);
	(*image)->entries[i] = segment->entry;
	memcpy(rtscan_image_bounds(*image, i), segment->bounds, (*image)->nkeys * sizeof(RtscanKeyBounds));
}

void
rtscan_image_add_list(RtscanImage **image, const RtscanListRef *list)
{
	RtscanNewSegment added = {
		.entry = {
			.id = list->id,
			.root = list->head,
			.dead = InvalidBlockNumber,
			.kind_bits = RTSCAN_ENTRY_PENDING,
		},
	};

	for (uint32 column = 0; column < (*image)->nkeys; column++)
		added.bounds[column] = RTSCAN_NO_BOUNDS;
	rtscan_image_add_segment(image, &added);
}

/* Return the directory entry that has this kind and id and is not retired, or NULL. */
static RtscanEntry *
find_entry(RtscanImage *image, RtscanEntryKind kind, uint64 id)
{
	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_kind(&image->entries[i]) == kind && image->entries[i].id == id &&
			image->entries[i].safe_xid == 0)
			return &image->entries[i];
	return NULL;
}

bool
rtscan_image_has_pending(const RtscanImage *image)
{
	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_sealed_list(&image->entries[i]))
			return true;
	return image->meta.open.head != InvalidBlockNumber;
}

RtscanEntry *
rtscan_image_segment(RtscanImage *image, uint64 id)
{
	return find_entry(image, RTSCAN_ENTRY_SEGMENT, id);
}

/*
 * Choose an xid that is not older than the xmin of any existing snapshot: our own xid, since it is running, or the
 * next xid to be assigned.  With our own xid, pages can be reused as soon as this transaction has ended.  The xid of
 * a VACUUM or of logical decoding is not used, since snapshots ignore it.
 */
static uint64
choose_safe_xid(void)
{
	FullTransactionId own = GetTopFullTransactionIdIfAny();

	if (!FullTransactionIdIsValid(own) || (MyProc->statusFlags & (PROC_IN_VACUUM | PROC_IN_LOGICAL_DECODING)))
		own = ReadNextFullTransactionId();
	return U64FromFullTransactionId(own);
}

static void
retire(RtscanEntry *entry)
{
	entry->safe_xid = choose_safe_xid();
	entry->retired_at = GetCurrentTimestamp();
}

void
rtscan_image_retire_list(RtscanImage *image, uint64 id)
{
	RtscanEntry *entry = find_entry(image, RTSCAN_ENTRY_PENDING, id);

	if (entry == NULL)
		elog(ERROR, "pending list " UINT64_FORMAT " is not in the directory", id);
	retire(entry);
}

void
rtscan_image_retire_segment(RtscanImage *image, uint64 id)
{
	RtscanEntry *entry = rtscan_image_segment(image, id);

	if (entry == NULL)
		elog(ERROR, "segment " UINT64_FORMAT " is not in the directory", id);
	retire(entry);
}

void
rtscan_image_remove(RtscanImage *image, uint32 i)
{
	RtscanKeyBounds *bounds = rtscan_image_bounds(image, 0);
	uint32		behind = image->nentries - i - 1;

	memmove(&image->entries[i], &image->entries[i + 1], behind * sizeof(RtscanEntry));
	memmove(rtscan_image_bounds(image, i), rtscan_image_bounds(image, i + 1),
			behind * image->nkeys * sizeof(RtscanKeyBounds));
	image->nentries--;
	memmove(rtscan_image_bounds(image, 0), bounds, image->nentries * image->nkeys * sizeof(RtscanKeyBounds));
}

void
rtscan_image_end_writing(RtscanImage *image, RtscanWriterSlot slot)
{
	image->meta.writing[slot] = 0;
}
