/* SPDX-License-Identifier: PostgreSQL */
/*
 * bits.c
 *		Loops over the words of a chunk: bit operations, counts, and tests of codes.
 */
#include "bits/bits.h"

#include "bits/multiversion.h"

#define WORDS	RTSCAN_CHUNK_WORDS

static uint64 zeros[WORDS] __attribute__((aligned(64)));
static uint64 ones[WORDS] __attribute__((aligned(64)));

const uint64 *
rtscan_zeros(void)
{
	return zeros;
}

const uint64 *
rtscan_ones(void)
{
	if (ones[WORDS - 1] == 0)
		memset(ones, 0xFF, sizeof(ones));
	return ones;
}

RTSCAN_MULTIVERSION void
rtscan_or(uint64 *bits, const uint64 *a)
{
	uint64	   *restrict to = bits;
	const uint64 *restrict from = a;

	for (int i = 0; i < WORDS; i++)
		to[i] |= from[i];
}

RTSCAN_MULTIVERSION void
rtscan_and_not(uint64 *bits, const uint64 *a)
{
	uint64	   *restrict to = bits;
	const uint64 *restrict from = a;

	for (int i = 0; i < WORDS; i++)
		to[i] &= ~from[i];
}

/*
 * The loops below read several pages at once, which are far from each other in memory.  The hardware's prefetcher
 * stops at the end of a 4 kB page, so that a loop would wait for memory at the beginning of each page.  The loops
 * therefore prefetch cache lines themselves, LINES_AHEAD lines ahead.
 */
#define LINE_WORDS		8
#define LINES			(WORDS / LINE_WORDS)
#define LINES_AHEAD		24

#define PREFETCH(words, line) \
	__builtin_prefetch((words) + ((line) + LINES_AHEAD) * LINE_WORDS)

RTSCAN_MULTIVERSION void
rtscan_and(uint64 *bits, const uint64 *a)
{
	uint64	   *restrict to = bits;
	const uint64 *restrict from = a;

	for (int line = 0; line < LINES; line++)
	{
		PREFETCH(from, line);
		for (int i = line * LINE_WORDS; i < (line + 1) * LINE_WORDS; i++)
			to[i] &= from[i];
	}
}

RTSCAN_MULTIVERSION void
rtscan_and_below(uint64 *bits, const RtscanVectorPages *end)
{
	uint64	   *restrict to = bits;
	const uint64 *restrict h = end->high;
	const uint64 *restrict n = end->next;
	const uint64 *restrict l = end->low;

	for (int line = 0; line < LINES; line++)
	{
		PREFETCH(h, line);
		PREFETCH(n, line);
		PREFETCH(l, line);
		for (int i = line * LINE_WORDS; i < (line + 1) * LINE_WORDS; i++)
			to[i] &= h[i] | (n[i] & l[i]);
	}
}

RTSCAN_MULTIVERSION void
rtscan_and_between(uint64 *bits, const RtscanVectorPages *first, const RtscanVectorPages *end)
{
	uint64	   *restrict to = bits;
	const uint64 *restrict h = end->high;
	const uint64 *restrict n = end->next;
	const uint64 *restrict l = end->low;
	const uint64 *restrict fh = first->high;
	const uint64 *restrict fn = first->next;
	const uint64 *restrict fl = first->low;

	for (int line = 0; line < LINES; line++)
	{
		PREFETCH(h, line);
		PREFETCH(n, line);
		PREFETCH(l, line);
		PREFETCH(fh, line);
		PREFETCH(fn, line);
		PREFETCH(fl, line);
		for (int i = line * LINE_WORDS; i < (line + 1) * LINE_WORDS; i++)
			to[i] &= (h[i] | (n[i] & l[i])) & ~(fh[i] | (fn[i] & fl[i]));
	}
}

RTSCAN_MULTIVERSION uint64
rtscan_popcount(const uint64 *bits)
{
	uint64		counts[4] = {0};

	StaticAssertStmt(WORDS % lengthof(counts) == 0, "a chunk is as many words for each");
	/* Four counters, so that no addition has to wait for the result of the one before. */
	for (int i = 0; i < WORDS; i += lengthof(counts))
		for (int k = 0; k < (int) lengthof(counts); k++)
			counts[k] += __builtin_popcountll(bits[i + k]);
	return counts[0] + counts[1] + counts[2] + counts[3];
}

/* Read the codes of the last, incomplete word from a copy: the memory behind the last code may not be readable. */
#define DEFINE_AND_CODES(name, type) \
RTSCAN_MULTIVERSION void \
name(uint64 *bits, const type *codes, uint32 n, uint32 low, uint32 high) \
{ \
	type		first = (type) low; \
	type		width = (type) (high - 1 - low); \
	type		last[64] = {0}; \
	uint8		matches[64]; \
	\
	for (uint32 w = 0; w * 64 < n; w++, codes += 64) \
	{ \
		if (w * 64 + 64 > n) \
			codes = memcpy(last, codes, (n - w * 64) * sizeof(type)); \
		for (int i = 0; i < 64; i++) \
			matches[i] = (type) (codes[i] - first) <= width; \
		bits[w] &= rtscan_pack64(matches); \
	} \
}

DEFINE_AND_CODES(rtscan_and_codes8, uint8)
DEFINE_AND_CODES(rtscan_and_codes16, uint16)
