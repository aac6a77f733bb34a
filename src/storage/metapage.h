/*
 * metapage.h
 *		The metapage, the directory of segments, and how both change.
 *
 * Block 0 is the metapage.  It names the open pending list and the first page of the
 * directory: a chain of pages of RtscanEntry; and it has what has become different since that was written.
 * Who has read metapage and directory under the
 * metapage's lock has one consistent image of segments, sealed lists and open list; that is
 * the whole guarantee, and all that a scan needs.
 *
 *	metapage ──► directory page ──► directory page		(owner: the version that wrote it)
 *	   │			differences from these are behind RtscanMeta
 *	   │			├─ segment	──► descriptor, dead map
 *	   │			├─ sealed pending list: nobody appends to it; it waits to become a segment
 *	   │			└─ retired	──► what a change took out, until nobody can see it
 *	   ├──► spare directory: the one before, to be written over by the next change
 *	   ├──► open pending list		(storage/pending.h)
 *	   └──► taken pages			(storage/writing.h)
 *
 * A change (rtscan_switch) is applied to the image that is current under the metapage's exclusive lock.  If
 * the image's differences from the directory are less than that is, and find room in the metapage, that alone is written: so a
 * change of an index of thousands of segments is a small one.  Else the image is written over the spare directory, and then the
 * metapage is switched to that; in either case in one WAL record.  Nobody reads the spare directory: on a standby, too,
 * a reader holds the metapage's lock while it reads the one that the metapage names.  What a
 * change takes out of the image it retires with a safe xid, chosen under the same lock: pages
 * of it may be reused only when that precedes the xmin of all snapshots, for a reader takes its snapshot
 * before it reads the metapage.  An inserter has none, but checks under a page's lock whose page it is.
 *
 * Behind each entry are the bounds of its segment's key columns: so whoever looks for values that it cannot have does not open it. Nor
 * does VACUUM, where all blocks that it has rows in are all-visible.
 *
 *	│ RtscanEntry │ least, greatest of column 0 │ of column 1 │ ... │ RtscanEntry │ ...
 *
 * Differences are records like these.  Those that replace the directory's entry with the same id, or remove it, come first, in the
 * directory's order, and then those that are new.
 *
 * Ids are never used twice in the life of an index build (its uuid), so a copy of what an
 * id names is never stale: it is used, or dropped.  Of two pending lists the older one has the smaller id.
 *
 * The metapage says in which format the index is stored.  Each format is read by the next two, so that an index
 * stays usable through two changes of it; one that is older or newer gets an error that says REINDEX.
 * An image is one of today's format as soon as it has been read.  The first change of the image writes metapage
 * and directory in today's format, and merges write the segments anew; nothing is changed before.
 * Whoever changes what any page holds
 *	- raises RTSCAN_FORMAT_VERSION, and RTSCAN_OLDEST_FORMAT no further than the assertion below allows,
 *	- tells segments of the format before by their descriptors, if it is they that change, and lets merges take them,
 *	- stores indexes of the format that ends in t/data, which t/017_upgrade.pl reads ever after,
 *	- says so in CHANGELOG.md.
 *
 * Format 3 (rtscan 1.0) had no entries of sealed lists, but one sealed list in the metapage, which ended before what came
 * with format 4 (rtscan 1.1); and its INCLUDE columns were all stored in one way, which is still one of several: segment/include.h.
 *
 * Lock order of buffer contents: list page, its pending pages, metapage, directory or new page (a new list page,
 * which nobody else can know, comes before the metapage).  Dead bits, dead map.
 * Heavyweight locks: storage/locks.h.
 */
#ifndef RTSCAN_METAPAGE_H
#define RTSCAN_METAPAGE_H

#include "rtscan.h"

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "storage/block.h"
#include "storage/page.h"
#include "utils/snapshot.h"
#include "utils/uuid.h"

#define RTSCAN_METAPAGE_BLOCK	0
#define RTSCAN_MAGIC			0x72747363	/* "rtsc" */
#define RTSCAN_FORMAT_VERSION	4
#define RTSCAN_OLDEST_FORMAT	3	/* that is read */
#define RTSCAN_FIRST_FORMAT		3	/* of a release */

StaticAssertDecl(RTSCAN_OLDEST_FORMAT <= Max(RTSCAN_FORMAT_VERSION - 2, RTSCAN_FIRST_FORMAT),
				 "each format is read by the next two");

/* As many inserters do not wait for each other; storage/pending.h. */
#define RTSCAN_INSERTION_PAGES	8

/* A pending list: its id, and its list page, InvalidBlockNumber as long as it is empty. */
typedef struct RtscanListRef
{
	uint64		id;				/* 0: there is no such list */
	BlockNumber head;
	uint32		unused;
} RtscanListRef;

/* What the metapage's payload holds. */
typedef struct RtscanMeta
{
	uint32		magic;
	uint32		format;
	pg_uuid_t	uuid;			/* of this build of the index */
	uint64		version;		/* of the image; every change makes a new one */
	uint64		next_id;
	BlockNumber directory;		/* InvalidBlockNumber: it has no entry */
	BlockNumber spare;			/* the directory before, or InvalidBlockNumber */
	uint32		format_3_leaks[2];	/* not looked at */
	uint64		directory_version;	/* owner of the directory's pages, */
	uint64		spare_version;	/* and of the spare one's */
	RtscanListRef open;			/* inserters append to it */
	RtscanListRef format_3_sealed;	/* none in an image */
	uint64		writing[2];		/* attempts to write, by RtscanWriterSlot; 0: none, or it was finished */
	/* since format 4 */
	uint32		flush_attempts; /* to flush a list, begun since the last one that succeeded; maintain/flush.h */
	uint32		bounded;		/* key columns of which the directory's entries have bounds; all of them, or none: older ones */
	BlockNumber taken[2];		/* what attempts to write have taken; RTSCAN_NO_TAKEN_PAGE: none so far */
} RtscanMeta;

#define RTSCAN_NO_TAKEN_PAGE	0

/* Who may be writing a segment: each under its own heavyweight lock, but for the build; storage/writing.h. */
typedef enum RtscanWriterSlot
{
	RTSCAN_SLOT_FLUSH,
	RTSCAN_SLOT_MERGE,
	RTSCAN_SLOT_BUILD			/* no slot of the metapage */
} RtscanWriterSlot;

typedef enum RtscanEntryKind
{
	RTSCAN_ENTRY_SEGMENT,		/* live while safe_xid is 0 */
	RTSCAN_ENTRY_PENDING,		/* a pending list; sealed while safe_xid is 0 */
	RTSCAN_ENTRY_REMOVED		/* a difference: the directory's entry with this id is not in the image */
} RtscanEntryKind;

/* Blocks of the table, the last one included. */
typedef struct RtscanBlockRange
{
	BlockNumber first;
	BlockNumber last;
} RtscanBlockRange;

typedef struct RtscanEntry
{
	uint64		id;				/* owner of its pages */
	union
	{
		RtscanBlockRange blocks;	/* of a live segment: rtscan_entry_has_blocks() */
		TimestampTz retired_at; /* of what is retired */
	};
	uint64		safe_xid;		/* retired: a FullTransactionId; 0: not retired */
	uint32		rows;
	BlockNumber root;			/* first descriptor, or list page */
	BlockNumber dead;			/* segment: its dead map, if rows have died */
	uint32		kind_bits;		/* in its lowest byte RtscanEntryKind; behind it of a segment RTSCAN_ENTRY_NONNULL() of key columns */
} RtscanEntry;

/* No row has NULL in a key column, dead ones included: known of some of the first ones. */
#define RTSCAN_NONNULL_COLUMNS	24
#define RTSCAN_ENTRY_NONNULL(column)	(0x100U << (column))

static inline RtscanEntryKind
rtscan_entry_kind(const RtscanEntry *entry)
{
	return (RtscanEntryKind) (entry->kind_bits & 0xFF);
}

static inline bool
rtscan_entry_is_nonnull(const RtscanEntry *entry, int column)
{
	return column < RTSCAN_NONNULL_COLUMNS && (entry->kind_bits & RTSCAN_ENTRY_NONNULL(column)) != 0;
}

/*
 * What the keys (row/keys.h) of a segment's column are between, dead rows' included, but for NULL: least > greatest where all are NULL.
 * Of a column without keys, and in older directories, nothing is known.
 */
typedef struct RtscanKeyBounds
{
	uint64		least;
	uint64		greatest;
} RtscanKeyBounds;

#define RTSCAN_NO_BOUNDS	((RtscanKeyBounds) {0, PG_UINT64_MAX})

/* A segment that has been written, for a switch to make it part of the index. */
typedef struct RtscanNewSegment
{
	RtscanEntry entry;
	RtscanKeyBounds bounds[INDEX_MAX_KEYS]; /* by key column */
} RtscanNewSegment;

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

static inline bool
rtscan_entry_is_live(const RtscanEntry *entry)
{
	return rtscan_entry_kind(entry) == RTSCAN_ENTRY_SEGMENT && entry->safe_xid == 0;
}

/*
 * Does a live segment's entry say which blocks of the table its rows are in?  Older directories have zero there, or the id of a
 * pending list, of 64 bits of which the upper ones are zero.
 */
static inline bool
rtscan_entry_has_blocks(const RtscanEntry *entry)
{
	return entry->blocks.last != 0 && entry->blocks.first <= entry->blocks.last;
}

static inline bool
rtscan_entry_is_sealed_list(const RtscanEntry *entry)
{
	return rtscan_entry_kind(entry) == RTSCAN_ENTRY_PENDING && entry->safe_xid == 0;
}

static inline RtscanListRef
rtscan_entry_list(const RtscanEntry *entry)
{
	return (RtscanListRef) {.id = entry->id, .head = entry->root};
}

/* Write the metapage of an empty index as block 0 of a fork. */
extern void rtscan_create_metapage(Relation index, ForkNumber fork);

/*
 * The current image; it belongs to the relation's cache, and may move whenever an image
 * of the same index is read again: copy it (rtscan_copy_image) to keep it.  Scans pass
 * their snapshot, for "snapshot too old"; others NULL.  With soft, returns NULL where it
 * would raise an error about the index's pages.
 */
extern RtscanImage *rtscan_read_image(Relation index, Snapshot snapshot, bool soft);
extern RtscanImage *rtscan_copy_image(const RtscanImage *image);

/* The format that the metapage says, whether it is read or not.  Raises an error where there is no metapage. */
extern uint32 rtscan_stored_format(Relation index);

/* An image in the current memory context, and the blocks of its directory and of the spare one. */
extern RtscanImage *rtscan_read_directories(Relation index, List **blocks);

/*
 * Change the current image.  The function gets it writable, and says whether it changed
 * anything; it runs under the metapage's exclusive lock, and must be short.
 */
typedef bool (*RtscanChange) (Relation index, RtscanImage **image, void *arg);
extern void rtscan_switch(Relation index, RtscanChange change, void *arg);

/*
 * The same with pages of a pending list, which the caller has locked.  Either its list page is new, and gets its first
 * content in one WAL record with the metapage.  Or they are marked as sealed: the list page, in one record with the
 * metapage, and the pending pages that somebody may append to; who finds a page not sealed appends
 * to a list that every image so far has.  Returns whether there was a change.
 */
typedef struct RtscanListPages
{
	Buffer		list;
	bool		is_new;
	int			ninsertion;		/* to be sealed */
	Buffer		insertion[RTSCAN_INSERTION_PAGES];
} RtscanListPages;

extern bool rtscan_switch_list(Relation index, RtscanChange change, void *arg, const RtscanListPages *pages);

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

#endif							/* RTSCAN_METAPAGE_H */
