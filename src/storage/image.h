/* SPDX-License-Identifier: PostgreSQL */
/*
 * image.h
 *		The image of an index: one version of its metapage and directory, in a backend's memory.
 *
 * The image of a value is something else: the bytes of the value, which tell equal values apart (segment/segment.h).
 */
#ifndef RTSCAN_IMAGE_H
#define RTSCAN_IMAGE_H

#include "rtscan.h"

#include "storage/directory.h"

/* An image of an index. */
typedef struct RtscanImage
{
	RtscanMeta	meta;			/* payload of the metapage */
	uint32		nkeys;			/* number of key columns */
	uint32		nentries;		/* number of directory entries */
	BlockNumber own_page;		/* the backend's own hint: the page of the open list to which the backend appends, or
								 * InvalidBlockNumber */
	Buffer		own_buffer;		/* the backend's own hint: the shared buffer that had own_page, or InvalidBuffer */
	Buffer		meta_buffer;	/* the backend's own hint: the shared buffer that had the metapage, or InvalidBuffer */
	uint64		told;			/* bit mask: key columns for which the backend has found that no segment has lost
								 * images; see am/can_return.c */
	RtscanEntry entries[FLEXIBLE_ARRAY_MEMBER]; /* directory entries, followed by the bounds of all entries:
												 * rtscan_image_bounds() */
} RtscanImage;

/* Return the bytes that an image takes. */
static inline Size
rtscan_image_size(const RtscanImage *image)
{
	return offsetof(RtscanImage, entries) +
		image->nentries * (sizeof(RtscanEntry) + image->nkeys * sizeof(RtscanKeyBounds));
}

/* Return the bounds of the key columns of directory entry i. */
static inline RtscanKeyBounds *
rtscan_image_bounds(const RtscanImage *image, uint32 i)
{
	return (RtscanKeyBounds *) unconstify(RtscanEntry *, image->entries + image->nentries) + (Size) i * image->nkeys;
}

/* Make an image from records, in the current memory context.  The image is not in the relation cache. */
extern RtscanImage *rtscan_unpack_image(Relation index, const RtscanMeta *meta, const StringInfoData *records);

/* Set "records" to the records of an image, in the current format. */
extern void rtscan_pack_image(const RtscanImage *image, StringInfo records);

/* Copy an image, with the backend's hints, as one allocation in a memory context. */
extern RtscanImage *rtscan_copy_image_into(MemoryContext context, const RtscanImage *image);

/* Copy an image, without the backend's hints, as one allocation in the current memory context. */
extern RtscanImage *rtscan_copy_image(const RtscanImage *image);

/*
 * Functions that change an image, for a RtscanChange: add a segment; add a sealed list; retire a sealed list; retire
 * a segment; remove directory entry i.  Retiring sets the safe xid and the time of the entry.
 */
extern void rtscan_image_add_segment(RtscanImage **image, const RtscanNewSegment *segment);
extern void rtscan_image_add_list(RtscanImage **image, const RtscanListRef *list);
extern void rtscan_image_retire_list(RtscanImage *image, uint64 id);
extern void rtscan_image_retire_segment(RtscanImage *image, uint64 id);
extern void rtscan_image_remove(RtscanImage *image, uint32 i);

/* Are there pending lists that may have rows? */
extern bool rtscan_image_has_pending(const RtscanImage *image);

/* Return the directory entry of the live segment with this id, or NULL. */
extern RtscanEntry *rtscan_image_segment(RtscanImage *image, uint64 id);

/*
 * For a RtscanChange: record that the attempt in a slot has ended, because its pages are part of the index, or free.
 */
extern void rtscan_image_end_writing(RtscanImage *image, RtscanWriterSlot slot);

#endif							/* RTSCAN_IMAGE_H */
