/* SPDX-License-Identifier: PostgreSQL */
/*
 * writing.h
 *		Write segments and dead bits so that an interrupted attempt does not leak pages.
 *
 * An attempt writes pages that a later switch makes part of the index.  It uses one of two slots, each
 * protected by a heavyweight lock of its own (builds are different, see below).  The attempt is named by the
 * first id that it was given; the metapage has that name until the switch (rtscan_image_end_writing).  Before
 * the attempt writes to pages it notes which ones it takes, and what id will own them:
 *
 *	metapage: writing[slot] = attempt
 *			  taken[slot] ──► taken page ──► taken page ──► ...		(owner: the slot)
 *
 *	payload	│ attempt │ owner, first block, count │ owner, first block, count │ ... │
 *
 * The slot keeps its taken pages, and each attempt overwrites them; a taken page that names another attempt is
 * ignored.  If an attempt is interrupted, the next user of the slot still finds it in the metapage, and frees
 * the pages that it has taken; it reads no other pages.  Each is freed only if it belongs to the owner in the
 * note: the attempt may have been interrupted before it wrote the page, or an interrupted cleanup may have
 * freed it already; in either case it may belong to another owner by now.
 *
 * A build uses neither lock nor notes, so that several processes can write at once.  It only extends the file.
 * No other process reads the new pages before the build has ended; if it is interrupted the file is removed (or
 * remains that of an invalid index, which is not used).
 */
#ifndef RTSCAN_WRITING_H
#define RTSCAN_WRITING_H

#include "rtscan.h"

#include "storage/metapage.h"
#include "storage/page.h"

/*
 * Consecutive blocks that an attempt has taken.  They may lie beyond the end of the index, if it could not be
 * extended.
 */
typedef struct RtscanTaken
{
	uint64		owner;			/* owner of the pages once they are written */
	BlockNumber first;
	uint32		count;			/* number of blocks */
} RtscanTaken;

/* The payload of a taken page. */
typedef struct RtscanTakenPage
{
	uint64		attempt;		/* the attempt that wrote this page; 0: none */
	RtscanTaken taken[FLEXIBLE_ARRAY_MEMBER];	/* its notes */
} RtscanTakenPage;

#define RTSCAN_TAKEN_PER_PAGE	((RTSCAN_CHUNK_BYTES - offsetof(RtscanTakenPage, taken)) / sizeof(RtscanTaken))

/* An attempt.  It begins with its first id. */
typedef struct RtscanWriting
{
	Relation	index;			/* index that is written to */
	RtscanWriterSlot slot;		/* slot that the attempt uses */
	uint64		attempt;		/* its name, the first id; 0: it has not begun */
	uint64		id;				/* the id given out last */
	BlockNumber page;			/* block of the taken page that is being filled */
	uint32		ordinal;		/* ordinal of that taken page */
	uint32		count;			/* number of notes on that page */
	RtscanTaken last;			/* the last of these notes */
} RtscanWriting;

static inline RtscanWriting
rtscan_writing(Relation index, RtscanWriterSlot slot)
{
	return (RtscanWriting) {.index = index, .slot = slot};
}

/*
 * Return a new id, for a segment that will be written.  The first call begins the attempt, and frees what an
 * interrupted attempt before it has left.
 */
extern uint64 rtscan_writing_id(RtscanWriting *writing);

/*
 * End the attempt, within the switch that makes its pages part of the index.  Does nothing if the attempt has
 * not begun: then the slot still has the attempt before it, whose pages have not been freed.
 */
extern void rtscan_end_writing(const RtscanWriting *writing, RtscanImage *image);

/*
 * Take at most RTSCAN_TAKE_PAGES pages to write to, exclusively locked, with undefined content, and note them
 * for this owner.
 */
#define RTSCAN_TAKE_PAGES		16
extern void rtscan_take_pages(RtscanWriting *writing, uint64 owner, Buffer *buffers, int n);

/* Take a page and write it, as rtscan_write_new_page() does. */
extern BlockNumber rtscan_write_taken_page(RtscanWriting *writing, RtscanPageKind kind, uint64 owner,
										   uint32 ordinal, const void *content, Size used, BlockNumber next);

/*
 * Allocate, before the first segment of a build, the pages that an index keeps for good: the first taken pages
 * and two directories.  At the beginning of the file they are not in the way when VACUUM truncates it.
 */
extern void rtscan_prepare_writing(Relation index);

/* Free the pages taken by an interrupted attempt, if there was one.  Needs the slot's lock. */
extern void rtscan_reclaim(Relation index, RtscanWriterSlot slot);

/*
 * Read a taken page, into the current memory context, and set the number of its notes.  Raises
 * ERRCODE_INDEX_CORRUPTED if it is not a valid one.
 */
extern RtscanTakenPage *rtscan_read_taken(Relation index, RtscanWriterSlot slot, BlockNumber block,
										  uint32 ordinal, uint32 *count);

#endif							/* RTSCAN_WRITING_H */
