/* SPDX-License-Identifier: PostgreSQL */
/*
 * directory.h
 *		The content of metapage and directory: records of an index's segments and pending lists.
 *
 * A record is a directory entry, followed by the bounds of the key columns in its segment.  With these bounds, a scan
 * can skip a segment that cannot have matching rows, without opening it.  With the entry's range of heap blocks,
 * VACUUM can skip a segment whose rows are all in all-visible blocks.
 *
 *	│ RtscanEntry │ least, greatest of column 0 │ of column 1 │ ... │ RtscanEntry │ ...
 *
 * The directory's records are on a chain of pages.  Changes since these pages were written are stored as records in
 * the metapage, after RtscanMeta: the differences.  A difference with the id of a directory's record replaces or
 * removes this record.  Replacements and removals come first, in the order of the directory; new records follow.
 *
 * Directory and metapage are read and written under the metapage's lock (metapage.h).
 */
#ifndef RTSCAN_DIRECTORY_H
#define RTSCAN_DIRECTORY_H

#include "rtscan.h"

#include "datatype/timestamp.h"
#include "lib/stringinfo.h"
#include "storage/block.h"
#include "storage/page.h"
#include "utils/uuid.h"

/* Refers to a pending list. */
typedef struct RtscanListRef
{
	uint64		id;				/* id of the list; 0: there is no list */
	BlockNumber head;			/* the list's list page; InvalidBlockNumber while the list is empty */
	uint32		unused;
} RtscanListRef;

/* The payload of the metapage, without the records after it. */
typedef struct RtscanMeta
{
	uint32		magic;
	uint32		format;
	pg_uuid_t	uuid;			/* identifies this build of the index */
	uint64		version;		/* version of the index's image; incremented by every change */
	uint64		next_id;		/* the id that is given out next */
	BlockNumber directory;		/* first page of the directory; InvalidBlockNumber: it has no pages */
	BlockNumber spare;			/* first page of the spare directory, which is the one before, to be written over; or
								 * InvalidBlockNumber */
	uint32		format_3_leaks[2];	/* used by format 3 only; ignored */
	uint64		directory_version;	/* owner of the directory's pages */
	uint64		spare_version;	/* owner of the spare directory's pages */
	RtscanListRef open;			/* the open list, to which inserters append */
	RtscanListRef format_3_sealed;	/* the only sealed list in format 3; an image has it as a directory entry */
	uint64		writing[2];		/* names of unfinished attempts to write, by RtscanWriterSlot; 0: none */
	/* the members below are new in format 4 */
	uint32		flush_attempts; /* number of attempts to flush a list since the last success; maintain/flush.h */
	uint32		bounded;		/* number of key columns with bounds in the directory's entries: all of them, or 0 in
								 * older directories */
	BlockNumber taken[2];		/* first taken page of each RtscanWriterSlot, or RTSCAN_NO_TAKEN_PAGE */
} RtscanMeta;

#define RTSCAN_NO_TAKEN_PAGE	0

/*
 * The kinds of writers.  Each kind except for the build writes under a heavyweight lock of its own: see
 * storage/writing.h.
 */
typedef enum RtscanWriterSlot
{
	RTSCAN_SLOT_FLUSH,
	RTSCAN_SLOT_MERGE,
	RTSCAN_SLOT_BUILD			/* has no slot in the metapage */
} RtscanWriterSlot;

/* The kinds of directory entries. */
typedef enum RtscanEntryKind
{
	RTSCAN_ENTRY_SEGMENT,		/* live while safe_xid is 0 */
	RTSCAN_ENTRY_PENDING,		/* a pending list; sealed while safe_xid is 0 */
	RTSCAN_ENTRY_REMOVED		/* only among the differences: the directory's entry with this id is not in the image */
} RtscanEntryKind;

/* A range of heap blocks, including the last one. */
typedef struct RtscanBlockRange
{
	BlockNumber first;			/* the first block */
	BlockNumber last;			/* the last block */
} RtscanBlockRange;

/* A directory entry: a segment or a pending list. */
typedef struct RtscanEntry
{
	uint64		id;				/* owner of its pages */
	union
	{
		RtscanBlockRange blocks;	/* live segment: the heap blocks of its rows, if rtscan_entry_has_blocks() */
		TimestampTz retired_at; /* retired entry: when it was retired */
	};
	uint64		safe_xid;		/* retired entry: a FullTransactionId, see metapage.h; 0: not retired */
	uint32		rows;			/* number of rows of a segment */
	BlockNumber root;			/* first descriptor page of a segment, or list page of a list */
	BlockNumber dead;			/* segment: its dead map; InvalidBlockNumber: no row has died */
	uint32		kind_bits;		/* RtscanEntryKind in the lowest 7 bits; for a segment also the RTSCAN_ENTRY_...
								 * flags below */
} RtscanEntry;

/*
 * Flag of a segment: no image of a value is lost, so all key columns give their values back exactly as they were
 * inserted (rtscan_lost_no_image() in segment/segment.h).  rtscan 1.0 does not set this flag.
 */
#define RTSCAN_ENTRY_LOST_NO_IMAGE	0x80U

/* Flags: no row has NULL in the key column, dead rows included.  There are flags for the first 24 columns only. */
#define RTSCAN_NONNULL_COLUMNS	24
#define RTSCAN_ENTRY_NONNULL(column)	(0x100U << (column))

static inline RtscanEntryKind
rtscan_entry_kind(const RtscanEntry *entry)
{
	return (RtscanEntryKind) (entry->kind_bits & 0x7F);
}

static inline bool
rtscan_entry_lost_no_image(const RtscanEntry *entry)
{
	return (entry->kind_bits & RTSCAN_ENTRY_LOST_NO_IMAGE) != 0;
}

static inline bool
rtscan_entry_is_nonnull(const RtscanEntry *entry, int column)
{
	return column < RTSCAN_NONNULL_COLUMNS && (entry->kind_bits & RTSCAN_ENTRY_NONNULL(column)) != 0;
}

/*
 * The least and greatest key (row/keys.h) of a column in a segment.  Dead rows are included, NULLs are not.  If all
 * rows have NULL, least > greatest.  The value is RTSCAN_NO_BOUNDS if the bounds are not known: for a column without
 * keys, and for a segment whose entry was made in format 3.
 */
typedef struct RtscanKeyBounds
{
	uint64		least;
	uint64		greatest;
} RtscanKeyBounds;

#define RTSCAN_NO_BOUNDS	((RtscanKeyBounds) {0, PG_UINT64_MAX})

/* A segment that has been written, and is added to the index by a switch. */
typedef struct RtscanNewSegment
{
	RtscanEntry entry;
	RtscanKeyBounds bounds[INDEX_MAX_KEYS]; /* one for each key column */
} RtscanNewSegment;

static inline bool
rtscan_entry_is_live(const RtscanEntry *entry)
{
	return rtscan_entry_kind(entry) == RTSCAN_ENTRY_SEGMENT && entry->safe_xid == 0;
}

/*
 * Does a live segment's entry have the heap blocks of its rows?  In place of the blocks, an entry that was made in
 * format 3 has a 64-bit integer, 0 or the id of a pending list, whose upper half ("last") is zero.  Therefore also
 * false for a segment whose rows are all in heap block 0.
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

/* Return the size in bytes of a record of this index. */
extern Size rtscan_record_size(const RtscanMeta *meta);

/*
 * Read the directory's records.  If the directory is unreadable, returns false if "soft" is true, else raises an
 * error.
 */
extern bool rtscan_read_directory(Relation index, const RtscanMeta *meta, bool soft, StringInfo records);

/*
 * Write records over the spare directory, which becomes the directory; the old directory becomes the spare one.
 * Changes *meta accordingly; meta->version is the version that is being written.
 */
extern void rtscan_write_directory(Relation index, RtscanMeta *meta, const StringInfoData *records);

/*
 * Apply the differences that are stored after RtscanMeta to the directory's records, and set "records" to the current
 * records.  Returns false if the differences or the result are invalid.
 */
extern bool rtscan_apply_differences(const RtscanMeta *meta, const char *differences, Size bytes,
									 const StringInfoData *directory,
									 StringInfo records);

/*
 * Set "differences" to the records by which the current records differ from the directory's.  All records have the
 * same size.
 */
extern void rtscan_find_differences(const RtscanMeta *meta, const StringInfoData *directory,
									const StringInfoData *records,
									StringInfo differences);

#endif							/* RTSCAN_DIRECTORY_H */
