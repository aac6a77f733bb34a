/* SPDX-License-Identifier: PostgreSQL */
/*
 * sort_test.c
 *		Test sorts on a device against the host's qsort(), by the same bits and then by the original position,
 *		since the sort is stable.
 *
 *	sort_test [device] [--time]
 *
 * A case's arrays and scratch memory lie one after another with gaps between, in memory that
 * is filled with one byte, so that writes to wrong places are detected.
 */
#include "../sort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../protocol.h"
#include "../tasks.h"
#include "device_test.h"

#define MAX_PAIRS		(1 << 20)
#define TIMED_PAIRS		(1 << 22)
#define TIMED_RUNS		5

/* Sizes in bytes.  A gap begins right after the last byte of an array. */
#define GAP				64
#define ALIGNMENT		64
#define FILLER			0xA5

typedef enum Keys
{
	KEYS_RANDOM,
	KEYS_FEW,
	KEYS_EQUAL,
	KEYS_ASCENDING,
	KEYS_DESCENDING,
	KEYS_HIGH_BYTE,
	KEYS_LOW_BYTE,
	KEYS_KINDS
} Keys;

typedef struct Case
{
	uint32_t	n;
	Keys		kind;
	uint32_t	first_bit;
	uint32_t	bits;
	bool		generate;
} Case;

/* Offsets of a case's arrays, in bytes from the beginning of the memory. */
typedef struct Layout
{
	uint64_t	keys[2];
	uint64_t	values[2];
	uint64_t	scratch;
	uint64_t	size;
} Layout;

typedef struct Pair
{
	uint64_t	key;
	uint64_t	sorted_by;
	uint32_t	value;
	uint32_t	number;
} Pair;

static const char *const kind_names[KEYS_KINDS] = {
	"random", "few", "equal", "ascending", "descending", "high byte", "low byte"};

static Context context;
static Sorter sorter;
static Memory on_host;
static Memory on_device;
static unsigned long ncases = 0;

static void
wrong(const Case *test, const char *what, uint32_t place)
{
	printf("%u pairs, %s keys, bits %u + %u%s: %s %u\n", test->n, kind_names[test->kind],
		   test->first_bit, test->bits, test->generate ? ", values generated" : "", what, place);
	exit(1);
}

/* ---------------------------------------------------------------- memory */

/* Add an array of "size" bytes and a gap to the layout.  Returns the array's offset. */
static uint64_t
place(Layout *layout, uint64_t size)
{
	uint64_t	offset = layout->size;

	layout->size = device_align(offset + size + GAP, ALIGNMENT);
	return offset;
}

static Layout
make_layout(uint32_t n)
{
	Layout		layout = {0};

	for (int i = 0; i < 2; i++)
	{
		layout.keys[i] = place(&layout, n * sizeof(uint64_t));
		layout.values[i] = place(&layout, n * sizeof(uint32_t));
	}
	layout.scratch = place(&layout, sort_scratch_size(n));
	return layout;
}

static SortArrays
locate(const Layout *layout)
{
	SortArrays	arrays = {.scratch = on_device.address + layout->scratch};

	for (int i = 0; i < 2; i++)
	{
		arrays.keys[i] = on_device.address + layout->keys[i];
		arrays.values[i] = on_device.address + layout->values[i];
	}
	return arrays;
}

static void
allocate(uint32_t n)
{
	Layout		layout = make_layout(n);

	memory_free(&context, &on_host);
	memory_free(&context, &on_device);
	if (!memory_on_host(&context, HOST_READS_AND_WRITES, layout.size, 0, &on_host) ||
		!memory_on_device(&context, MEMORY_SCRATCH, layout.size, 0, &on_device))
		fail("there is no memory for %u pairs", n);
}

static void
copy(VkBuffer from, VkBuffer to, uint64_t size)
{
	vkCmdCopyBuffer(context.commands, from, to, 1, &(VkBufferCopy) {.size = size});
	context_barrier(&context);
}

/* ---------------------------------------------------------------- keys */

static uint64_t
make_key(const Case *test, uint32_t i)
{
	const uint64_t step = UINT64_MAX / test->n;
	const uint64_t some = UINT64_C(0x123456789ABCDEF0);

	switch (test->kind)
	{
		case KEYS_FEW:
			return random64() % 5 * UINT64_C(0x3141592653589793);
		case KEYS_EQUAL:
			return some;
		case KEYS_ASCENDING:
			return i * step;
		case KEYS_DESCENDING:
			return UINT64_MAX - i * step;
		case KEYS_HIGH_BYTE:
			return some ^ random64() << 56;
		case KEYS_LOW_BYTE:
			return some ^ random64() >> 56;
		default:
			return random64();
	}
}

/* Make random pairs.  Values are unrelated to positions, so that a sort that mixes them up is detected. */
static void
make_pairs(const Case *test, const Layout *layout, Pair *pairs)
{
	uint64_t   *keys = (uint64_t *) (on_host.host + layout->keys[0]);
	uint32_t   *values = (uint32_t *) (on_host.host + layout->values[0]);

	memset(on_host.host, FILLER, layout->size);
	for (uint32_t i = 0; i < test->n; i++)
	{
		uint64_t	above = test->bits < 64 ? ~UINT64_C(0) << test->bits : 0;

		keys[i] = make_key(test, i);
		values[i] = (uint32_t) random64();
		pairs[i] = (Pair) {keys[i], keys[i] >> test->first_bit & ~above, test->generate ? i : values[i], i};
	}
}

static int
compare(const void *a, const void *b)
{
	const Pair *left = a;
	const Pair *right = b;

	if (left->sorted_by != right->sorted_by)
		return left->sorted_by < right->sorted_by ? -1 : 1;
	return left->number < right->number ? -1 : 1;
}

/* ---------------------------------------------------------------- checks */

/*
 * Copy the host's memory to the device, sort on the device, and copy the memory back.  Returns which arrays have the
 * result.
 */
static uint32_t
sort_there(const Case *test, const Layout *layout)
{
	SortArrays	arrays = locate(layout);
	uint32_t	result;

	context_begin(&context);
	copy(on_host.buffer, on_device.buffer, layout->size);
	result = sort_record(&sorter, &arrays, test->n, test->first_bit, test->bits, test->generate);
	copy(on_device.buffer, on_host.buffer, layout->size);
	context_submit(&context);
	return result;
}

static void
check_gap(const Case *test, uint64_t end, const char *what)
{
	for (uint32_t i = 0; i < GAP; i++)
		if ((unsigned char) on_host.host[end + i] != FILLER)
			wrong(test, what, i);
}

static void
check_gaps(const Case *test, const Layout *layout)
{
	for (int i = 0; i < 2; i++)
	{
		check_gap(test, layout->keys[i] + test->n * sizeof(uint64_t), "written behind keys, byte");
		check_gap(test, layout->values[i] + test->n * sizeof(uint32_t), "written behind values, byte");
	}
	check_gap(test, layout->scratch + sort_scratch_size(test->n), "written behind scratch memory, byte");
}

static void
check_case(Case test)
{
	Layout		layout = make_layout(test.n);
	Pair	   *pairs = malloc(test.n * sizeof(Pair));
	uint32_t	result;
	const uint64_t *keys;
	const uint32_t *values;

	make_pairs(&test, &layout, pairs);
	result = sort_there(&test, &layout);
	keys = (const uint64_t *) (on_host.host + layout.keys[result]);
	values = (const uint32_t *) (on_host.host + layout.values[result]);
	qsort(pairs, test.n, sizeof(Pair), compare);
	for (uint32_t i = 0; i < test.n; i++)
	{
		if (keys[i] != pairs[i].key)
			wrong(&test, "wrong key at", i);
		if (values[i] != pairs[i].value)
			wrong(&test, "wrong value at", i);
	}
	check_gaps(&test, &layout);
	free(pairs);
	ncases++;
}

/* ---------------------------------------------------------------- cases */

typedef struct BitRange
{
	uint32_t	first_bit;
	uint32_t	bits;
} BitRange;

static const BitRange ranges[] = {
	{0, 64}, {0, 8}, {0, 24}, {40, 24}, {5, 13}, {17, 47}, {3, 1}, {63, 1}, {24, 40}, {11, 0}
};

#define RANGES	(sizeof(ranges) / sizeof(ranges[0]))

/* Check n pairs with all combinations of a kind of keys, a range of bits, and given or generated values. */
static void
check_small(uint32_t n)
{
	for (Keys kind = 0; kind < KEYS_KINDS; kind++)
		for (uint32_t range = 0; range < RANGES; range++)
			for (int generate = 0; generate < 2; generate++)
				check_case((Case) {n, kind, ranges[range].first_bit, ranges[range].bits, generate});
}

/* Check all bits of each kind of keys, and each range of bits with one kind of keys. */
static void
check_large(uint32_t n)
{
	for (Keys kind = 0; kind < KEYS_KINDS; kind++)
		check_case((Case) {n, kind, 0, 64, kind % 2});
	for (uint32_t range = 1; range < RANGES; range++)
		check_case((Case) {n, range % KEYS_KINDS, ranges[range].first_bit, ranges[range].bits,
				   range % 2 == 0});
}

static void
check_all(void)
{
	static const uint32_t small[] = {1, 2, 31, 32, 33, 255, 256, 257, SORT_BLOCK - 1, SORT_BLOCK, SORT_BLOCK + 1};
	static const uint32_t large[] = {2 * SORT_BLOCK - 1, 2 * SORT_BLOCK, 2 * SORT_BLOCK + 1, 64512, 100003};

	allocate(MAX_PAIRS);
	for (uint32_t i = 0; i < sizeof(small) / sizeof(small[0]); i++)
		check_small(small[i]);
	for (uint32_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
		check_large(large[i]);
	/* More blocks than sort_scan has threads, so that a thread has several. */
	check_large(MAX_PAIRS);
	printf("ok %lu cases\n", ncases);
}

/* ---------------------------------------------------------------- times */

/* Return the best of several runs, each on the original pairs. */
static uint64_t
time_sort(const Case *test, const Layout *layout)
{
	SortArrays	arrays = locate(layout);
	uint64_t	best = UINT64_MAX;

	for (int run = 0; run < TIMED_RUNS; run++)
	{
		uint64_t	nanoseconds;

		context_begin(&context);
		copy(on_host.buffer, on_device.buffer, layout->size);
		context_submit(&context);
		context_begin(&context);
		sort_record(&sorter, &arrays, test->n, test->first_bit, test->bits, test->generate);
		nanoseconds = context_submit(&context);
		if (nanoseconds < best)
			best = nanoseconds;
	}
	return best;
}

static void
time_all(void)
{
	static const Keys kinds[] = {KEYS_RANDOM, KEYS_FEW, KEYS_EQUAL};
	static const uint32_t bits[] = {24, 40, 64};
	Layout		layout = make_layout(TIMED_PAIRS);
	Pair	   *pairs = malloc(TIMED_PAIRS * sizeof(Pair));

	allocate(TIMED_PAIRS);
	for (int k = 0; k < 3; k++)
		for (int b = 0; b < 3; b++)
		{
			Case		test = {TIMED_PAIRS, kinds[k], 0, bits[b], true};

			make_pairs(&test, &layout, pairs);
			printf("%u pairs, %s keys, %u bits: %lu ns\n", test.n, kind_names[test.kind], test.bits,
				   (unsigned long) time_sort(&test, &layout));
		}
	free(pairs);
}

int
main(int argc, char **argv)
{
	bool		timed = open_test_device(argc, argv, &context);

	sort_open(&sorter, &context);
	check_all();
	if (timed)
		time_all();
	return 0;
}
