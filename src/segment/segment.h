/* SPDX-License-Identifier: PostgreSQL */
/*
 * segment.h
 *		The descriptor of a segment, and how the pages of its areas are read.
 *
 * A segment's descriptor is written last, as a chain of pages whose first block is in the directory.  The payloads
 * of these pages are, one after another:
 *
 *	RtscanSegmentHeader
 *	RtscanExtent[extents]			the blocks of the segment's pages, in order of their ordinals
 *	uint32[tidmap.pages]			first row of each tidmap page
 *	for each key column:
 *		RtscanColumnHeader
 *		uint32[bins + 1]			the sieve's boundaries: ranks, strictly ascending, 0 .. rows
 *		uint8[(vectors * chunks + 3) / 4]	RtscanVectorState of each page of bits, two bits each
 *		RtscanIncludeHeader, RtscanFrame[chunks]	if the column is plain: its values
 *		as for an INCLUDE column	if the column has IMAGES: images that its dictionary does not have
 *	for each INCLUDE column:
 *		RtscanIncludeHeader
 *		RtscanFrame[chunks]			if stored as FRAMES or CODES
 *		RtscanCodesHeader			if stored as CODES
 *		uint32[pages]				first row of each page of whole values, or first code of each page of a
 *									dictionary of whole values
 *
 * Each part begins at a multiple of 8 bytes.  A backend reads and checks a descriptor once, and keeps it.  It never
 * becomes stale, since a segment is immutable and its id is not used again.
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

#define RTSCAN_DICTIONARY_LEVELS	8	/* the most levels; a dictionary that would need more has a top level of
										 * several pages */

/* Consecutive blocks of a segment's pages. */
typedef struct RtscanExtent
{
	BlockNumber first;			/* first block */
	uint32		count;			/* number of blocks */
} RtscanExtent;

/* The first part of a descriptor. */
typedef struct RtscanSegmentHeader
{
	uint64		id;				/* id of the segment */
	uint64		unused;
	uint32		rows;			/* number of rows */
	uint32		pages;			/* number of pages, without the descriptor's own */
	uint32		extents;		/* number of RtscanExtents that follow */
	uint16		nkeys;			/* number of key columns */
	uint16		ncolumns;		/* number of all columns */
	RtscanArea	tidmap;			/* the area that maps rows to TIDs */
} RtscanSegmentHeader;

/* Flags of RtscanColumnHeader. */
#define RTSCAN_COLUMN_HEAP_ORDER	0x0001	/* rank = row: no sieve, order or codes */
#define RTSCAN_COLUMN_EXACT			0x0002	/* every value begins at a boundary: no order */
#define RTSCAN_COLUMN_IDENTICAL		0x0004	/* equal values had the same image, and the dictionary has it */
#define RTSCAN_COLUMN_PLAIN			0x0008	/* has values in row order in place of codes; see plain.h */
#define RTSCAN_COLUMN_IMAGES		0x0010	/* equal values had several images: images that are not in the dictionary
											 * are stored, too */

/*
 * The image of a value is its bytes.  Equal values may have different images: -0 and 0, 1.0 and 1.00, 'a' and 'a '.  A
 * dictionary has one image of each value, which represents all images of the value.  If a column is IDENTICAL, there
 * are no other images.  If a column has IMAGES, images that differ from the dictionary's are stored as an INCLUDE
 * column, which is NULL in the rows whose image the dictionary has.  If a column has neither flag, some of its images
 * are lost, and its values must be read from the heap.  rtscan 1.0 writes such columns, and so does a merge that reads
 * such a column.
 */

/* The descriptor of a key column. */
typedef struct RtscanColumnHeader
{
	uint32		flags;			/* RTSCAN_COLUMN_... flags */
	uint32		nonnull;		/* number of rows that are not NULL; NULLs have the ranks from "nonnull" on */
	uint32		distinct;		/* number of distinct values; for a plain column, number of entries of its sparse
								 * dictionary */
	uint32		code_bytes;		/* bytes of a code: 1, 2 or 3; 0 if the column is plain or in heap order */
	uint32		bins;			/* number of bins; 0: no sieve, since the segment has less than a chunk of rows, or
								 * the column is in heap order */
	uint32		radix;			/* bin = high * radix + low (sieve.h); 1: the sieve has one component */
	uint32		vectors;		/* number of the sieve's vectors */
	uint32		levels;			/* number of the dictionary's levels; 0 if there are no values */
	uint32		level_pages[RTSCAN_DICTIONARY_LEVELS];	/* number of pages of each level, leaves first */
	RtscanArea	dictionary;		/* the dictionary's pages, level by level */
	RtscanArea	sieve;			/* pages of bits that are not constant, by vector, then chunk */
	RtscanArea	order;			/* order: rank -> row */
	RtscanArea	codes;			/* codes: row -> code */
} RtscanColumnHeader;

/* The ways to store the values of an INCLUDE column; see include.h. */
typedef enum RtscanStorage
{
	RTSCAN_STORED_PLAIN,		/* packed in their own width, or whole; the only way in format 3 */
	RTSCAN_STORED_FRAMES,		/* exact integers, in frames */
	RTSCAN_STORED_CODES			/* codes of a dictionary, in frames */
} RtscanStorage;

/* The descriptor of an INCLUDE column, or of the values or images of a key column. */
typedef struct RtscanIncludeHeader
{
	uint32		width;			/* if PLAIN: bytes of a packed value; 0: values are whole */
	uint8		scale;			/* display scale of numerics that are stored as integers; see row/decimal.h */
	uint8		storage;		/* RtscanStorage; this and the following members are 0 in format 3 */
	uint8		exact;			/* RtscanExactKind of the integers in frames or in a dictionary; NONE: PLAIN, or a
								 * dictionary of whole values */
	uint8		unused;
	RtscanArea	nulls;			/* if PLAIN and packed: a bit for each row; no area if no row is NULL */
	RtscanArea	values;			/* values or codes, in row order */
} RtscanIncludeHeader;

/* The frame of reference of a chunk's integers; see frames.h. */
typedef struct RtscanFrame
{
	int64		least;			/* least integer of the chunk; 0 if all rows are NULL */
	int64		greatest;		/* greatest integer of the chunk; 0 if all rows are NULL */
	uint32		nulls;			/* number of rows that are NULL */
	uint32		bits;			/* bits of an element; 0: no elements are stored, since all rows have the same
								 * integer, or all are NULL */
} RtscanFrame;

/* The descriptor of an INCLUDE column's dictionary. */
typedef struct RtscanCodesHeader
{
	uint32		distinct;		/* number of distinct values, which is greater than all codes of values */
	uint32		unused;
	RtscanArea	dictionary;		/* exact integers, ascending, or pages of whole values */
} RtscanCodesHeader;

/* Is a key column plain? */
static inline bool
rtscan_is_plain(const RtscanColumnHeader *header)
{
	return (header->flags & RTSCAN_COLUMN_PLAIN) != 0;
}

/* Does a key column store the images that its dictionary does not have? */
static inline bool
rtscan_has_images(const RtscanColumnHeader *header)
{
	return (header->flags & RTSCAN_COLUMN_IMAGES) != 0;
}

/* Can a key column return all values with the images that were inserted? */
static inline bool
rtscan_lost_no_image(const RtscanColumnHeader *header)
{
	return (header->flags & (RTSCAN_COLUMN_IDENTICAL | RTSCAN_COLUMN_IMAGES)) != 0;
}

/* Return the code of NULL, which is greater than the codes of values. */
static inline uint32
rtscan_null_code(const RtscanColumnHeader *header)
{
	return rtscan_is_plain(header) ? header->nonnull : header->distinct;
}

/* The content of a page of bits of a sieve vector. */
typedef enum RtscanVectorState
{
	RTSCAN_VECTOR_ZEROS,		/* all bits are 0, and the page is not stored */
	RTSCAN_VECTOR_ONES,			/* all bits of the chunk's rows are 1, and the page is not stored; readers get 1 also
								 * for the bits behind the segment's last row */
	RTSCAN_VECTOR_STORED		/* the page is stored */
} RtscanVectorState;

/* Numbers in RtscanSegmentColumn.vector_pages for pages that are not stored. */
#define RTSCAN_PAGE_ZEROS	PG_UINT32_MAX
#define RTSCAN_PAGE_ONES	(PG_UINT32_MAX - 1)

/* Integers in frames, one frame for each chunk. */
typedef struct RtscanFrames
{
	RtscanArea	area;			/* pages of elements */
	const RtscanFrame *frames;	/* frame of each chunk */
	uint32	   *pages;			/* by chunk: number of the chunk's first page in the area */
} RtscanFrames;

/* The values of an INCLUDE column, or the values or images of a key column, in memory. */
typedef struct RtscanSegmentInclude
{
	RtscanIncludeHeader header;
	RtscanFrames frames;		/* if stored as FRAMES or CODES */
	RtscanCodesHeader codes;	/* if stored as CODES */
	const uint32 *first_rows;	/* if values are whole: the first row, or the first code, of each page */
} RtscanSegmentInclude;

/*
 * The dictionary's entries beside the place of a probe (probe.h): the last entry before the place, and the entry at
 * the place.  Either entry may be unknown.
 */
typedef struct RtscanBetween
{
	bool		has_low;		/* an entry before the place is known */
	bool		has_high;		/* the entry at the place is known */
	uint32		low_rank;		/* first rank of the last value before the place */
	uint64		low_key;		/* key of the last value before the place */
	uint64		high_key;		/* key of the value at the place */
} RtscanBetween;

/* The most ranks that a finger covers. */
#define RTSCAN_FINGER_RANKS	32

/*
 * A cache of the last lookup in a plain column (plain.h).  It has the dictionary's entries beside the place that was
 * found, the rows at some ranks, and the values of these rows as far as they have been read.  Since a segment does not
 * change, a later lookup of the same or a near value reads fewer pages, even in another statement.
 */
typedef struct RtscanFinger
{
	RtscanBetween between;		/* the dictionary's entries beside the place */
	uint32		high_rank;		/* first rank of the entry whose key is between.high_key */
	uint32		first;			/* first rank that the finger covers */
	uint32		n;				/* number of ranks that the finger covers; 0: none */
	uint32		known;			/* a bit for each rank that the finger covers: its value is in "values" */
	uint32		rows[RTSCAN_FINGER_RANKS];	/* row at each rank that the finger covers */
	int64		values[RTSCAN_FINGER_RANKS];	/* exact integer at each rank whose bit in "known" is set */
} RtscanFinger;

/*
 * The fingers of a column.  Each end of a range has a finger of its own, since a common finger would move back and
 * forth.
 */
typedef enum RtscanFingerUse
{
	RTSCAN_FINGER_BEFORE,		/* for the first rank whose value is not less than a probe */
	RTSCAN_FINGER_AFTER,		/* for the first rank whose value is greater than a probe */
	RTSCAN_FINGER_RANK,			/* for lookups of single ranks */
	RTSCAN_FINGERS				/* number of fingers */
} RtscanFingerUse;

/*
 * The fingers of a reader that does not trust what was read before (RtscanReader.trusts), for one column.  The
 * planner's readers are of this kind: the cost of a plan must not depend on earlier lookups.
 */
typedef struct RtscanOwnFingers
{
	int			column;			/* number of the column */
	RtscanFinger fingers[RTSCAN_FINGERS];	/* by RtscanFingerUse */
} RtscanOwnFingers;

/* Return the bytes of each code of a key column that has so many distinct values. */
static inline uint32
rtscan_code_bytes(double distinct)
{
	return distinct <= 0xFF ? 1 : distinct <= 0xFFFF ? 2 : 3;
}

/* A key column in memory. */
typedef struct RtscanSegmentColumn
{
	RtscanColumnHeader header;
	const uint32 *boundaries;	/* boundaries of the sieve: bins + 1 ranks */
	uint32	   *vector_pages;	/* [vector * chunks + chunk]: number of the page in the sieve's area,
								 * RTSCAN_PAGE_ZEROS or RTSCAN_PAGE_ONES */
	RtscanSegmentInclude values;	/* if plain: the values, stored in frames as those of an INCLUDE column */
	RtscanFinger *fingers;		/* if plain: by RtscanFingerUse; NULL before the first lookup */
	RtscanSegmentInclude images;	/* if IMAGES: images that the dictionary does not have, stored as an INCLUDE
									 * column */
} RtscanSegmentColumn;

/*
 * A descriptor in memory.  Its arrays point into a copy of the stored descriptor, unless they need conversion.
 * Further copies would cost page faults of memory: a session reads thousands of descriptors.
 */
typedef struct RtscanSegment
{
	RtscanSegmentHeader header;
	uint32		chunks;			/* number of chunks */
	MemoryContext context;		/* memory context of the whole descriptor */
	Size		memory;			/* bytes of "context", plus the bytes of fingers that are not allocated yet */
	BlockNumber *blocks;		/* block of each page, by ordinal */
	Buffer	   *recent;			/* by ordinal: the buffer that had the page when it was checked; invalid if the page
								 * has not been read */
	const uint32 *tidmap_rows;	/* first row of each tidmap page */
	RtscanSegmentColumn *columns;	/* key columns */
	RtscanSegmentInclude *includes; /* INCLUDE columns */
} RtscanSegment;

/* Return the stored values of a column that has them in row order: a plain key column, or an INCLUDE column. */
static inline const RtscanSegmentInclude *
rtscan_stored_values(const RtscanSegment *segment, int nkeys, int column)
{
	return column < nkeys ? &segment->columns[column].values : &segment->includes[column - nkeys];
}

/*
 * A reader of a segment; a scan has one for each segment.  Pages can be read and released one at a time, or kept
 * pinned while other pages are read.
 */
typedef struct RtscanReader
{
	Relation	index;			/* the index */
	RtscanSegment *segment;		/* the segment, from the backend's kept descriptors */
	bool		lock;			/* lock pages, since on a standby a pin does not protect them */
	bool		soft;			/* return failures instead of raising errors, for callers such as the planner that
								 * can do without the segment */
	bool		trusts;			/* do not check a page again if it is still in the buffer where it was checked, and
								 * use the segment's fingers (RtscanFinger) */
	double		test_time;		/* nanoseconds that the fastest executor other than the CPU takes to test all rows
								 * for a condition; 0 if no other executor can, and after the filter's lookup */
	uint64		pages_read;		/* number of pages read so far */
	MemoryContext context;		/* memory context in which the reader was opened */
	RtscanOwnFingers *own_fingers;	/* fingers of a reader that does not trust; NULL before the first lookup */
} RtscanReader;

/*
 * Open a reader of a segment, from its directory entry.  If "soft" is true, returns false if the descriptor cannot be
 * read, and later calls return a failure if a page cannot be read.
 */
extern bool rtscan_reader_open(RtscanReader *reader, Relation index,
							   const RtscanEntry *entry, bool soft);

/*
 * Read page i of an area.  The page stays pinned (on a standby, also locked) until rtscan_release().  Returns the
 * payload from the area's offset on, and in *used the number of its bytes that are used.  The payload is MAXALIGNed,
 * and RTSCAN_CHUNK_BYTES - offset bytes of it can be read, used or not.  Returns NULL only to a soft reader.
 *
 * The page is checked, unless the reader trusts (RtscanReader.trusts) and this backend has checked the page before in
 * the same buffer.  Readers on a standby must not trust, nor must soft readers, which have no snapshot: both may
 * encounter a page that was freed and used again.  "used" may be NULL: then this function itself reads nothing of the
 * page if the page need not be checked.
 */
extern const char *rtscan_get_page(RtscanReader *reader, const RtscanArea *area, uint32 i,
								   Buffer *buffer, Size *used);

/* Unlock (on a standby) and unpin a page. */
extern void rtscan_release(RtscanReader *reader, Buffer buffer);

/*
 * Prefetch page i of an area, which will be read soon: its buffer's descriptor, the beginning of its payload and, if
 * the reader does not trust, its special area.
 */
extern void rtscan_prefetch_page(RtscanReader *reader, const RtscanArea *area, uint32 i);

/*
 * Return the address where the payload of page i of an area probably is, or NULL if no address is known.  The address
 * may be prefetched, but not read, since the buffer may have another page by now.
 */
static inline const char *
rtscan_recent_payload(RtscanReader *reader, const RtscanArea *area, uint32 i)
{
	Buffer		recent = reader->segment->recent[area->page + i];

	return recent > 0 ? rtscan_page_payload(BufferGetPage(recent)) + area->offset : NULL;
}

/*
 * Prefetch only what rtscan_get_page() itself reads of page i of an area.  To be used for pages of which only a few
 * places are read.
 */
extern void rtscan_prefetch_head(RtscanReader *reader, const RtscanArea *area, uint32 i);

/* Prefetch the place at "offset" of the payload of page i of an area. */
static inline void
rtscan_prefetch_place(RtscanReader *reader, const RtscanArea *area, uint32 i, Size offset)
{
	const char *payload = rtscan_recent_payload(reader, area, i);

	if (payload)
		__builtin_prefetch(payload + offset);
}

/*
 * Report that the content of an area's page contradicts itself.  Raises ERRCODE_INDEX_CORRUPTED unless the reader
 * is soft.
 */
extern void rtscan_fault(RtscanReader *reader, const RtscanArea *area, uint32 i,
						 const char *detail);

/*
 * Read and check a descriptor, in a memory context of its own.  If it cannot be read or contradicts itself, raises
 * an error or, if soft, returns NULL (descriptor.c).
 */
extern RtscanSegment *rtscan_load_segment(Relation index, const RtscanEntry *entry, bool soft);

/* Append a part to the content of a descriptor, padded to a multiple of 8 bytes, where the next part begins. */
extern void rtscan_append_part(StringInfo content, const void *part, Size size);

/* Write the descriptor of a segment; returns its first block. */
extern BlockNumber rtscan_write_descriptor(RtscanWriting *writing, StringInfo content);

/* Return the blocks of a segment's descriptor, in order. */
extern List *rtscan_descriptor_blocks(Relation index, const RtscanEntry *entry);

/*
 * Return all blocks of a segment: those of its descriptor, then those of its pages, then those of its dead map and dead
 * bits.  A block that leads to other blocks comes before them.  Some blocks may be gone: leaves out the blocks that
 * cannot be found, which are those of all pages if the descriptor cannot be read.
 */
extern List *rtscan_segment_blocks(Relation index, const RtscanEntry *entry);

/* Return the index of the last of n ascending values that is at most "value"; 0 if all are greater. */
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

/* Load a packed integer of 1, 2 or 3 bytes. */
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
