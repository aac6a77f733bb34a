/*
 * layout.h
 *		What shaders are told, in the same words for C and GLSL.
 *
 * All structures lie in device memory by the scalar layout, which is C's here, as none of them has padding: device/tasks.h
 * says how large each is.  Addresses are buffer device addresses.  The tasks of a submission lie one kind after another, and
 * for each kind there is the number of the task that a workgroup belongs to; first_* is the
 * sum of what the tasks before it have.
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
#define SPACE_WORDS			8		/* of a record, at most */

#define REFINE_GROUP		256		/* threads of a workgroup, */
#define REFINE_BLOCK		1024	/* and the ranks it looks at */

#define MEMBERS_GROUP		256		/* threads of a workgroup */
#define MEMBERS_SETS		32		/* that a segment's rows are tested for, at most */

#define TALLY_GROUP			512		/* threads of a workgroup, */
#define TALLY_LARGE_GROUP	1024	/* and of one with large tables */
#define TALLY_DIGITS		8
#define TALLY_MEASURES		33		/* of the backend's, and rows */
#define TALLY_COPIES		32		/* of a table */
#define TALLY_LISTED		4032	/* rows of a chunk that are listed, at most; */
#define TALLY_LARGE_LISTED	2016	/* and beside large tables */

#define NO_TALLY			0xFFFFFFFFu

/* The axes of a space: enum SpaceAxis of device/space.h. */
#define AXIS_GROUP			0
#define AXIS_PLACE			1
#define AXIS_SCAN			2

/* The ways of a tally. */
#define TALLY_OF_ONE_CELL	0
#define TALLY_BY_TABLES		1
#define TALLY_BY_WORDS		2
#define TALLY_BY_HASH		3		/* cells take the slots that they find */
#define TALLY_BY_LARGE_TABLES	4	/* which leave room for few workgroups: these are larger, too */
#define TALLY_WAYS			5

/* Before a tally's words: how many of its slots have rows, and how many workgroups have counted theirs. */
#define TALLY_HEADER		2
#define TALLY_LOST			0x100000000ul	/* so many, at least, if there were slots for too few */
#define TALLY_PROBES		64		/* slots that a cell may be in */

#define COLLECT_GROUP		256		/* threads of a workgroup, */
#define COLLECT_BLOCK		4096	/* and the slots it looks at */

/* What is measured: enum TallyKind of device/protocol.h; and how many rows there are. */
#define MEASURE_COUNT		0
#define MEASURE_SUM_LOWER	1
#define MEASURE_SUM_UPPER	2
#define MEASURE_GREATEST	3
#define MEASURE_LEAST		4
#define MEASURE_ROWS		5

#define SORT_GROUP			256		/* threads of a workgroup, */
#define SORT_KEYS			12		/* keys of a thread, */
#define SORT_BLOCK			(SORT_GROUP * SORT_KEYS)	/* and of a workgroup */
#define SORT_DIGIT_BITS		8
#define SORT_DIGITS			256		/* a thread each */

/* Ranks or codes first .. end - 1. */
struct RangeTask
{
	uint32_t	first;
	uint32_t	end;
};

/* A run of bins of a column: the rows whose ranks are in them. */
struct RunTask
{
	uint64_t	pages;			/* numbers of the vectors' pages; 0: in heap order, rank = row */
	uint64_t	sieve;			/* pages of bits */
	uint32_t	bins;
	uint32_t	radix;
	uint32_t	first;			/* bins; in heap order, rows */
	uint32_t	end;
	uint32_t	last;			/* of its column: what the column's runs have is ANDed */
	uint32_t	unused;
};

/* AND the runs of a region's columns into bits; a workgroup a chunk. */
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

/* A column that rays look up: of a group of the executor rt, or of a job. */
struct ColumnTask
{
	uint64_t	codes;			/* 0: in heap order, the row is its own code */
	uint32_t	code_bytes;
	uint32_t	first_interval; /* in ranges: the codes that are in the exact answer */
	uint32_t	intervals;
	uint32_t	field;			/* of a job: as ElementsTask's */
};

/* Clear the bits of the rows of some ranks; a workgroup REFINE_BLOCK ranks. */
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
 * AND the bits of a segment's groups, or of alternatives among them, count them, hand them over; a workgroup a chunk.  Where there are
 * alternatives, or masks, the first group's bits become those of all, but for rows that are handed over.
 */
struct PublishTask
{
	uint64_t	bits;			/* of the first group; the others' follow */
	uint64_t	counts;			/* uint32 [chunks][2]: struct ChunkCount of device/protocol.h */
	uint64_t	words;			/* 0: only count */
	uint32_t	first_chunk;
	uint32_t	chunks;
	uint32_t	groups;
	uint32_t	tallied[3];		/* a bit for each chunk that is only counted, for it is in the tally; */
	uint32_t	partly[3];		/* of these, rows are handed over that a mask has, which lies in the words */
	uint32_t	alternatives;	/* a bit for each group that is one to the group before */
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
 * A column's elements; or codes.  A job may have them in a row's record (device/space.h): their field is first_bit << 8 | bits
 * there, or 0.
 */
struct ElementsTask
{
	uint64_t	frames;			/* FrameTask [chunks]; 0: codes, without frames */
	uint64_t	elements;
	uint64_t	shift;			/* of values */
	uint32_t	code_bits;		/* 0: the row is its own code */
	uint32_t	field;
};

/* A set of integers, from 0 up to reach: values are shifted to be from its first one. */
struct SetTask
{
	ElementsTask values;
	uint64_t	words;			/* uint32: a bit for each, or a table (device/table.h); 0: all are in it */
	uint64_t	reach;
	uint32_t	null;			/* so is NULL */
	uint32_t	slot_bits;		/* of a table, or 0; */
	uint32_t	lacks;			/* that is of integers that are not in the set */
	uint32_t	unused;
};

/* Clear the bits of a segment's rows that are not in all of some sets; a workgroup a chunk. */
struct MembersTask
{
	uint64_t	bits;
	uint32_t	first_chunk;
	uint32_t	first_set;
	uint32_t	sets;
	uint32_t	unused;
};

/* A digit of the number of a tally's cell. */
struct DigitTask
{
	ElementsTask values;
	uint64_t	stride;
	uint64_t	map;			/* the number of each integer up to reach, to which values are shifted; or 0 */
	uint64_t	reach;
	uint32_t	map_bits;		/* of a number there: 8, 16 or 32; or 64: of steps, the last of which is that of reach */
	uint32_t	slot_bits;		/* the map is a table (device/table.h); or 0 */
	uint32_t	null;
	uint32_t	dropped;		/* bits, without a map */
	uint32_t	wide;			/* what they are dropped of has more than 32 */
	uint32_t	unused;
};

/* A measure of a tally.  In a table it has as many parts, of 32 bits a cell; or 0: it is not made in one. */
struct MeasureTask
{
	ElementsTask values;
	uint32_t	kind;
	uint32_t	parts;
};

/*
 * Tally the rows of a segment, those that all its groups' bits have; a workgroup some chunks.  Each cell has a slot, which has its number;
 * or, by hash, finds one: then behind the words there are uint64 [slots] with the cells' numbers plus one, or 0.
 */
struct TallyTask
{
	uint64_t	bits;			/* as PublishTask's */
	uint64_t	words;			/* uint64 [measures][slots], behind a header */
	uint32_t	first_group;	/* of workgroups, */
	uint32_t	span;			/* and chunks of each */
	uint32_t	chunks;
	uint32_t	groups;
	uint32_t	rows;
	uint32_t	way;
	uint32_t	wide;			/* some values have more than 32 bits, or all that these can be */
	uint32_t	slots;
	uint32_t	first_digit;
	uint32_t	digits;
	uint32_t	first_measure;
	uint32_t	measures;
	uint32_t	tallied[3];		/* a bit for each chunk that is to be */
	uint32_t	unused;
};

/* Hand over the entries of a tally: slots that have rows; a workgroup COLLECT_BLOCK slots. */
struct CollectTask
{
	uint64_t	words;			/* as TallyTask's */
	uint64_t	answer;			/* how many, and then they */
	uint32_t	first_group;
	uint32_t	slots;
	uint32_t	measures;
	uint32_t	hashed;
	uint32_t	entries;		/* that there is room for */
	uint32_t	unused;
};

/* Rays of a slab (device/slabs.h), or of a range of a space (device/space.h). */
struct BundleTask
{
	float		origin[3];
	float		step[3];
	uint32_t	count[3];
	uint32_t	axis;
	float		reach;			/* not "length", which GLSL reserves */
	uint32_t	first_ray;
};

/* Trace the rays of a group in a segment, or a segment's job; layer z of the launch. */
struct TraceTask
{
	uint64_t	structure;		/* acceleration structure: a box or triangle a row, */
	uint64_t	kept;			/* and the row of each, or its record */
	uint64_t	bits;
	uint32_t	first_bundle;
	uint32_t	bundles;
	uint32_t	rays;
	uint32_t	first_column;
	uint32_t	columns;
	uint32_t	rows;
	uint32_t	tally;			/* of a job, in tallies; or NO_TALLY */
	uint32_t	record_words;	/* of a job */
};

/* Each kind of a submission's tasks begins at a multiple of this, where any structure may. */
#define TASK_ALIGNMENT	16

/*
 * Push constants of the shaders that evaluate: where a submission's tasks are.  All kinds lie in one piece of memory, and each has its place in
 * there, in units of TASK_ALIGNMENT: a device may have no more than 128 bytes of push constants, and addresses that shaders had to read from
 * memory would cost each workgroup a read across the bus.
 */
struct Tasks
{
	uint64_t	base;			/* address of the memory */
	uint32_t	ranges;
	uint32_t	runs;
	uint32_t	columns;
	uint32_t	sieve;
	uint32_t	refine;
	uint32_t	publish;
	uint32_t	bundles;
	uint32_t	traces;			/* or jobs, for the shaders that trace their rays */
	uint32_t	sieve_of;		/* uint32 [workgroups]: the task of each, */
	uint32_t	refine_of;
	uint32_t	publish_of;
	uint32_t	digits;
	uint32_t	measures;
	uint32_t	tallies;
	uint32_t	tally_of;
	uint32_t	collects;
	uint32_t	collect_of;
	uint32_t	sets;
	uint32_t	members;
	uint32_t	members_of;
};

/* Push constants of the shaders that prepare a BVH: bvh_keys, bvh_ranks, bvh_order, bvh_boxes. */
struct BvhTask
{
	uint64_t	codes;			/* of the column at hand; 0: rank = row */
	uint64_t	keys;
	uint64_t	values;
	uint64_t	ranks;			/* rank of each row, in one column after another */
	uint64_t	boxes;
	uint64_t	primitives;
	uint32_t	rows;
	uint32_t	code_bytes;
	uint32_t	column;			/* of the group: 0, 1 or 2 */
	uint32_t	columns;
	uint32_t	half_width;
	uint32_t	shift;			/* leaves the ranks' most significant bits */
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
	uint32_t	count;			/* of attributes */
	uint32_t	places;
	uint32_t	record_words;
	uint32_t	scan_bits;		/* that SCAN's coordinates have */
	float		leg;
};

/* Push constants of the shaders that sort, for one pass: sort_count, sort_scan, sort_scatter. */
struct SortPass
{
	uint64_t	keys;
	uint64_t	values;			/* 0: a key's is its number */
	uint64_t	sorted_keys;
	uint64_t	sorted_values;
	uint64_t	counts;			/* [SORT_DIGITS][blocks]: a block's keys of a digit, then how many
								 * of the digit are in the blocks before */
	uint64_t	totals;			/* [SORT_DIGITS]: all blocks' keys of a digit */
	uint32_t	n;
	uint32_t	blocks;
	uint32_t	first_bit;
	uint32_t	digit_mask;
};

/* Push constants of sort_split and sort_join: between pairs and arrays (device/pairs.h). */
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
	uint64_t	digits;			/* uint32 [words * 32]: high << 16 | low of each row's bin */
	uint64_t	bits;			/* uint32 [high_vectors + low_vectors][words] */
	uint32_t	rows;
	uint32_t	bins;
	uint32_t	radix;
	uint32_t	high_vectors;
	uint32_t	low_vectors;
	uint32_t	words;			/* of a vector */
};

#endif
