/*
 * image.h
 *		The image of an index: all that it consists of, at one moment, as a backend has it.
 */
#ifndef RTSCAN_IMAGE_H
#define RTSCAN_IMAGE_H

#include "rtscan.h"

#include "storage/directory.h"

typedef struct RtscanImage
{
	RtscanMeta	meta;
	uint32		nkeys;			/* key columns of the index */
	uint32		nentries;
	BlockNumber own_page;		/* backend's own hints: the page of the open list that it appends to, */
	Buffer		own_buffer;		/* and where that was in shared buffers; */
	uint64		told;			/* key columns, a bit each, that segments give back as they were: am/can_return.c */
	RtscanEntry entries[FLEXIBLE_ARRAY_MEMBER]; /* and behind them, bounds of each: rtscan_image_bounds() */
} RtscanImage;

static inline Size
rtscan_image_size(const RtscanImage *image)
{
	return offsetof(RtscanImage, entries) + image->nentries * (sizeof(RtscanEntry) + image->nkeys * sizeof(RtscanKeyBounds));
}

/* The bounds of an entry's key columns. */
static inline RtscanKeyBounds *
rtscan_image_bounds(const RtscanImage *image, uint32 i)
{
	return (RtscanKeyBounds *) unconstify(RtscanEntry *, image->entries + image->nentries) + (Size) i * image->nkeys;
}

/* An image that nobody else has yet, made of records; and the records that an image is, of today's size. */
extern RtscanImage *rtscan_unpack_image(Relation index, const RtscanMeta *meta, const StringInfoData *records);
extern void rtscan_pack_image(const RtscanImage *image, StringInfo records);

/* A copy, as one chunk of memory: with what a backend notes in it, or without, in the current memory context. */
extern RtscanImage *rtscan_copy_image_into(MemoryContext context, const RtscanImage *image);
extern RtscanImage *rtscan_copy_image(const RtscanImage *image);

/* For a RtscanChange: add a segment, or a sealed list; retire a sealed list or a segment, from now on; remove entry i. */
extern void rtscan_image_add_segment(RtscanImage **image, const RtscanNewSegment *segment);
extern void rtscan_image_add_list(RtscanImage **image, const RtscanListRef *list);
extern void rtscan_image_retire_list(RtscanImage *image, uint64 id);
extern void rtscan_image_retire_segment(RtscanImage *image, uint64 id);
extern void rtscan_image_remove(RtscanImage *image, uint32 i);

/* Are there pending lists that may have rows? */
extern bool rtscan_image_has_pending(const RtscanImage *image);

/* The live segment with an id, or NULL. */
extern RtscanEntry *rtscan_image_segment(RtscanImage *image, uint64 id);

/* For a RtscanChange: what the attempt in a slot has written is part of the image now. */
extern void rtscan_image_end_writing(RtscanImage *image, RtscanWriterSlot slot);

#endif							/* RTSCAN_IMAGE_H */
