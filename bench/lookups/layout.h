/* SPDX-License-Identifier: PostgreSQL */
/*
 * layout.h
 *		Parameters of the benchmark's shaders, declared for both C and GLSL, as in shaders/layout.h.
 *
 * A structure looks up entries.  An entry is a row or a distinct key.  Its rows are
 *
 *	entry									if rows = 0: entries are rows, in the rows' order
 *	rows[entry]								if firsts = 0: no key has two rows
 *	rows[firsts[entry] .. firsts[entry + 1] - 1]	otherwise: duplicates are compressed
 *
 * Keys have 32 or 64 bits in memory, according to a constant of the shaders.
 */
#ifndef RTSCAN_LOOKUPS_LAYOUT_H
#define RTSCAN_LOOKUPS_LAYOUT_H

#define LOOKUP_GROUP		256 /* threads of a workgroup */
#define TOP_KEYS			1024	/* keys of a sorted array that a workgroup has in shared memory */
#define TOP_LOOKUPS			16	/* lookups of a thread with these keys, at most */
#define TOP_GROUPS			1024	/* a thread has several lookups only if there are at least that many workgroups */

/* No entry: an empty slot. */
#define NONE				0xFFFFFFFFu

/* Bits of a key's coordinates in space: its lowest bits are x, the next ones y, and those above z. */
#define X_BITS				22
#define Y_BITS				21
#define Z_BITS				21

/* Greatest length of a range's ray; the position of a hit is rounded by less than half a key up to there. */
#define LONGEST_RAY			(1u << 20)

/* Half of the size of primitives around a key's place; a quarter is exact for all X_BITS. */
#define REACH				0.25

/* Primitives of a bucket, at most: its last key, and the marks of its row and plane. */
#define BUCKET_PRIMITIVES	3

/* Push constants of the shaders that look up. */
struct LookupTask
{
	uint64_t	keys;			/* keys of entries */
	uint64_t	firsts;
	uint64_t	rows;
	uint64_t	structure;		/* acceleration structure, slots, or keys of the top */
	uint64_t	marks;			/* uint32 number of buckets' marks, then the bucket of each */
	uint64_t	lows;			/* uint64 [lookups]: keys low .. low + width are looked up */
	uint64_t	counts;			/* uint32 [lookups]: number of rows found */
	uint64_t	sums;			/* uint64 [lookups]: sum of their row numbers */
	uint64_t	width;
	uint32_t	entries;
	uint32_t	lookups;
	uint32_t	slots;			/* slots of a hash table, entries of a bucket, or lookups of a thread of search_top */
	uint32_t	x_bits;
	uint32_t	y_bits;
	uint32_t	unused;
};

/* Push constants of the shaders that build. */
struct BuildTask
{
	uint64_t	keys;			/* keys of entries or rows */
	uint64_t	sorted;			/* uint64 [rows] */
	uint64_t	heads;			/* uint32 [blocks]: entries that begin in a block of rows, later in the blocks before */
	uint64_t	firsts;
	uint64_t	marks;			/* the same as in LookupTask; initially no marks */
	uint64_t	result;
	uint32_t	rows;
	uint32_t	entries;
	uint32_t	slots;			/* slots of a hash table, or entries of a bucket */
	uint32_t	x_bits;
	uint32_t	y_bits;
	uint32_t	unused;
};

#endif
