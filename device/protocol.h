/*
 * protocol.h
 *		What backends and the device program say to each other.
 *
 * The device program (rtscan_device) owns a Vulkan device: each has its own.  It is a process of
 * its own, without PostgreSQL's shared memory: whatever a driver does to it, the server stays up.
 * A backend connects to its socket (SOCK_SEQPACKET, in the data directory), hands over an
 * area of shared memory once, and then sends one DeviceRequest at a time; each has one
 * DeviceReply.  Data lies in the area, for both to see:
 *
 *	EVALUATE, at request.offset:
 *		EvaluateHeader
 *		EvaluateSegment[segments]
 *		EvaluateColumn[columns]			those of all segments, one segment after another
 *		DeviceInterval[intervals]		likewise those of all columns
 *		EvaluateMembers[members]		likewise those of all segments,
 *		TallyDigit[digits]				those of their tallies,
 *		TallyMeasure[measures]			and these
 *		(at the next multiple of 64)
 *		uint32 words[]					of sets and maps, that segments may have in common
 *	and for the answer, at request.results:
 *		ChunkCount counts[chunks]		rows that match, of all segments' chunks
 *		(at the next multiple of 64)
 *		uint64 tallies[]				of each segment that has its own: how many entries, and
 *										these, one after another: [2 + measures]
 *		(at the next multiple of 64)
 *		bits[chunks][DEVICE_CHUNK_BYTES]	only where bits are wanted, and only of chunks
 *										that have rows that are in no tally
 *
 *	A *tally* is what rows of a segment come to, so that their bits need not be handed over: of the
 *	chunks that the backend knows to be wholly visible, or of a part of their rows.  The others' bits, the
 *	chunk's *mask*, it has put then where the answer's are to be.  A row's digits, each the distance of a value
 *	from the segment's least, or a code, make the number of its cell.  For each cell that has rows there is an
 *	*entry*: the cell's number, how many rows, and some measures of other columns' distances; entries come in any
 *	order.  Where cells can be far more than have rows, there is only room for so many entries: if there are more of
 *	them, that is said, and the tally is lost.  Distances can be shifted, so that they are from what is the least of
 *	several segments: these can join in one tally.
 *
 *	A *set* is of integers: a bit for each, from a first one on.  Rows whose integers are no members are none that match.
 *	A *map* has a number for each integer, of 8, 16 or 32 bits: a row's digit is that, as a dimension of a star has it for the row's key.  Or it has
 *	*steps*, of 64 bits, that ascend: the digit is how many of them the integer is not below, as where conditions compare it with constants.
 *	Of integers that are few and far apart, sets and maps are *tables* (table.h).
 *
 *	SORT, at request.offset:			SortPair[size], sorted in place by the keys, stably
 *
 *	SIEVE, at request.offset:
 *		uint32 boundaries[bins + 1]		strictly ascending ranks, 0 .. rows
 *		(at the next multiple of 64)
 *		uint32 order[rows]				the row of each rank
 *	and for the answer, at request.results:
 *		bits[vectors][chunks][DEVICE_CHUNK_BYTES]	zeros behind the last row
 *
 *	UPLOAD_BEGIN, at request.offset:	uint32 boundaries[bins + 1]
 *	UPLOAD_DATA, at request.offset:		request.size bytes for request.destination of the
 *										column's data (struct ColumnLayout)
 *
 * Either side can end the connection at any time: the backend then goes on without the
 * device, and the program forgets what belonged to the connection.
 *
 * Neither believes the other: each copies what it needs before it checks that, for the area may change at any time.
 */
#ifndef RTSCAN_DEVICE_PROTOCOL_H
#define RTSCAN_DEVICE_PROTOCOL_H

#include <stdint.h>

#define DEVICE_PROTOCOL_VERSION 13

/* With the device's place in rtscan.device; relative to the data directory, which is both sides' working directory. */
#define DEVICE_SOCKET			"pg_stat_tmp/rtscan_device.%d"

#define DEVICE_CHUNK_BYTES		8064
#define DEVICE_CHUNK_ROWS		(DEVICE_CHUNK_BYTES * 8)
#define DEVICE_SEGMENT_CHUNKS	65
#define DEVICE_MAX_COLUMNS		32
#define DEVICE_MAX_BINS			1024
#define DEVICE_GROUP_COLUMNS	3		/* of a BVH of the executor rt, at most */
#define DEVICE_MAX_SEGMENTS		64		/* of one request */
#define DEVICE_MAX_INTERVALS	(1 << 20)	/* of one request */
#define DEVICE_MAX_PAIRS		(1 << 26)	/* of a sort */
#define DEVICE_MAX_DIGITS		8		/* of a tally */
#define DEVICE_MAX_MEASURES		32
#define DEVICE_MAX_PARTS		32		/* of a filter */
#define DEVICE_MAX_RUNS			64		/* of a column, in bins: each is as many reads of all vectors as a column with one */
#define DEVICE_MAX_TALLY_WORDS	(1 << 21)	/* of one request */
#define DEVICE_MAX_SET_WORDS	(1 << 23)	/* of one request */
#define DEVICE_NO_WORDS			UINT32_MAX	/* in place of where words begin */
#define DEVICE_STEP_BITS		64
#define DEVICE_MAX_STEPS		64		/* of a digit: each row is compared with all */
#define DEVICE_TALLY_MASKS		((DEVICE_SEGMENT_CHUNKS + 31) / 32)

/* In place of page numbers of vectors: a chunk of zeros, a chunk of ones. */
#define DEVICE_PAGE_ZEROS		UINT32_MAX
#define DEVICE_PAGE_ONES		(UINT32_MAX - 1)

/* Exit status of the program where trying again is no use. */
#define DEVICE_EXIT_NO_DEVICE	2

typedef enum DeviceExecutor
{
	DEVICE_COMPUTE,
	DEVICE_RT,
	DEVICE_RTCUDB,
	DEVICE_EXECUTORS
} DeviceExecutor;

typedef enum DeviceRequestKind
{
	DEVICE_HELLO,				/* with the area's file descriptor */
	DEVICE_UPLOAD_BEGIN,
	DEVICE_UPLOAD_DATA,
	DEVICE_UPLOAD_END,
	DEVICE_EVALUATE,
	DEVICE_SORT,
	DEVICE_SIEVE,
	DEVICE_STATUS
} DeviceRequestKind;

typedef enum DeviceResult
{
	DEVICE_OK,
	DEVICE_MISSING,				/* a column is not on the device: upload it, ask again */
	DEVICE_NOT_BUILT,			/* nor a BVH, which was not to be built: have it built, or ask for another executor */
	DEVICE_NO_MEMORY,
	DEVICE_TOO_COMPLEX,			/* too many intervals or slabs for this executor */
	DEVICE_UNSUPPORTED,			/* the device cannot trace rays */
	DEVICE_REFUSED				/* the request contradicts itself */
} DeviceResult;

/* A segment, in all of a server's life. */
typedef struct SegmentKey
{
	uint32_t	database;
	uint32_t	tablespace;
	uint32_t	relation;		/* file number */
	uint32_t	unused;
	uint8_t		uuid[16];
	uint64_t	segment;
} SegmentKey;

/* How a column lies on a device: it may be there in each of these forms. */
typedef enum ColumnForm
{
	COLUMN_KEY,					/* what it is searched by */
	COLUMN_VALUES,				/* in frames (segment/frames.h): exact integers, or codes, as they are stored */
	COLUMN_INTEGERS,			/* in frames as well: the exact integers that codes stand for, */
	COLUMN_CODES,				/* or the codes, where they are not stored: of a key in heap order */
	COLUMN_FORMS
} ColumnForm;

/*
 * Of a column of a segment; see segment/segment.h, RtscanColumnHeader.  Those in frames have rows, element_pages and largest only.
 */
typedef struct ColumnShape
{
	uint32_t	rows;
	uint32_t	heap_order;		/* rank = row: there are no data */
	uint32_t	nonnull;
	uint32_t	distinct;
	uint32_t	code_bytes;
	uint32_t	bins;
	uint32_t	radix;
	uint32_t	vectors;
	uint32_t	sieve_pages;
	uint32_t	has_order;
	uint32_t	form;			/* of ColumnForm */
	uint32_t	element_pages;
	uint64_t	largest;		/* distance of a value from the least of the segment */
} ColumnShape;

/* The elements of a chunk: each is the distance of a row's value from the chunk's least. */
typedef struct ValueFrame
{
	uint64_t	above;			/* how far that is above the segment's least */
	uint64_t	null;			/* the element of NULL; more than all others if there are none */
	uint32_t	page;			/* where they begin */
	uint32_t	bits;			/* an element; 0: there are none, and all are 0 */
} ValueFrame;

/* Where a column's data are, in bytes from their beginning; of values, frames and elements. */
typedef struct ColumnLayout
{
	uint64_t	frames;			/* ValueFrame [chunks] */
	uint64_t	elements;		/* whole pages */
	uint64_t	pages;			/* uint32 [vectors][chunks]: page of bits, or ZEROS or ONES */
	uint64_t	sieve;			/* pages of bits */
	uint64_t	order;			/* 3 bytes a rank */
	uint64_t	codes;			/* code_bytes a row */
	uint64_t	size;
} ColumnLayout;

typedef struct DeviceRequest
{
	uint32_t	kind;
	uint32_t	version;		/* of HELLO */
	uint64_t	offset;			/* in the area */
	uint64_t	size;			/* of HELLO: the area's; of SORT: pairs */
	uint64_t	results;
	uint64_t	destination;
	uint64_t	number;			/* of a connection's requests, from 0 on */
	SegmentKey	key;
	uint32_t	column;			/* of UPLOAD_BEGIN, in the shape's form */
	uint32_t	first_bit;		/* of SORT: keys differ in no others than these */
	uint32_t	bits;
	ColumnShape shape;			/* of SIEVE: only rows, bins, radix and vectors */
} DeviceRequest;

typedef struct DeviceStatus
{
	char		name[128];
	uint32_t	software;
	uint32_t	ray_tracing;
	uint32_t	tallies;		/* it can make them */
	uint32_t	unused;
	uint64_t	memory_limit;
	uint64_t	memory_used;
	uint32_t	columns;		/* resident */
	uint32_t	bvhs;			/* resident */
	uint64_t	requests;		/* evaluated */
	uint64_t	submissions;
	uint64_t	uploads;
	uint64_t	builds;			/* of BVHs */
	uint64_t	sorts;			/* of columns */
	uint64_t	sieves;			/* of columns: their vectors */
	uint64_t	build_nanoseconds;	/* of the device: sorts, sieves and BVHs */
	uint64_t	evictions;
	uint64_t	failures;
} DeviceStatus;

typedef struct DeviceReply
{
	uint64_t	number;			/* of the request */
	uint32_t	result;
	uint32_t	segment;		/* MISSING: which of the request's segments, */
	uint32_t	column;			/* and which of its columns; */
	uint32_t	of_rows;		/* if it is one that rows are tested by, or of its tally: which column of the index, */
	uint32_t	form;			/* and in which form */
	uint32_t	built;			/* EVALUATE: BVHs that were built meanwhile */
	uint64_t	refined_rows;	/* rows that the refine step looked at */
	uint64_t	rays;			/* EVALUATE: rays cast */
	uint64_t	nanoseconds;	/* of the device: this request's part of its submission */
	DeviceStatus status;		/* only of HELLO and STATUS */
} DeviceReply;

typedef struct SortPair
{
	uint64_t	key;
	uint32_t	value;
	uint32_t	unused;			/* not kept */
} SortPair;

typedef struct EvaluateHeader
{
	uint32_t	executor;
	uint32_t	want_bits;
	uint32_t	segments;
	uint32_t	columns;
	uint32_t	intervals;
	uint32_t	prepare;		/* only put on the device what the executor needs: no answer */
	uint32_t	build;			/* BVHs that are not there */
	uint32_t	digits;
	uint32_t	measures;
	uint32_t	members;
	uint32_t	words;
	uint32_t	unused;			/* what follows has 64 bits */
} EvaluateHeader;

/*
 * Conditions of a segment: a conjunction of its columns, or several that follow each other and are combined on the device, where their rows
 * are tallied.  Only the first of these has a tally, and an answer.
 *
 *	c1 AND (c2 OR c3) AND (c4 OR c5):	c1 PART_FIRST	c2 PART_AND		c3 PART_OR		c4 PART_AND		c5 PART_OR
 */
typedef enum FilterPart
{
	PART_FIRST,
	PART_AND,					/* of the alternatives before, and of this one and those that follow */
	PART_OR,					/* an alternative to the one before */
	FILTER_PARTS
} FilterPart;

typedef struct EvaluateSegment
{
	SegmentKey	key;
	uint32_t	rows;
	uint32_t	columns;		/* 0: all rows match, but for their members */
	uint64_t	cells;			/* of its tally, with rows or without; 0: it has none */
	uint32_t	entries;		/* that there is room for: as many, or fewer */
	uint32_t	digits;
	uint32_t	measures;
	uint32_t	tallied[DEVICE_TALLY_MASKS];	/* a bit for each chunk that is in the tally, */
	uint32_t	partly[DEVICE_TALLY_MASKS];	/* and for those of these that have a mask */
	uint32_t	joins;			/* it adds to the last tally before, which has as many cells, entries and measures */
	uint32_t	part;			/* of FilterPart */
	uint32_t	members;
} EvaluateSegment;

typedef struct EvaluateColumn
{
	uint32_t	column;
	uint32_t	intervals;
} EvaluateColumn;

/*
 * Rows have to have integers in a set: of the distances from the segment's least, shifted (by what wraps around) to be from the set's first,
 * those up to reach that have a bit, or are in the table, or are not, or all of these.
 */
typedef struct EvaluateMembers
{
	uint32_t	column;
	uint32_t	form;			/* not COLUMN_KEY */
	uint32_t	null;			/* NULL is a member */
	uint32_t	words;			/* of bits or a table, from a place on; or DEVICE_NO_WORDS */
	uint64_t	shift;
	uint64_t	reach;			/* of a table, less than DEVICE_NO_INTEGER */
	uint32_t	slot_bits;		/* a table has 2^slot_bits slots; 0: it is none */
	uint32_t	lacks;			/* that is of integers that are not in the set */
} EvaluateMembers;

/*
 * A digit of a cell's number: 0 .. null - 1, or null for NULL, times the stride.  It is the distance without its lowest bits, so that integers next
 * to each other can have one number.  With a map, integers are shifted to be from its first one, and those up to reach have their numbers there;
 * others have null.  With steps the last one is that of reach.
 */
typedef struct TallyDigit
{
	uint32_t	column;
	uint32_t	form;			/* COLUMN_KEY: codes, among which null is NULL's */
	uint32_t	null;
	uint32_t	map;			/* words, from a place on; or DEVICE_NO_WORDS */
	uint64_t	stride;
	uint64_t	shift;			/* of values */
	uint64_t	reach;			/* of a table, less than DEVICE_NO_INTEGER */
	uint32_t	slot_bits;		/* a table has 2^slot_bits slots; 0: it is none */
	uint32_t	map_bits;		/* of a number in a map, in a table 32; or DEVICE_STEP_BITS */
	uint32_t	dropped;		/* bits of the distance, less than 64; with a map none */
	uint32_t	unused;
} TallyDigit;

/* A sum is in two parts, which cannot overflow: of the distances' lower 32 bits, and of the upper ones. */
typedef enum TallyKind
{
	TALLY_COUNT,				/* values that are not NULL; of these: */
	TALLY_SUM_LOWER,
	TALLY_SUM_UPPER,
	TALLY_GREATEST,				/* distance; 0 where there is none, too */
	TALLY_LEAST,				/* ~distance, of the least: 0 where there is none */
	TALLY_KINDS
} TallyKind;

/* Of a column's values. */
typedef struct TallyMeasure
{
	uint32_t	column;
	uint32_t	kind;
	uint32_t	form;			/* not COLUMN_KEY */
	uint32_t	unused;
	uint64_t	shift;
} TallyMeasure;

/* Half-open, not empty; those of a column are disjoint, not adjacent, ascending. */
typedef struct DeviceInterval
{
	uint32_t	low_rank;
	uint32_t	high_rank;
	uint32_t	low_code;
	uint32_t	high_code;
} DeviceInterval;

/* Rows of a chunk that match: those that are handed over as bits, or only counted; and those in the tally. */
typedef struct ChunkCount
{
	uint32_t	rows;
	uint32_t	tallied;
} ChunkCount;

static inline uint64_t
device_align(uint64_t offset, uint64_t alignment)
{
	return (offset + alignment - 1) / alignment * alignment;
}

static inline uint32_t
device_chunks(uint32_t rows)
{
	return (rows + DEVICE_CHUNK_ROWS - 1) / DEVICE_CHUNK_ROWS;
}

/* Bytes of pages that hold rows elements of so many bytes each, without crossing a page. */
static inline uint64_t
device_packed_size(uint32_t rows, uint32_t bytes)
{
	uint32_t	per_page = DEVICE_CHUNK_BYTES / bytes;

	return (uint64_t) ((rows + per_page - 1) / per_page) * DEVICE_CHUNK_BYTES;
}

static inline ColumnLayout
device_column_layout(const ColumnShape *shape)
{
	ColumnLayout layout = {0};
	uint64_t	pages = (uint64_t) shape->vectors * device_chunks(shape->rows) * sizeof(uint32_t);

	if (shape->form != COLUMN_KEY)
	{
		layout.elements = device_align(device_chunks(shape->rows) * sizeof(ValueFrame), 256);
		layout.size = layout.elements + (uint64_t) shape->element_pages * DEVICE_CHUNK_BYTES;
		return layout;
	}
	if (shape->heap_order)
		return layout;
	layout.sieve = device_align(pages, 256);
	layout.order = device_align(layout.sieve + (uint64_t) shape->sieve_pages * DEVICE_CHUNK_BYTES, 256);
	layout.codes = device_align(layout.order + (shape->has_order ? device_packed_size(shape->rows, 3) : 0), 256);
	layout.size = layout.codes + device_packed_size(shape->rows, shape->code_bytes);
	return layout;
}

/* Where an answer's tallies begin, from request.results; and its bits, behind so many words of them. */
static inline uint64_t
device_tallies_offset(uint32_t chunks)
{
	return device_align((uint64_t) chunks * sizeof(ChunkCount), 64);
}

static inline uint64_t
device_bits_offset(uint32_t chunks, uint64_t tally_words)
{
	return device_align(device_tallies_offset(chunks) + tally_words * sizeof(uint64_t), 64);
}

/* Words of a tally of so many entries. */
static inline uint64_t
device_tally_size(uint64_t entries, uint32_t measures)
{
	return 1 + entries * (2 + measures);
}

/* Of a segment's own tally. */
static inline uint64_t
device_tally_words(const EvaluateSegment *segment)
{
	return segment->joins || segment->cells == 0 ? 0 : device_tally_size(segment->entries, segment->measures);
}

/* Where a request's words begin, from request.offset, behind so many bytes of what comes before; and how many a set has. */
static inline uint64_t
device_words_offset(uint64_t body)
{
	return device_align(body, 64);
}

static inline uint64_t
device_set_words(uint64_t reach)
{
	return reach / 32 + 1;
}

/* And a map. */
static inline uint64_t
device_map_words(uint64_t reach, uint32_t bits)
{
	return ((reach + 1) * bits + 31) / 32;
}

/* Where the order begins that sieve vectors are made from, from request.offset. */
static inline uint64_t
device_order_offset(uint32_t bins)
{
	return device_align(((uint64_t) bins + 1) * sizeof(uint32_t), 64);
}

/* Vectors H of a column; the others are L (src/segment/sieve.h). */
static inline uint32_t
device_high_vectors(const ColumnShape *shape)
{
	return (shape->bins + shape->radix - 1) / shape->radix - 1;
}

/* Bytes of all vectors of a column, with those pages that the index does not store. */
static inline uint64_t
device_vectors_size(const ColumnShape *shape)
{
	return (uint64_t) shape->vectors * device_chunks(shape->rows) * DEVICE_CHUNK_BYTES;
}

#endif							/* RTSCAN_DEVICE_PROTOCOL_H */
