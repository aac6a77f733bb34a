/*
 * writing.h
 *		Write segments and dead bits so that work that is cut short leaves nothing behind.
 *
 * Who writes pages that a later switch makes part of the index, but for a build (below), has one of two slots, each under its own
 * heavyweight lock.  His attempt has a name, the first id that it was given; the metapage keeps it until that switch
 * (rtscan_image_end_writing).  Before he writes to pages he notes which ones he takes, and who is going to own them:
 *
 *	metapage: writing[slot] = attempt
 *			  taken[slot] ──► taken page ──► taken page ──► ...		(owner: the slot)
 *
 *	payload	│ attempt │ owner, first block, count │ owner, first block, count │ ... │
 *
 * The slot keeps its taken pages, and each attempt writes over them; one that names another attempt says nothing.  Who
 * has the slot next finds the attempt in the metapage still, and frees what it has taken: so many pages
 * are read, and no others.  Each is freed only if it belongs to the owner that the note names: the work may have been cut short
 * before it was written, or freeing may have been, and then somebody else has it by now.
 *
 * A build has neither lock nor notes, so that several processes can write at once, and extends the file only: nobody looks into that before
 * the build has ended, and if it is cut short the file is thrown away (or stays what an invalid index has, which is not used).
 */
#ifndef RTSCAN_WRITING_H
#define RTSCAN_WRITING_H

#include "rtscan.h"

#include "storage/metapage.h"
#include "storage/page.h"

/* Blocks that an attempt has taken.  They may lie behind the end of the index: the disk was full. */
typedef struct RtscanTaken
{
	uint64		owner;			/* of the pages, once they are written */
	BlockNumber first;
	uint32		count;
} RtscanTaken;

/* The payload of a taken page. */
typedef struct RtscanTakenPage
{
	uint64		attempt;
	RtscanTaken taken[FLEXIBLE_ARRAY_MEMBER];
} RtscanTakenPage;

#define RTSCAN_TAKEN_PER_PAGE	((RTSCAN_CHUNK_BYTES - offsetof(RtscanTakenPage, taken)) / sizeof(RtscanTaken))

/* An attempt; begins with the first id. */
typedef struct RtscanWriting
{
	Relation	index;
	RtscanWriterSlot slot;
	uint64		attempt;		/* 0: has not begun */
	uint64		id;				/* given out last */
	BlockNumber page;			/* the taken page that is written, */
	uint32		ordinal;
	uint32		count;			/* how many notes it has, */
	RtscanTaken last;			/* and the last of them */
} RtscanWriting;

static inline RtscanWriting
rtscan_writing(Relation index, RtscanWriterSlot slot)
{
	return (RtscanWriting) {.index = index, .slot = slot};
}

/* A new id for a segment that is going to be written.  The first one begins the attempt, and frees what the one before has left. */
extern uint64 rtscan_writing_id(RtscanWriting *writing);

/*
 * In a switch, which links what the attempt has written: it ends.  One that has written nothing has not begun, nor freed what
 * the one before has left; then the slot stays that one's.
 */
extern void rtscan_end_writing(const RtscanWriting *writing, RtscanImage *image);

/* Take at most so many pages to write to, exclusively locked; as rtscan_allocate_page(). */
#define RTSCAN_TAKE_PAGES		16
extern void rtscan_take_pages(RtscanWriting *writing, uint64 owner, Buffer *buffers, int n);

/* Take a page and write it, as rtscan_write_new_page(). */
extern BlockNumber rtscan_write_taken_page(RtscanWriting *writing, RtscanPageKind kind, uint64 owner,
										   uint32 ordinal, const void *content, Size used, BlockNumber next);

/*
 * Before the first segment of a build: have the pages that an index keeps for good, taken pages and two directories, at the
 * beginning of the file, so that they are not in the way when its end can be cut off.
 */
extern void rtscan_prepare_writing(Relation index);

/* Free what an attempt that was cut short has taken, if there was one.  Needs the slot's lock. */
extern void rtscan_reclaim(Relation index, RtscanWriterSlot slot);

/* What a taken page notes, in the current memory context; raises ERRCODE_INDEX_CORRUPTED if it cannot be. */
extern RtscanTakenPage *rtscan_read_taken(Relation index, RtscanWriterSlot slot, BlockNumber block,
										  uint32 ordinal, uint32 *count);

#endif							/* RTSCAN_WRITING_H */
