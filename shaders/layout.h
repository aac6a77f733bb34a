/*
 * layout.h
 *		What shaders are told, in the same words for C and GLSL.
 *
 * All structures lie in device memory by the scalar layout, which is C's here.  Addresses
 * are buffer device addresses.  The tasks of a submission lie one kind after another; a
 * workgroup or ray finds the one it belongs to by binary search over first_*, the sum of
 * what the tasks before it have.
 */
#ifndef RTSCAN_LAYOUT_H
#define RTSCAN_LAYOUT_H

#define CHUNK_ROWS			64512
#define CHUNK_WORDS32		2016	/* 32-bit words of a chunk's bits */
#define PAGE_ZEROS			0xFFFFFFFFu
#define PAGE_ONES			0xFFFFFFFEu

#define REFINE_GROUP		256		/* threads of a workgroup, */
#define REFINE_BLOCK		1024	/* and the ranks it looks at */

/* Ranks, bins, codes or rows first .. end - 1. */
struct RangeTask
{
	uint32_t	first;
	uint32_t	end;
};

/* A column of a predicate group in one segment. */
struct ColumnTask
{
	uint64_t	pages;			/* numbers of the vectors' pages; 0: in heap order, rank = row */
	uint64_t	sieve;			/* pages of bits */
	uint64_t	codes;
	uint32_t	code_bytes;
	uint32_t	bins;
	uint32_t	radix;
	uint32_t	first_run;		/* in ranges: runs of bins; in heap order, of rows */
	uint32_t	runs;
	uint32_t	first_interval; /* in ranges: the exact codes; in heap order, rows */
	uint32_t	intervals;
	uint32_t	unused;
};

/* AND the runs of a group's columns into bits; a workgroup a chunk. */
struct SieveTask
{
	uint64_t	bits;
	uint32_t	first_chunk;
	uint32_t	chunks;
	uint32_t	rows;
	uint32_t	first_column;
	uint32_t	columns;
	uint32_t	unused;
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

/* AND the bits of a segment's groups, count them, hand them over; a workgroup a chunk. */
struct PublishTask
{
	uint64_t	bits;			/* of the first group; the others' follow */
	uint64_t	counts;
	uint64_t	words;			/* 0: only count */
	uint32_t	first_chunk;
	uint32_t	chunks;
	uint32_t	groups;
	uint32_t	unused;
};

/* Push constants of all shaders: where a submission's tasks are, and how many. */
struct Tasks
{
	uint64_t	ranges;
	uint64_t	columns;
	uint64_t	sieve;
	uint64_t	refine;
	uint64_t	publish;
	uint64_t	bundles;
	uint64_t	traces;
	uint32_t	sieve_count;
	uint32_t	refine_count;
	uint32_t	publish_count;
	uint32_t	bundle_count;
};

#endif
