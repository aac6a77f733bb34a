/* SPDX-License-Identifier: PostgreSQL */
/*
 * layout.h
 *		The parameters of the shaders, declared for both C and GLSL.
 *
 * All structures lie in device memory in the scalar layout, which equals the layout of C because
 * none of them has padding; device/tasks.h asserts their sizes.  Addresses are buffer device
 * addresses.  The tasks of a submission are stored one kind after another.  For each kind an array
 * maps the number of a workgroup to its task.  The members first_chunk, first_run and so on of a task are
 * the number of chunks, runs and so on of all tasks before it (first_ray: of all bundles before it in its TraceTask).
 */
#ifndef RTSCAN_LAYOUT_H
#define RTSCAN_LAYOUT_H

#define CHUNK_ROWS			64512
#define CHUNK_WORDS32		2016	/* 32-bit words of a chunk's bits */
#define PAGE_ZEROS			0xFFFFFFFFu
#define PAGE_ONES			0xFFFFFFFEu

#define BVH_GROUP			256		/* threads of a workgroup */
#define PAIR_GROUP			256
#define VECTOR_GROUP		256
#define SPACE_WORDS			8		/* 32-bit words of a record, at most */

#define REFINE_GROUP		256		/* threads of a workgroup */
#define REFINE_BLOCK		1024	/* ranks that a workgroup tests */

#define MEMBERS_GROUP		256		/* threads of a workgroup */
#define MEMBERS_SETS		32		/* sets that a segment's rows are tested against, at most */

#define AGG_GROUP			512		/* threads of a workgroup */
#define AGG_LARGE_GROUP		1024	/* threads of a workgroup with large tables */
#define AGG_DIGITS			8
#define AGG_MEASURES		33		/* most measures of a task: DEVICE_MAX_MEASURES, plus one of kind MEASURE_ROWS */
#define AGG_COPIES			32		/* copies of a table, at most */
#define AGG_LISTED			4032	/* rows of a chunk that a workgroup can list */
#define AGG_LARGE_LISTED	2016	/* rows of a chunk that a workgroup with large tables can list */

#define NO_AGG				0xFFFFFFFFu

/* The axes of a space: enum SpaceAxis of device/space.h. */
#define AXIS_GROUP			0
#define AXIS_PLACE			1
#define AXIS_SCAN			2

/* How an aggregate is accumulated. */
#define AGG_OF_ONE_CELL		0
#define AGG_BY_TABLES		1
#define AGG_BY_WORDS		2
#define AGG_BY_HASH			3		/* each cell is assigned a slot by hashing */
/* tables so large that few workgroups fit on a multiprocessor; each workgroup has more threads instead */
#define AGG_BY_LARGE_TABLES	4
#define AGG_WAYS			5

/*
 * Two 64-bit words precede an aggregate's words: the number of slots with rows, and the number of workgroups that
 * have added their slots to the first word.
 */
#define AGG_HEADER			2
/* the first of the two words is at least this if a cell has found no slot */
#define AGG_LOST			0x100000000ul
#define AGG_PROBES			64		/* slots that are tried for a cell */

#define COLLECT_GROUP		256		/* threads of a workgroup */
#define COLLECT_BLOCK		4096	/* slots that a workgroup reads */

/* Kinds of measures: enum AggKind of device/protocol.h, and the number of rows. */
#define MEASURE_COUNT		0
#define MEASURE_SUM_LOWER	1
#define MEASURE_SUM_UPPER	2
#define MEASURE_GREATEST	3
#define MEASURE_LEAST		4
#define MEASURE_ROWS		5

#define SORT_GROUP			256		/* threads of a workgroup */
#define SORT_KEYS			12		/* keys of a thread */
#define SORT_BLOCK			(SORT_GROUP * SORT_KEYS)	/* keys of a workgroup */
#define SORT_DIGIT_BITS		8
#define SORT_DIGITS			256		/* values of a digit; a workgroup has one thread for each */

/* Ranks or codes first .. end - 1. */
struct RangeTask
{
	uint32_t	first;
	uint32_t	end;
};

/* A run of bins of a column; it selects the rows whose ranks are in the bins. */
struct RunTask
{
	uint64_t	pages;			/* page numbers of the vectors; 0: the column is in heap order, rank = row */
	uint64_t	sieve;			/* pages of bits */
	uint32_t	bins;			/* number of bins of the column */
	uint32_t	radix;
	uint32_t	first;			/* first bin; in heap order, first row */
	uint32_t	end;			/* bin after the last one; in heap order, row after the last one */
	/* nonzero for the last run of its column; the union of the column's runs is then ANDed with the result */
	uint32_t	last;
	uint32_t	unused;
};

/* AND the sets of rows that a region's columns select by their runs.  Each workgroup evaluates a chunk. */
struct SieveTask
{
	uint64_t	bits;
	uint32_t	first_chunk;
	uint32_t	chunks;
	uint32_t	rows;
	uint32_t	first_run;
	uint32_t	runs;
	uint32_t	unused;
};

/* A column whose codes are compared when a ray meets a row.  It belongs to a group of the executor rt, or to a job. */
struct ColumnTask
{
	uint64_t	codes;			/* address; 0: in heap order, the row is its own code */
	uint32_t	code_bytes;
	uint32_t	first_interval; /* index in "ranges" of the first interval of the exact result, in codes */
	uint32_t	intervals;
	uint32_t	field;			/* of a job: see ElementsTask */
};

/* Clear the bits of the rows with ranks first .. end - 1.  Each workgroup tests REFINE_BLOCK ranks. */
struct RefineTask
{
	uint64_t	order;
	uint64_t	bits;
	uint32_t	first;
	uint32_t	end;
	uint32_t	rows;
	uint32_t	first_block;
};

/*
 * Combine the bits of a segment's groups, by OR for alternatives and by AND otherwise.  Count the rows and return
 * their bits.  Each workgroup handles a chunk.  If there are alternatives, or the chunk has a mask, the result
 * replaces the first group's bits; rows that are returned because of a mask are left out.
 */
struct PublishTask
{
	uint64_t	bits;			/* bits of the first group, followed by the bits of all other groups */
	uint64_t	counts;			/* uint32 [chunks][2]: struct ChunkCount of device/protocol.h */
	uint64_t	words;			/* address of the returned bits; 0: only count */
	uint32_t	first_chunk;
	uint32_t	chunks;
	uint32_t	groups;
	/* a bit for each chunk in the aggregate; its rows are counted, but not returned, except as "partly" says */
	uint32_t	aggregated[3];
	/* a bit for each aggregated chunk with a mask in words; the rows of the mask are returned */
	uint32_t	partly[3];
	uint32_t	alternatives;	/* a bit for each group that is an alternative to the group before */
};

/* struct ValueFrame of device/protocol.h. */
struct FrameTask
{
	uint64_t	above;
	uint64_t	null;
	uint32_t	page;
	uint32_t	bits;
};

/*
 * A column's elements or codes.  In a job, a row's record may have the element instead (device/space.h): "field" is
 * then first_bit << 8 | bits of the element in the record, and otherwise 0.
 */
struct ElementsTask
{
	uint64_t	frames;			/* FrameTask [chunks]; 0: elements are codes, without frames */
	uint64_t	elements;
	uint64_t	shift;			/* is added to values */
	uint32_t	code_bits;		/* bits of a code; 0: the row is its own code */
	uint32_t	field;
};

/* A set of integers.  Shifted values count from the set's first integer; values above "reach" are not members. */
struct SetTask
{
	ElementsTask values;
	/* uint32: a bit for each integer, or a table (device/table.h); 0: all integers up to "reach" are members */
	uint64_t	words;
	uint64_t	reach;
	uint32_t	null;			/* nonzero if NULL is a member */
	uint32_t	slot_bits;		/* the table has 2^slot_bits slots; 0: bits, no table */
	uint32_t	lacks;			/* 1 if the table lists the integers that are not members, otherwise 0 */
	uint32_t	unused;
};

/* Clear the bits of a segment's rows that are missing from at least one of its sets.  Each workgroup tests a chunk. */
struct MembersTask
{
	uint64_t	bits;
	uint32_t	first_chunk;
	uint32_t	first_set;
	uint32_t	sets;
	uint32_t	unused;
};

/* A digit of a cell's number: AggDigit of device/protocol.h. */
struct DigitTask
{
	ElementsTask values;
	uint64_t	stride;
	/* address of the map, which has the digits of the shifted values 0 .. reach; 0: no map */
	uint64_t	map;
	uint64_t	reach;
	/* bits of a number in the map, 8, 16 or 32; 64: the map has breakpoints, and reach is the index of the last */
	uint32_t	map_bits;
	uint32_t	slot_bits;		/* the map is a table with 2^slot_bits slots (device/table.h); 0: it is not */
	uint32_t	null;
	uint32_t	dropped;		/* lowest bits that are left out; 0 with a map */
	uint32_t	wide;			/* nonzero if the digit needs 64-bit arithmetic; not used with a map */
	uint32_t	unused;
};

/* A measure of an aggregate. */
struct MeasureTask
{
	ElementsTask values;
	uint32_t	kind;			/* MEASURE_COUNT, ... */
	/* number of tables with 32-bit cells that the measure needs; 0: it cannot be made in tables */
	uint32_t	tables;
};

/*
 * Aggregate the rows of a segment that have their bits set in all of its groups.  Each workgroup handles "span"
 * chunks.  Each cell has a slot.  Without hashing, the slot's number is the cell's number.  With hashing, uint64
 * [slots] follow the words: the number of the slot's cell plus one, or 0 if the slot is free.
 */
struct AggTask
{
	uint64_t	bits;			/* see PublishTask */
	uint64_t	words;			/* uint64 [measures][slots], after the header */
	uint32_t	first_group;	/* number of workgroups of the tasks before */
	uint32_t	span;			/* chunks of a workgroup */
	uint32_t	chunks;
	uint32_t	groups;
	uint32_t	rows;
	uint32_t	way;			/* AGG_OF_ONE_CELL, ... */
	uint32_t	wide;			/* nonzero if values may be 2^32 - 1 or more, or if the way is always wide */
	uint32_t	slots;
	uint32_t	first_digit;
	uint32_t	digits;
	uint32_t	first_measure;
	uint32_t	measures;
	uint32_t	aggregated[3];	/* a bit for each chunk to aggregate */
	uint32_t	unused;
};

/* Return the entries of an aggregate, which are its slots with rows.  Each workgroup reads COLLECT_BLOCK slots. */
struct CollectTask
{
	uint64_t	words;			/* see AggTask */
	uint64_t	answer;			/* address of the number of entries, followed by the entries */
	uint32_t	first_group;
	uint32_t	slots;
	uint32_t	measures;
	uint32_t	hashed;			/* nonzero if cells were assigned slots by hashing */
	uint32_t	entries;		/* number of entries that there is room for */
	uint32_t	unused;
};

/* Rays of a slab (device/slabs.h), or of a range of a space (device/space.h). */
struct BundleTask
{
	float		origin[3];
	float		stride[3];
	uint32_t	count[3];
	uint32_t	axis;
	float		reach;			/* length of a ray; GLSL reserves the word "length" */
	uint32_t	first_ray;
};

/* Trace the rays of a group of columns in a segment, or of a segment's job.  Layer z of the launch is for task z. */
struct TraceTask
{
	uint64_t	structure;		/* acceleration structure with a box or triangle for each row */
	uint64_t	kept;			/* address of each primitive's row number, or of its record */
	uint64_t	bits;
	uint32_t	first_bundle;
	uint32_t	bundles;
	uint32_t	rays;
	uint32_t	first_column;
	uint32_t	columns;
	uint32_t	rows;
	uint32_t	agg;			/* of a job: index in aggs, or NO_AGG */
	uint32_t	record_words;	/* 32-bit words of a record of a job */
};

/* Each kind of a submission's tasks begins at a multiple of this, which suits the alignment of any structure. */
#define TASK_ALIGNMENT	16

/*
 * Push constants of the shaders that evaluate requests: the positions of a submission's arrays of tasks.  All arrays
 * lie in the memory at "base", at these positions in units of TASK_ALIGNMENT.  Addresses would not fit, since some
 * devices have only 128 bytes of push constants; and if addresses were in memory, each workgroup would have to read
 * them across the bus.
 */
struct Tasks
{
	uint64_t	base;			/* address of the tasks' memory */
	uint32_t	ranges;
	uint32_t	runs;
	uint32_t	columns;
	uint32_t	sieve;
	uint32_t	refine;
	uint32_t	publish;
	uint32_t	bundles;
	uint32_t	traces;			/* position of TraceTasks; for the shaders of jobs, position of the jobs */
	uint32_t	sieve_of;		/* uint32 [workgroups]: the sieve task of each workgroup; *_of are alike */
	uint32_t	refine_of;
	uint32_t	publish_of;
	uint32_t	digits;
	uint32_t	measures;
	uint32_t	aggs;
	uint32_t	agg_of;
	uint32_t	collects;
	uint32_t	collect_of;
	uint32_t	sets;
	uint32_t	members;
	uint32_t	members_of;
};

/* Push constants of the shaders that prepare a BVH: bvh_keys, bvh_ranks, bvh_order, bvh_boxes. */
struct BvhTask
{
	uint64_t	codes;			/* codes of the current column; 0: rank = row */
	uint64_t	keys;
	uint64_t	values;
	uint64_t	ranks;			/* rank of each row, one column after another */
	uint64_t	boxes;
	uint64_t	primitives;
	uint32_t	rows;
	uint32_t	code_bytes;
	uint32_t	column;			/* index in the group: 0, 1 or 2 */
	uint32_t	columns;
	uint32_t	half_width;
	uint32_t	shift;			/* right shift of ranks, which leaves their most significant bits */
};

/* An attribute of rows in a space: device/space.h. */
struct AttributeTask
{
	ElementsTask values;
	uint32_t	axis;
	uint32_t	shift;
	uint32_t	slots;
	uint32_t	stride;
};

/* Push constants of the shaders that prepare the BVH of a space: space_keys, space_triangles. */
struct SpaceTask
{
	uint64_t	attributes;
	uint64_t	keys;
	uint64_t	values;			/* rows in the order of their keys */
	uint64_t	triangles;
	uint64_t	records;
	uint32_t	rows;
	uint32_t	count;			/* number of attributes */
	uint32_t	places;
	uint32_t	record_words;
	uint32_t	scan_bits;		/* bits of coordinates on the axis SCAN */
	float		leg;
};

/* Push constants of the shaders that sort, for one pass: sort_count, sort_scan, sort_scatter. */
struct SortPass
{
	uint64_t	keys;
	uint64_t	values;			/* 0: the value of a key is its index */
	uint64_t	sorted_keys;
	uint64_t	sorted_values;
	/* uint32 [SORT_DIGITS][blocks]: number of a block's keys with a digit; after sort_scan, of all blocks before */
	uint64_t	counts;
	uint64_t	totals;			/* uint32 [SORT_DIGITS]: number of keys with a digit, of all blocks */
	uint32_t	n;
	uint32_t	blocks;
	uint32_t	first_bit;
	uint32_t	digit_mask;
};

/* Push constants of sort_split and sort_join, which convert between pairs and arrays (device/pairs.h). */
struct PairTask
{
	uint64_t	pairs;			/* uint64 key, uint32 value, 4 bytes unused */
	uint64_t	keys;
	uint64_t	values;
	uint32_t	n;
	uint32_t	unused;
};

/* Push constants of the shaders that make sieve vectors: vectors_digits, vectors_bits. */
struct VectorTask
{
	uint64_t	boundaries;		/* uint32 [bins + 1] */
	uint64_t	order;			/* uint32 [rows]: the row of each rank */
	uint64_t	digits;			/* uint32 [words * 32]: the digits of each row's bin, high << 16 | low */
	uint64_t	bits;			/* uint32 [high_vectors + low_vectors][words] */
	uint32_t	rows;
	uint32_t	bins;
	uint32_t	radix;
	uint32_t	high_vectors;
	uint32_t	low_vectors;
	uint32_t	words;			/* number of 32-bit words of a vector */
};

#endif
