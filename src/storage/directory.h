/*
 * directory.h
 *		What metapage and directory say of an index: records of its segments and pending lists.
 *
 * A record is an entry, and behind it the bounds of its segment's key columns: so whoever looks for values that it cannot have does not open
 * it. Nor does VACUUM, where all blocks that it has rows in are all-visible.
 *
 *	│ RtscanEntry │ least, greatest of column 0 │ of column 1 │ ... │ RtscanEntry │ ...
 *
 * They are on a chain of pages.  What has become different since these were written is behind the metapage's RtscanMeta, as records, too:
 * those that replace the directory's entry with the same id, or remove it, come first, in the directory's order, and then those that are new.
 *
 * All of this happens under the metapage's lock (metapage.h).
 */
#ifndef RTSCAN_DIRECTORY_H
#define RTSCAN_DIRECTORY_H

#include "rtscan.h"

#include "datatype/timestamp.h"
#include "lib/stringinfo.h"
#include "storage/block.h"
#include "storage/page.h"
#include "utils/uuid.h"

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
	uint32		kind_bits;		/* RtscanEntryKind in the lowest 7 bits; of a segment what RTSCAN_ENTRY_... say, too */
} RtscanEntry;

/* Key columns give all values back as they were: rtscan_lost_no_image() of each, in segment/segment.h.  Not set by rtscan 1.0. */
#define RTSCAN_ENTRY_LOST_NO_IMAGE	0x80U

/* No row has NULL in a key column, dead ones included: known of some of the first ones. */
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

/* Bytes that a record takes in an index. */
extern Size rtscan_record_size(const RtscanMeta *meta);

/* The directory's records; false if it is unreadable, and soft. */
extern bool rtscan_read_directory(Relation index, const RtscanMeta *meta, bool soft, StringInfo records);

/* Write records over the spare directory, which becomes the directory; what both are is changed in meta, of the version that is written. */
extern void rtscan_write_directory(Relation index, RtscanMeta *meta, const StringInfoData *records);

/*
 * The records of the directory, as the differences behind a metapage change them; false if they cannot be that.  And the differences of records
 * from the directory's, of the same size.
 */
extern bool rtscan_apply_differences(const RtscanMeta *meta, const char *differences, Size bytes, const StringInfoData *directory,
									 StringInfo records);
extern void rtscan_find_differences(const RtscanMeta *meta, const StringInfoData *directory, const StringInfoData *records,
									StringInfo differences);

#endif							/* RTSCAN_DIRECTORY_H */
