/* SPDX-License-Identifier: PostgreSQL */
/*
 * writing.h
 *		Write segments and dead bits so that an interrupted attempt does not leak pages.
 *
 * An attempt writes pages that a later switch makes part of the index.  It uses one of two slots, each of which has
 * its own heavyweight lock (builds are different, see below).  The name of the attempt is the first id that it gets;
 * the metapage has this name until the switch (rtscan_image_end_writing).  Before the attempt writes to pages, it
 * notes which pages it takes, and which id will own them:
 *
 *	metapage: writing[slot] = attempt
 *			  taken[slot] ──► taken page ──► taken page ──► ...		(owner: the slot)
 *
 *	payload	│ attempt │ owner, first block, count │ owner, first block, count │ ... │
 *
 * The slot keeps its taken pages, and each attempt overwrites them; a taken page that names another attempt is
 * ignored.  If an attempt is interrupted, its name stays in the metapage.  The next user of the slot frees the pages
 * that the attempt has noted, and reads no other pages.  A page is freed only if it belongs to the owner in the note.
 * The attempt may have been interrupted before it wrote the page, or an interrupted cleanup may have freed the page
 * already; in both cases the page may belong to another owner meanwhile.
 *
 * A build uses neither lock nor notes, so that several processes can write at once.  It only extends the file.  No
 * other process reads the new pages before the build has ended.  If the build is interrupted, its file is removed, or
 * remains as the file of an invalid index, which is not used.
 */
#ifndef RTSCAN_WRITING_H
#define RTSCAN_WRITING_H

#include "rtscan.h"

#include "storage/metapage.h"
#include "storage/page.h"

/*
 * Consecutive blocks that an attempt has taken.  The blocks may lie beyond the end of the index, if the index could
 * not be extended after the blocks were noted.
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
	RtscanTaken taken[FLEXIBLE_ARRAY_MEMBER];	/* notes of the attempt */
} RtscanTakenPage;

#define RTSCAN_TAKEN_PER_PAGE	((RTSCAN_CHUNK_BYTES - offsetof(RtscanTakenPage, taken)) / sizeof(RtscanTaken))

/* An attempt to write pages.  It begins when it gets its first id. */
typedef struct RtscanWriting
{
	Relation	index;			/* index that is written to */
	RtscanWriterSlot slot;		/* slot that the attempt uses */
	uint64		attempt;		/* name of the attempt, its first id; 0: it has not begun */
	uint64		id;				/* the id given out last */
	BlockNumber page;			/* block of the taken page that is being filled */
	uint32		ordinal;		/* ordinal of the taken page that is being filled */
	uint32		count;			/* number of notes on the taken page that is being filled */
	RtscanTaken last;			/* last note on the taken page that is being filled */
} RtscanWriting;

static inline RtscanWriting
rtscan_writing(Relation index, RtscanWriterSlot slot)
{
	return (RtscanWriting) {.index = index, .slot = slot};
}

/*
 * Return a new id, for a segment that will be written.  The first call begins the attempt, and frees the pages that
 * an interrupted attempt has left in the slot.
 */
extern uint64 rtscan_writing_id(RtscanWriting *writing);

/*
 * End the attempt, within the switch that makes its pages part of the index.  Does nothing if the attempt has not
 * begun: the metapage may still have the name of an earlier attempt in this slot, whose pages have not been freed.
 */
extern void rtscan_end_writing(const RtscanWriting *writing, RtscanImage *image);

/*
 * Take n pages to write to, at most RTSCAN_TAKE_PAGES, and note them for "owner".  Returns them in "buffers",
 * exclusively locked, with undefined content.
 */
#define RTSCAN_TAKE_PAGES		16
extern void rtscan_take_pages(RtscanWriting *writing, uint64 owner, Buffer *buffers, int n);

/* Take a page and write it, as rtscan_write_new_page() does. */
extern BlockNumber rtscan_write_taken_page(RtscanWriting *writing, RtscanPageKind kind, uint64 owner,
										   uint32 ordinal, const void *content, Size used, BlockNumber next);

/*
 * Allocate the pages that an index keeps for good: the first taken pages and two directories.  Called before the first
 * segment of a build is written, so that these pages are at the beginning of the file, where they do not keep VACUUM
 * from truncating the file.
 */
extern void rtscan_prepare_writing(Relation index);

/* Free the pages taken by an interrupted attempt, if the slot has one.  Needs the slot's lock. */
extern void rtscan_reclaim(Relation index, RtscanWriterSlot slot);

/*
 * Read a taken page, into the current memory context, and set *count to the number of its notes.  Raises
 * ERRCODE_INDEX_CORRUPTED if the page is not a valid taken page.
 */
extern RtscanTakenPage *rtscan_read_taken(Relation index, RtscanWriterSlot slot, BlockNumber block,
										  uint32 ordinal, uint32 *count);

#endif							/* RTSCAN_WRITING_H */
