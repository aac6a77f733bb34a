/*
 * segment.h
 *		The descriptor of a segment, and how its areas are read.
 *
 * A segment's descriptor is written last, as a chain of pages that the directory names.
 * Their payloads, one after another, are:
 *
 *	RtscanSegmentHeader
 *	RtscanExtent[extents]			the blocks of the segment's pages, in order of their ordinals
 *	uint32[tidmap.pages]			first row of each tidmap page
 *	for each key column:
 *		RtscanColumnHeader
 *		uint32[bins + 1]			the sieve's boundaries: ranks, strictly ascending, 0 .. rows
 *		uint8[(vectors * chunks + 3) / 4]	RtscanVectorState of each page of bits, two bits each
 *		RtscanIncludeHeader, RtscanFrame[chunks]	of a plain column: its values
 *		as for an INCLUDE column	of one with IMAGES: those
 *	for each INCLUDE column:
 *		RtscanIncludeHeader
 *		RtscanFrame[chunks]			of FRAMES and CODES
 *		RtscanCodesHeader			of CODES
 *		uint32[pages]				first row of each page of whole values, or first code of each of a dictionary's
 *
 * each part beginning at a multiple of 8 bytes.  A backend reads a descriptor once, checks
 * it, and keeps it: it can never become stale, for a segment is immutable and its id is
 * not used again.
 */
#ifndef RTSCAN_SEGMENT_H
#define RTSCAN_SEGMENT_H

#include "rtscan.h"

#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
#include "row/schema.h"
#include "storage/area.h"
#include "storage/metapage.h"
#include "storage/writing.h"

#define RTSCAN_DICTIONARY_LEVELS	8	/* more than 2^22 values ever need */

typedef struct RtscanExtent
{
	BlockNumber first;
	uint32		count;
} RtscanExtent;

typedef struct RtscanSegmentHeader
{
	uint64		id;
	uint64		unused;
	uint32		rows;
	uint32		pages;			/* without the descriptor's own */
	uint32		extents;
	uint16		nkeys;
	uint16		ncolumns;
	RtscanArea	tidmap;
} RtscanSegmentHeader;

/* How the rows of a column are found; flags of RtscanColumnHeader. */
#define RTSCAN_COLUMN_HEAP_ORDER	0x0001	/* rank = row: no sieve, order or codes */
#define RTSCAN_COLUMN_EXACT			0x0002	/* every value begins at a boundary: no order */
#define RTSCAN_COLUMN_IDENTICAL		0x0004	/* equal values were identical: its dictionary has the images of all */
#define RTSCAN_COLUMN_PLAIN			0x0008	/* values in row order in place of codes; plain.h */
#define RTSCAN_COLUMN_IMAGES		0x0010	/* equal values were not identical: it has other images than the dictionary's, too */

/*
 * Equal values may differ by their images: -0 and 0, 1.0 and 1.00, 'a' and 'a '.  A dictionary has one of them, which stands for all.
 * A column that is IDENTICAL has no others; one with IMAGES has those of all rows whose values look other than in the
 * dictionary, as those of an INCLUDE column that is NULL in all other rows.  Of a column that is neither, some images are lost:
 * rtscan 1.0 wrote such ones, and what is merged with one is another; its values come from the heap.
 */

typedef struct RtscanColumnHeader
{
	uint32		flags;
	uint32		nonnull;		/* rows; NULLs have the ranks from there on */
	uint32		distinct;		/* values in the dictionary */
	uint32		code_bytes;		/* 1, 2 or 3; plain: 0 */
	uint32		bins;			/* 0: no sieve, for the segment is small or in order */
	uint32		radix;			/* bin = high * radix + low; 1: one component */
	uint32		vectors;
	uint32		levels;			/* of the dictionary, 0 if there are no values */
	uint32		level_pages[RTSCAN_DICTIONARY_LEVELS];	/* leaves first */
	RtscanArea	dictionary;
	RtscanArea	sieve;			/* pages that are not constant, by vector, then chunk */
	RtscanArea	order;
	RtscanArea	codes;
} RtscanColumnHeader;

/* How the values of an INCLUDE column are stored; include.h. */
typedef enum RtscanStorage
{
	RTSCAN_STORED_PLAIN,		/* packed in their own width, or whole: all there was in format 3 */
	RTSCAN_STORED_FRAMES,		/* exact integers, in frames */
	RTSCAN_STORED_CODES			/* places in a dictionary, in frames */
} RtscanStorage;

typedef struct RtscanIncludeHeader
{
	uint32		width;			/* PLAIN: bytes a value: packed; 0: values are whole */
	uint8		scale;			/* of numerics that are integers: row/decimal.h */
	uint8		storage;		/* RtscanStorage; this and the following are 0 in format 3 */
	uint8		exact;			/* RtscanExactKind of the integers in frames or dictionary; NONE: whole values */
	uint8		unused;
	RtscanArea	nulls;			/* PLAIN, packed: a bit a row; no area if no row is NULL */
	RtscanArea	values;			/* in row order */
} RtscanIncludeHeader;

/* A chunk of integers in a frame of reference; frames.h. */
typedef struct RtscanFrame
{
	int64		least;			/* of the chunk's integers; 0 if all rows are NULL */
	int64		greatest;
	uint32		nulls;			/* rows that are NULL */
	uint32		bits;			/* an element; 0: all rows are alike, and there are no elements */
} RtscanFrame;

typedef struct RtscanCodesHeader
{
	uint32		distinct;		/* values; the codes are below that */
	uint32		unused;
	RtscanArea	dictionary;		/* exact integers, ascending, or pages of whole values */
} RtscanCodesHeader;

static inline bool
rtscan_is_plain(const RtscanColumnHeader *header)
{
	return (header->flags & RTSCAN_COLUMN_PLAIN) != 0;
}

static inline bool
rtscan_has_images(const RtscanColumnHeader *header)
{
	return (header->flags & RTSCAN_COLUMN_IMAGES) != 0;
}

/* Can it give back all values as they were? */
static inline bool
rtscan_lost_no_image(const RtscanColumnHeader *header)
{
	return (header->flags & (RTSCAN_COLUMN_IDENTICAL | RTSCAN_COLUMN_IMAGES)) != 0;
}

/* The code of NULL; those of values are below. */
static inline uint32
rtscan_null_code(const RtscanColumnHeader *header)
{
	return rtscan_is_plain(header) ? header->nonnull : header->distinct;
}

typedef enum RtscanVectorState
{
	RTSCAN_VECTOR_ZEROS,
	RTSCAN_VECTOR_ONES,			/* also of the rows that the last chunk lacks */
	RTSCAN_VECTOR_STORED
} RtscanVectorState;

#define RTSCAN_PAGE_ZEROS	PG_UINT32_MAX
#define RTSCAN_PAGE_ONES	(PG_UINT32_MAX - 1)

/* Integers in frames: where they are. */
typedef struct RtscanFrames
{
	RtscanArea	area;
	const RtscanFrame *frames;	/* by chunk */
	uint32	   *pages;			/* by chunk: number of its first page in the area */
} RtscanFrames;

typedef struct RtscanSegmentInclude
{
	RtscanIncludeHeader header;
	RtscanFrames frames;		/* FRAMES and CODES */
	RtscanCodesHeader codes;	/* CODES */
	const uint32 *first_rows;	/* of pages of whole values: the first row, or code, of each */
} RtscanSegmentInclude;

/* Entries of a dictionary on both sides of a place, as far as they are known. */
typedef struct RtscanBetween
{
	bool		has_low;
	bool		has_high;
	uint32		low_rank;		/* of the last value before it, */
	uint64		low_key;		/* and its key */
	uint64		high_key;		/* of the value there */
} RtscanBetween;

/*
 * Where a plain column (plain.h) was looked at last: in the dictionary; and the rows of some ranks, with those of their values that have
 * been read.  A segment does not change, so what a statement asks that another one has asked before, or something near, takes fewer pages.
 */
#define RTSCAN_FINGER_RANKS	32

typedef struct RtscanFinger
{
	RtscanBetween between;
	uint32		high_rank;		/* of its high key */
	uint32		first;			/* rank */
	uint32		n;				/* 0: none */
	uint32		known;			/* a bit a rank: its value is here */
	uint32		rows[RTSCAN_FINGER_RANKS];
	int64		values[RTSCAN_FINGER_RANKS];
} RtscanFinger;

/* One for each end of ranges, or the other would be forgotten: the first rank that is not before a value, or behind it; and for single ranks. */
typedef enum RtscanFingerUse
{
	RTSCAN_FINGER_BEFORE,
	RTSCAN_FINGER_AFTER,
	RTSCAN_FINGER_RANK,
	RTSCAN_FINGERS
} RtscanFingerUse;

/*
 * Of one column, of a reader who does not trust what was read before, and of the planner: what a plan costs shall not depend on what has
 * been looked up.
 */
typedef struct RtscanOwnFingers
{
	int			column;
	RtscanFinger fingers[RTSCAN_FINGERS];
} RtscanOwnFingers;

typedef struct RtscanSegmentColumn
{
	RtscanColumnHeader header;
	const uint32 *boundaries;	/* bins + 1 ranks */
	uint32	   *vector_pages;	/* [vector * chunks + chunk]: ordinal, or ZEROS or ONES */
	RtscanSegmentInclude values;	/* plain: stored as those of an INCLUDE column, in frames */
	RtscanFinger *fingers;		/* plain: by use; NULL: none so far */
	RtscanSegmentInclude images;	/* IMAGES: stored likewise, in any way */
} RtscanSegmentColumn;

/*
 * A descriptor in memory.  Its arrays are those of its pages, where nothing has to be made of them: a session reads thousands of
 * descriptors, and each new page of memory costs it a fault.
 */
typedef struct RtscanSegment
{
	RtscanSegmentHeader header;
	uint32		chunks;
	MemoryContext context;
	Size		memory;
	BlockNumber *blocks;		/* by ordinal */
	Buffer	   *recent;			/* by ordinal: where the page was in shared buffers when it was checked */
	const uint32 *tidmap_rows;
	RtscanSegmentColumn *columns;
	RtscanSegmentInclude *includes;
} RtscanSegment;

/* The values in row order of a column, from 0: a plain one of the keys, or an INCLUDEd one. */
static inline const RtscanSegmentInclude *
rtscan_stored_values(const RtscanSegment *segment, int nkeys, int column)
{
	return column < nkeys ? &segment->columns[column].values : &segment->includes[column - nkeys];
}

/*
 * Reads a segment.  One reader a scan and segment; pages are got one at a time and
 * released, or kept pinned while others are got.
 */
typedef struct RtscanReader
{
	Relation	index;
	RtscanSegment *segment;
	bool		lock;			/* on a standby: a pin does not protect a page */
	bool		soft;			/* the planner: report, do not raise, what is wrong */
	bool		trusts;			/* a page that is where it was checked before is what it was, and so are fingers */
	double		test_time;		/* nanoseconds that another executor than the CPU takes to test all rows for a condition; 0: there is none */
	uint64		pages_read;
	MemoryContext context;		/* where it was opened */
	RtscanOwnFingers *own_fingers;	/* if it does not trust, or NULL: none so far */
} RtscanReader;

/*
 * Begin to read a segment that an image names.  With soft, returns false where the
 * descriptor cannot be read, and later calls return what says so where a page cannot.
 */
extern bool rtscan_reader_open(RtscanReader *reader, Relation index,
							   const RtscanEntry *entry, bool soft);

/*
 * Page i of an area, pinned (and on a standby locked) until rtscan_release(): its payload
 * from where the area begins, and how many bytes there are.  Every payload is MAXALIGNed
 * and can be read as RTSCAN_CHUNK_BYTES - offset bytes, used or not.
 * NULL only for a soft reader.
 *
 * What a page is, is checked where this backend has not found it in the same buffer before; and always, unless the reader trusts:
 * who may meet a page that is used again does not, for it is on a standby, or has no snapshot (soft).  used may be NULL: then a
 * reader who trusts touches no more cache lines of the page than it reads.
 */
extern const char *rtscan_get_page(RtscanReader *reader, const RtscanArea *area, uint32 i,
								   Buffer *buffer, Size *used);
extern void rtscan_release(RtscanReader *reader, Buffer buffer);

/*
 * Page i of an area is going to be got soon: bring what that touches first, its buffer's
 * descriptor and its own first and last cache lines, into the processor's cache.
 */
extern void rtscan_prefetch_page(RtscanReader *reader, const RtscanArea *area, uint32 i);

/* Where it probably is: to be prefetched, but not read; NULL if nobody knows. */
static inline const char *
rtscan_recent_payload(RtscanReader *reader, const RtscanArea *area, uint32 i)
{
	Buffer		recent = reader->segment->recent[area->page + i];

	return recent > 0 ? rtscan_page_payload(BufferGetPage(recent)) + area->offset : NULL;
}

/* Likewise, where a few places of it will be looked at: only what getting it touches; and a place. */
extern void rtscan_prefetch_head(RtscanReader *reader, const RtscanArea *area, uint32 i);

static inline void
rtscan_prefetch_place(RtscanReader *reader, const RtscanArea *area, uint32 i, Size offset)
{
	const char *payload = rtscan_recent_payload(reader, area, i);

	if (payload)
		__builtin_prefetch(payload + offset);
}

/*
 * The content of an area's page contradicts itself.  Raises ERRCODE_INDEX_CORRUPTED, but
 * for a soft reader.
 */
extern void rtscan_fault(RtscanReader *reader, const RtscanArea *area, uint32 i,
						 const char *detail);

/*
 * descriptor.c: read a descriptor, and check it, in a memory context of its own; NULL if soft and it cannot be read, or contradicts
 * itself.
 */
extern RtscanSegment *rtscan_load_segment(Relation index, const RtscanEntry *entry, bool soft);

/* Append a part to a descriptor's content, padded to where the next part may begin. */
extern void rtscan_append_part(StringInfo content, const void *part, Size size);

/* Write the descriptor of a segment; returns its first block. */
extern BlockNumber rtscan_write_descriptor(RtscanWriting *writing, StringInfo content);

/* The blocks of a segment's descriptor, in order. */
extern List *rtscan_descriptor_blocks(Relation index, const RtscanEntry *entry);

/* All blocks of a segment, those that lead to others first; tolerates that some are gone. */
extern List *rtscan_segment_blocks(Relation index, const RtscanEntry *entry);

/* The place of the last of ascending values that is not above one; the first, if all are. */
static inline uint32
rtscan_last_not_above(const uint32 *values, uint32 n, uint32 value)
{
	uint32		low = 0,
				high = n;

	while (high - low > 1)
	{
		uint32		middle = (low + high) / 2;

		if (values[middle] <= value)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static inline uint32
rtscan_load_packed(const char *place, uint32 width)
{
	const unsigned char *bytes = (const unsigned char *) place;

	switch (width)
	{
		case 1:
			return bytes[0];
		case 2:
			return bytes[0] | (uint32) bytes[1] << 8;
		default:
			return bytes[0] | (uint32) bytes[1] << 8 | (uint32) bytes[2] << 16;
	}
}

#endif							/* RTSCAN_SEGMENT_H */
