/*
 * layout.h
 *		What the benchmark's shaders are told, in the same words for C and GLSL; as shaders/layout.h.
 *
 * A structure looks up entries: a row each, or a distinct key each.  An entry's rows are
 *
 *	entry									rows = 0: entries are rows, in the rows' order
 *	rows[entry]								firsts = 0: no key has two rows
 *	rows[firsts[entry] .. firsts[entry + 1] - 1]	duplicates are compressed
 *
 * Keys have 32 or 64 bits in memory, which is a shader's constant.
 */
#ifndef RTSCAN_LOOKUPS_LAYOUT_H
#define RTSCAN_LOOKUPS_LAYOUT_H

#define LOOKUP_GROUP		256		/* threads of a workgroup */
#define TOP_KEYS			1024	/* of a sorted array, in shared memory, */
#define TOP_LOOKUPS			16		/* by which up to so many lookups a thread are answered, */
#define TOP_GROUPS			1024	/* as far as there are so many workgroups */

/* No entry: an empty slot. */
#define NONE				0xFFFFFFFFu

/* Where a key is, in three coordinates: its lowest bits are x, those above y, and those above z. */
#define X_BITS				22
#define Y_BITS				21
#define Z_BITS				21

/* The ray of a range is no longer than this, lest the place of a hit be rounded by as much as half a key. */
#define LONGEST_RAY			(1u << 20)

/* Around a key's place; a quarter is exact wherever X_BITS reach. */
#define REACH				0.25

/* Primitives of a bucket at most: its last key, and the marks of its row and plane. */
#define BUCKET_PRIMITIVES	3

/* Push constants of the shaders that look up. */
struct LookupTask
{
	uint64_t	keys;			/* of entries */
	uint64_t	firsts;
	uint64_t	rows;
	uint64_t	structure;		/* acceleration structure; slots; keys of the top */
	uint64_t	marks;			/* of buckets: uint32 how many, then the bucket of each */
	uint64_t	lows;			/* uint64 [lookups]: keys low .. low + width are looked up */
	uint64_t	counts;			/* uint32 [lookups]: the answers: how many rows, */
	uint64_t	sums;			/* uint64 [lookups]: and the sum of their numbers */
	uint64_t	width;
	uint32_t	entries;
	uint32_t	lookups;
	uint32_t	slots;			/* of a hash; entries of a bucket; lookups a thread of search_top */
	uint32_t	x_bits;
	uint32_t	y_bits;
	uint32_t	unused;
};

/* Push constants of the shaders that build. */
struct BuildTask
{
	uint64_t	keys;			/* of entries, or of rows */
	uint64_t	sorted;			/* uint64 [rows] */
	uint64_t	heads;			/* uint32 [blocks]: entries that begin in a block of rows, then in the blocks before */
	uint64_t	firsts;
	uint64_t	marks;			/* as above; at first none */
	uint64_t	result;
	uint32_t	rows;
	uint32_t	entries;
	uint32_t	slots;			/* of a hash; entries of a bucket */
	uint32_t	x_bits;
	uint32_t	y_bits;
	uint32_t	unused;
};

#endif
