/* SPDX-License-Identifier: PostgreSQL */
/*
 * protocol.h
 *		Messages between backends and the device program.
 *
 * The device program (rtscan_device) owns a Vulkan device; each device has a program of its own.
 * The program is a separate process without PostgreSQL's shared memory, so that a crash in the
 * driver does not affect the server.  A backend connects to the program's socket (SOCK_SEQPACKET, in
 * the data directory) and once passes the file descriptor of an area of shared memory.  The backend then
 * sends one DeviceRequest at a time, and gets one DeviceReply for each.  The data of requests and answers
 * lie in the area, which both sides map:
 *
 *	EVALUATE, at request.offset:
 *		EvaluateHeader
 *		EvaluateSegment[segments]
 *		EvaluateColumn[columns]			of all segments, one segment after another
 *		DeviceInterval[intervals]		of all columns, one column after another
 *		EvaluateMembers[members]		of all segments, one segment after another
 *		AggDigit[digits]				of all segments' aggregates, one segment after another
 *		AggMeasure[measures]			of all segments' aggregates, one segment after another
 *		(at the next multiple of 64)
 *		uint32 words[]					sets and maps, which segments may share
 *	the answer, at request.results:
 *		ChunkCount counts[chunks]		matching rows of each chunk of all segments
 *		(at the next multiple of 64)
 *		uint64 aggs[]					for each segment with an aggregate of its own: the number of
 *										entries, then the entries, uint64 [2 + measures] each
 *		(at the next multiple of 64)
 *		bits[chunks][DEVICE_CHUNK_BYTES]	only if want_bits is set; only chunks with matching
 *										rows outside of the aggregate are written
 *
 *	A segment's rows can be *aggregated*, so that their bits need not be returned.  The aggregate covers
 *	whole chunks that are all-visible, and of some other chunks only some rows.  For each chunk of which it
 *	covers only some rows, the backend writes a *mask*, the bits of the rows that are not aggregated, where the
 *	answer returns the chunk's bits.  The number of a row's cell is made of digits.  A digit is a code, or the
 *	distance of a value from the segment's least value, or a number from a map.  Each cell with rows has an
 *	*entry*: the cell's number, the number of rows, and measures of the distances of other columns.  Entries
 *	are in no particular order.  If most cells are expected to have no rows, there is room for fewer entries than
 *	cells.  If more cells have rows than there is room for, the number of entries in the answer exceeds the
 *	room, and the aggregate is lost.  A *shift*, added to distances, makes them count from the least value
 *	of several segments, which can then join in one aggregate.
 *
 *	A *set* has a bit for each integer from the set's first integer on, which tells whether the integer is a
 *	member.  Rows whose integers are not members do not match.
 *	A *map* has a number of 8, 16 or 32 bits for each integer.  A row's digit is the map's number for the
 *	row's integer.  For example, a dimension of a star is a map by key.  A map can have *breakpoints* instead,
 *	ascending 64-bit integers: the digit is the number of breakpoints that are not above the row's integer.
 *	Conditions that compare an integer with constants become maps with breakpoints.
 *	If the integers are few and far apart, sets and maps are *tables* (table.h).
 *
 *	SORT, at request.offset:			SortPair[size], sorted in place by key; the sort is stable
 *
 *	SIEVE, at request.offset:
 *		uint32 boundaries[bins + 1]		strictly ascending ranks, 0 .. rows
 *		(at the next multiple of 64)
 *		uint32 order[rows]				the row of each rank
 *	the answer, at request.results:
 *		bits[vectors][chunks][DEVICE_CHUNK_BYTES]	zeros after the last row
 *
 *	UPLOAD_BEGIN, at request.offset:	uint32 boundaries[bins + 1]
 *	UPLOAD_DATA, at request.offset:		request.size bytes, to be stored at request.destination in
 *										the column's data (struct ColumnLayout)
 *
 * Either side can close the connection at any time: the backend then continues without the
 * device, and the program frees what belonged to the connection.
 *
 * Neither side trusts the other.  Since the area may change at any time, each side first copies what it
 * needs, and then checks the copy.
 */
#ifndef RTSCAN_DEVICE_PROTOCOL_H
#define RTSCAN_DEVICE_PROTOCOL_H

#include <stdint.h>

#define DEVICE_PROTOCOL_VERSION 13

/*
 * %d is the device's position in rtscan.device.  The path is relative to the data directory, the working
 * directory of both sides.
 */
#define DEVICE_SOCKET			"pg_stat_tmp/rtscan_device.%d"

#define DEVICE_CHUNK_BYTES		8064
#define DEVICE_CHUNK_ROWS		(DEVICE_CHUNK_BYTES * 8)
#define DEVICE_SEGMENT_CHUNKS	65
#define DEVICE_MAX_COLUMNS		32
#define DEVICE_MAX_BINS			1024
#define DEVICE_GROUP_COLUMNS	3	/* columns of a BVH of the executor rt, at most */
#define DEVICE_MAX_SEGMENTS		64	/* segments in one request */
#define DEVICE_MAX_INTERVALS	(1 << 20)	/* intervals in one request */
#define DEVICE_MAX_PAIRS		(1 << 26)	/* pairs in one sort */
#define DEVICE_MAX_DIGITS		8	/* digits of one aggregate's cells */
#define DEVICE_MAX_MEASURES		32
#define DEVICE_MAX_PARTS		32	/* parts of one filter */
/* most runs of bins of one column; the number of vectors read is proportional to the number of runs */
#define DEVICE_MAX_RUNS			64
#define DEVICE_MAX_AGG_WORDS	(1 << 21)	/* words of aggregates in one request */
#define DEVICE_MAX_SET_WORDS	(1 << 23)	/* words of sets and maps in one request */
#define DEVICE_NO_WORDS			UINT32_MAX	/* an index of words with this value means that there are no words */
#define DEVICE_BREAKPOINT_BITS	64
#define DEVICE_MAX_BREAKPOINTS	64	/* breakpoints of one digit; each row is compared with every breakpoint */
#define DEVICE_AGG_MASKS		((DEVICE_SEGMENT_CHUNKS + 31) / 32)

/* Page numbers that represent a page of zeros and a page of ones, which are not stored. */
#define DEVICE_PAGE_ZEROS		UINT32_MAX
#define DEVICE_PAGE_ONES		(UINT32_MAX - 1)

/* The program's exit status when starting it again would not help. */
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
	DEVICE_HELLO,				/* passes the area's file descriptor */
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
	DEVICE_MISSING,				/* a column is not on the device: upload it and repeat the request */
	/* a BVH is missing, and "build" of the request is not set: set it, or use another executor */
	DEVICE_NOT_BUILT,
	DEVICE_NO_MEMORY,
	DEVICE_TOO_COMPLEX,			/* too many runs of bins, slabs, rays or workgroups for this executor */
	DEVICE_UNSUPPORTED,			/* the device cannot trace rays, or cannot aggregate rows */
	DEVICE_REFUSED				/* the request is invalid */
} DeviceResult;

/* Identifies a segment for the whole life of a server. */
typedef struct SegmentKey
{
	uint32_t	database;
	uint32_t	tablespace;
	uint32_t	relation;		/* relfilenode */
	uint32_t	unused;
	uint8_t		uuid[16];
	uint64_t	segment;
} SegmentKey;

/* The forms in which a column can be on a device.  Each form of a column is cached separately. */
typedef enum ColumnForm
{
	COLUMN_KEY,					/* order, sieve and codes, by which the column is searched */
	COLUMN_VALUES,				/* exact integers or codes as stored, in frames (segment/frames.h) */
	COLUMN_INTEGERS,			/* the exact integers that codes represent, in frames */
	COLUMN_CODES,				/* codes of a key column in heap order, which the index does not store; in frames */
	COLUMN_FORMS
} ColumnForm;

/*
 * Size and shape of a segment's column; see RtscanColumnHeader in segment/segment.h.  For the forms with frames
 * only rows, element_pages and largest are set.
 */
typedef struct ColumnShape
{
	uint32_t	rows;
	uint32_t	heap_order;		/* nonzero if each rank is the row number: there is no data */
	uint32_t	nonnull;
	uint32_t	distinct;
	uint32_t	code_bytes;
	uint32_t	bins;
	uint32_t	radix;
	uint32_t	vectors;
	uint32_t	sieve_pages;
	uint32_t	has_order;
	uint32_t	form;			/* a ColumnForm */
	uint32_t	element_pages;
	uint64_t	largest;		/* greatest distance of a value from the segment's least value */
} ColumnShape;

/* How the elements of a chunk are stored.  An element is the distance of a row's value from the chunk's least value. */
typedef struct ValueFrame
{
	uint64_t	above;			/* the chunk's least value minus the segment's least value */
	uint64_t	null;			/* the element of NULL; if the chunk has no NULLs, greater than all its elements */
	uint32_t	page;			/* first page of the elements */
	uint32_t	bits;			/* bits of an element; 0: no elements are stored, all are 0 */
} ValueFrame;

/* Byte offsets of a column's arrays within its data.  The forms with frames have only frames and elements. */
typedef struct ColumnLayout
{
	uint64_t	frames;			/* ValueFrame [chunks] */
	uint64_t	elements;		/* whole pages */
	uint64_t	pages;			/* uint32 [vectors][chunks]: page number of the bits, or DEVICE_PAGE_ZEROS or _ONES */
	uint64_t	sieve;			/* pages of bits */
	uint64_t	order;			/* 3 bytes for each rank */
	uint64_t	codes;			/* code_bytes for each row */
	uint64_t	size;
} ColumnLayout;

typedef struct DeviceRequest
{
	uint32_t	kind;
	uint32_t	version;		/* HELLO: DEVICE_PROTOCOL_VERSION */
	uint64_t	offset;			/* offset of the data in the area */
	uint64_t	size;			/* HELLO: bytes of the area; SORT: number of pairs; UPLOAD_DATA: bytes */
	uint64_t	results;		/* offset of the answer, in the area */
	uint64_t	destination;	/* UPLOAD_DATA: offset in the column's data */
	uint64_t	number;			/* number of the request in its connection, from 0 on */
	SegmentKey	key;
	uint32_t	column;			/* UPLOAD_BEGIN: number of the column in the index; shape.form is its form */
	uint32_t	first_bit;		/* SORT: lowest bit in which the keys differ */
	uint32_t	bits;			/* SORT: number of bits from first_bit on by which to sort */
	ColumnShape shape;			/* SIEVE sets only rows, bins, radix and vectors */
} DeviceRequest;

typedef struct DeviceStatus
{
	char		name[128];
	uint32_t	software;
	uint32_t	ray_tracing;
	uint32_t	can_aggregate;	/* true if the device can aggregate rows */
	uint32_t	unused;
	uint64_t	memory_limit;
	uint64_t	memory_used;
	uint32_t	columns;		/* number of columns resident on the device */
	uint32_t	bvhs;			/* number of BVHs resident on the device */
	uint64_t	requests;		/* number of requests evaluated */
	uint64_t	submissions;
	uint64_t	uploads;
	uint64_t	builds;			/* number of BVHs built */
	uint64_t	sorts;			/* number of columns sorted */
	uint64_t	sieves;			/* number of columns whose sieve vectors were made */
	uint64_t	build_nanoseconds;	/* device time of sorts, sieves and BVHs */
	uint64_t	evictions;
	uint64_t	failures;
} DeviceStatus;

typedef struct DeviceReply
{
	uint64_t	number;			/* number of the request */
	uint32_t	result;
	uint32_t	segment;		/* MISSING: index of the segment in the request */
	/* MISSING: if of_rows is set, the column's number in the index, else its position among the segment's columns */
	uint32_t	column;
	uint32_t	of_rows;		/* MISSING: true if the column is needed to test members or for the aggregate */
	uint32_t	form;			/* MISSING: the ColumnForm that is needed, if of_rows */
	uint32_t	built;			/* EVALUATE: number of BVHs built since the request arrived */
	/* EVALUATE: rows in only one of a column's approximate and exact sets (bins.h), summed up over columns */
	uint64_t	refined_rows;
	uint64_t	rays;			/* EVALUATE: rays traced */
	uint64_t	nanoseconds;	/* device time: this request's share of its submission */
	DeviceStatus status;		/* only set for HELLO and STATUS */
} DeviceReply;

typedef struct SortPair
{
	uint64_t	key;
	uint32_t	value;
	uint32_t	unused;			/* its content is not preserved */
} SortPair;

typedef struct EvaluateHeader
{
	uint32_t	executor;
	uint32_t	want_bits;
	uint32_t	segments;
	uint32_t	columns;
	uint32_t	intervals;
	/* true: only check for missing columns and BVHs, and if "build" is set, build missing BVHs; there is no answer */
	uint32_t	prepare;
	uint32_t	build;			/* true: build BVHs that are missing */
	uint32_t	digits;
	uint32_t	measures;
	uint32_t	members;
	uint32_t	words;
	uint32_t	unused;			/* aligns what follows to 64 bits */
} EvaluateHeader;

/*
 * Role of an EvaluateSegment in its segment's filter.  An EvaluateSegment is a conjunction of conditions on
 * columns.  A filter with alternatives (OR) whose rows are aggregated has several parts.  Each part is an
 * EvaluateSegment.  The parts follow each other, and the device combines them.  Only the first part has an
 * aggregate and an answer.
 *
 * c1 AND (c2 OR c3) AND (c4 OR c5): c1 PART_FIRST, c2 PART_AND, c3 PART_OR, c4 PART_AND, c5 PART_OR
 */
typedef enum FilterPart
{
	PART_FIRST,
	PART_AND,					/* begins a new list of alternatives, which is ANDed with the lists before */
	PART_OR,					/* an alternative to the part before */
	FILTER_PARTS
} FilterPart;

typedef struct EvaluateSegment
{
	SegmentKey	key;
	uint32_t	rows;
	uint32_t	columns;		/* 0: all rows match, unless members exclude them */
	uint64_t	cells;			/* cells of the aggregate, with or without rows; 0: there is no aggregate */
	uint32_t	entries;		/* room for entries in the answer; not more than "cells" */
	uint32_t	digits;
	uint32_t	measures;
	uint32_t	aggregated[DEVICE_AGG_MASKS];	/* a bit for each chunk that is in the aggregate */
	uint32_t	partly[DEVICE_AGG_MASKS];	/* a bit for each aggregated chunk that has a mask */
	/* true if its rows are added to the preceding aggregate, which must have the same cells, entries and measures */
	uint32_t	joins;
	uint32_t	part;			/* a FilterPart */
	uint32_t	members;
} EvaluateSegment;

typedef struct EvaluateColumn
{
	uint32_t	column;
	uint32_t	intervals;
} EvaluateColumn;

/*
 * A condition that a row's integer is a member of a set.  The integer's distance from the segment's least value plus
 * "shift" (modulo 2^64) is its position, counted from the set's first integer.  Positions above "reach" are not
 * members.  Without words, all positions up to "reach" are members.  With bits, the members are the positions whose
 * bits are set.  With a table, they are the positions that the table has, or if "lacks" is set, those that it does not
 * have.
 */
typedef struct EvaluateMembers
{
	uint32_t	column;
	uint32_t	form;			/* a ColumnForm, not COLUMN_KEY */
	uint32_t	null;			/* true if NULL is a member */
	uint32_t	words;			/* index of the bits or the table in the request's words, or DEVICE_NO_WORDS */
	uint64_t	shift;
	/* greatest position that can be a member; less than DEVICE_NO_INTEGER if there is a table */
	uint64_t	reach;
	uint32_t	slot_bits;		/* the table has 2^slot_bits slots; 0: bits, no table */
	uint32_t	lacks;			/* true if the table lists the integers that are not members */
} EvaluateMembers;

/*
 * A digit of a cell's number: 0 .. null - 1, or "null" for NULL and for greater digits.  The number is the sum of
 * digit * stride over all digits.  Without a map, the digit is the distance plus "shift", without its "dropped" lowest
 * bits, so that neighbouring integers can share a digit.  With a map, the distance plus "shift" is the integer's
 * position in the map.  Up to "reach", the digit is the map's number at this position; above "reach", or if a table
 * does not have the position, the digit is "null".  With breakpoints, "reach" is instead the index of the last
 * breakpoint.
 */
typedef struct AggDigit
{
	uint32_t	column;
	uint32_t	form;			/* a ColumnForm; COLUMN_KEY: codes, where "null" is the code of NULL */
	uint32_t	null;			/* the digit of NULL, above the digits of all values */
	uint32_t	map;			/* index of the map in the request's words, or DEVICE_NO_WORDS */
	uint64_t	stride;
	uint64_t	shift;			/* is added to distances */
	uint64_t	reach;			/* if the map is a table, less than DEVICE_NO_INTEGER */
	uint32_t	slot_bits;		/* the table has 2^slot_bits slots; 0: the map is no table */
	uint32_t	map_bits;		/* bits of a number in the map: 32 in a table; or DEVICE_BREAKPOINT_BITS */
	uint32_t	dropped;		/* lowest bits of the distance that are left out, less than 64; 0 with a map */
	uint32_t	unused;
} AggDigit;

/*
 * Kinds of measures.  A sum is split into two sums that cannot overflow: AGG_SUM_LOWER of the lower 32 bits of the
 * distances, and AGG_SUM_UPPER of their upper 32 bits.
 */
typedef enum AggKind
{
	AGG_COUNT,					/* number of values that are not NULL */
	AGG_SUM_LOWER,
	AGG_SUM_UPPER,
	AGG_GREATEST,				/* greatest distance; also 0 if there are no values */
	AGG_LEAST,					/* greatest ~distance, which gives the least distance; 0 if there are no values */
	AGG_KINDS
} AggKind;

/* A measure of a column's values, for each cell. */
typedef struct AggMeasure
{
	uint32_t	column;
	uint32_t	kind;
	uint32_t	form;			/* a ColumnForm, not COLUMN_KEY */
	uint32_t	unused;
	uint64_t	shift;
} AggMeasure;

/*
 * A half-open interval that is not empty, given in ranks and in codes.  The intervals of a column ascend, and no two
 * of them overlap or touch.
 */
typedef struct DeviceInterval
{
	uint32_t	low_rank;
	uint32_t	high_rank;
	uint32_t	low_code;
	uint32_t	high_code;
} DeviceInterval;

/* Numbers of matching rows of a chunk: rows that are returned as bits (or only counted), and rows in the aggregate. */
typedef struct ChunkCount
{
	uint32_t	rows;
	uint32_t	aggregated;
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

/* Return the size in bytes of the pages for "rows" elements of "bytes" bytes each.  No element crosses a page. */
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

/* Return the offset of an answer's aggregates, counted from request.results. */
static inline uint64_t
device_aggs_offset(uint32_t chunks)
{
	return device_align((uint64_t) chunks * sizeof(ChunkCount), 64);
}

/* Return the offset of an answer's bits, counted from request.results. */
static inline uint64_t
device_bits_offset(uint32_t chunks, uint64_t agg_words)
{
	return device_align(device_aggs_offset(chunks) + agg_words * sizeof(uint64_t), 64);
}

/* Return the number of 64-bit words of an aggregate with room for "entries" entries. */
static inline uint64_t
device_agg_size(uint64_t entries, uint32_t measures)
{
	return 1 + entries * (2 + measures);
}

/* Return the number of 64-bit words of a segment's own aggregate.  0 if it has none, or joins another one. */
static inline uint64_t
device_agg_words(const EvaluateSegment *segment)
{
	return segment->joins || segment->cells == 0 ? 0 : device_agg_size(segment->entries, segment->measures);
}

/* Return the offset of a request's words, counted from request.offset.  "body": number of bytes before the words. */
static inline uint64_t
device_words_offset(uint64_t body)
{
	return device_align(body, 64);
}

/* Return the number of 32-bit words of a set that is not a table. */
static inline uint64_t
device_set_words(uint64_t reach)
{
	return reach / 32 + 1;
}

/* Return the number of 32-bit words of a map that is not a table.  "bits" is the size of each number. */
static inline uint64_t
device_map_words(uint64_t reach, uint32_t bits)
{
	return ((reach + 1) * bits + 31) / 32;
}

/* Return the offset of a SIEVE request's order, counted from request.offset. */
static inline uint64_t
device_order_offset(uint32_t bins)
{
	return device_align(((uint64_t) bins + 1) * sizeof(uint32_t), 64);
}

/* Return the number of H vectors of a column; its other vectors are L vectors (src/segment/sieve.h). */
static inline uint32_t
device_high_vectors(const ColumnShape *shape)
{
	return (shape->bins + shape->radix - 1) / shape->radix - 1;
}

/* Return the bytes of all vectors of a column, including pages that the index does not store. */
static inline uint64_t
device_vectors_size(const ColumnShape *shape)
{
	return (uint64_t) shape->vectors * device_chunks(shape->rows) * DEVICE_CHUNK_BYTES;
}

#endif							/* RTSCAN_DEVICE_PROTOCOL_H */
