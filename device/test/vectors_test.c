/* SPDX-License-Identifier: PostgreSQL */
/*
 * vectors_test.c
 *		Test sieve vectors made on a device against the definition in src/segment/sieve.h, for each row and vector.
 *
 *	vectors_test [device] [--time]
 *
 * Order and vectors lie in memory that is filled with one byte, so that writes to wrong places are detected.
 */
#include "../vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../protocol.h"
#include "device_test.h"

#define MAX_ROWS		(DEVICE_SEGMENT_CHUNKS * DEVICE_CHUNK_ROWS)
#define TIMED_RUNS		5

#define ALIGNMENT		64
#define FILLER			0xA5
#define NO_BIN			UINT32_MAX

/* Bytes of the host's memory that is used as a backend's area. */
#define AREA_SIZE		(UINT64_C(160) << 20)

typedef enum Order
{
	ORDER_RANDOM,
	ORDER_ROWS,
	ORDER_REVERSED,
	ORDERS
} Order;

static const char *const order_names[ORDERS] = {"random", "rows", "reversed"};

typedef struct Case
{
	ColumnShape shape;
	Order		order;
} Case;

static Context context;
static Cache cache;
static VectorMaker maker;
static Memory area;
static uint32_t boundaries[DEVICE_MAX_BINS + 1];
static uint32_t bins[MAX_ROWS]; /* bin of each row */
static unsigned long ncases = 0;

static void
wrong(const Case *test, const char *what, uint64_t place)
{
	printf("%u rows, %u bins, radix %u, %s order: %s %lu\n", test->shape.rows, test->shape.bins,
		   test->shape.radix, order_names[test->order], what, (unsigned long) place);
	exit(1);
}

/* ---------------------------------------------------------------- input */

static void
make_boundaries(const ColumnShape *shape)
{
	uint32_t	spare = shape->rows - shape->bins;	/* each bin has at least one row */

	boundaries[0] = 0;
	for (uint32_t bin = 1; bin <= shape->bins; bin++)
	{
		/* Some bins have many rows. */
		uint32_t	more = bin == shape->bins ? spare : (uint32_t) (random64() % (spare / 2 + 1));

		more = bin < shape->bins && random64() % 3 > 0 ? more / shape->bins : more;
		boundaries[bin] = boundaries[bin - 1] + 1 + more;
		spare -= more;
	}
}

static void
make_order(const Case *test, uint32_t *order)
{
	uint32_t	rows = test->shape.rows;

	for (uint32_t rank = 0; rank < rows; rank++)
		order[rank] = test->order == ORDER_REVERSED ? rows - 1 - rank : rank;
	for (uint32_t rank = rows; test->order == ORDER_RANDOM && rank-- > 1;)
	{
		uint32_t	other = (uint32_t) (random64() % (rank + 1));
		uint32_t	row = order[rank];

		order[rank] = order[other];
		order[other] = row;
	}
}

static void
find_bins(const ColumnShape *shape, const uint32_t *order)
{
	for (uint32_t bin = 0; bin < shape->bins; bin++)
		for (uint32_t rank = boundaries[bin]; rank < boundaries[bin + 1]; rank++)
			bins[order[rank]] = bin;
}

/* Return the offset of the vectors: after the order, with a gap. */
static uint64_t
vectors_offset(const ColumnShape *shape)
{
	return device_align((uint64_t) shape->rows * sizeof(uint32_t) + ALIGNMENT, ALIGNMENT);
}

static uint64_t
make_case(const Case *test)
{
	uint64_t	offset = vectors_offset(&test->shape);
	uint64_t	end = offset + device_vectors_size(&test->shape) + ALIGNMENT;

	if (end > area.size)
		fail("there is no room for %u vectors of %u rows", test->shape.vectors, test->shape.rows);
	memset(area.host, FILLER, end);
	make_boundaries(&test->shape);
	make_order(test, (uint32_t *) area.host);
	find_bins(&test->shape, (const uint32_t *) area.host);
	return offset;
}

/* ---------------------------------------------------------------- checks */

static bool
expected_bit(const ColumnShape *shape, uint32_t vector, uint32_t row)
{
	uint32_t	high_vectors = (shape->bins + shape->radix - 1) / shape->radix - 1;

	if (row >= shape->rows || bins[row] == NO_BIN)
		return false;
	if (vector < high_vectors)
		return bins[row] / shape->radix < vector + 1;
	return bins[row] % shape->radix < vector - high_vectors + 1;
}

static void
check_vectors(const Case *test, const uint8_t *bits)
{
	uint32_t	rows = device_chunks(test->shape.rows) * DEVICE_CHUNK_ROWS;

	for (uint32_t vector = 0; vector < test->shape.vectors; vector++, bits += rows / 8)
		for (uint32_t row = 0; row < rows; row++)
			if ((bits[row / 8] >> row % 8 & 1) != expected_bit(&test->shape, vector, row))
				wrong(test, "wrong bit, of vectors and rows", (uint64_t) vector * rows + row);
}

static void
check_gap(const Case *test, uint64_t end, const char *what)
{
	for (uint32_t i = 0; i < ALIGNMENT; i++)
		if ((uint8_t) area.host[end + i] != FILLER)
			wrong(test, what, i);
}

static bool
make(const Case *test, uint64_t offset)
{
	VectorSource source = {&test->shape, boundaries, 0};

	return vectors_make(&maker, &source, &area, offset);
}

/* Make vectors at an offset, and check them. */
static void
check_made(const Case *test, uint64_t offset)
{
	if (!make(test, offset))
		wrong(test, "no memory, case", ncases);
	check_vectors(test, (const uint8_t *) area.host + offset);
	check_gap(test, offset - ALIGNMENT, "written before the vectors, byte");
	check_gap(test, offset + device_vectors_size(&test->shape), "written behind the vectors, byte");
	ncases++;
}

static void
check_case(Case test)
{
	check_made(&test, make_case(&test));
}

/* Check that rows that are missing from the order are in no vector, and that invalid row numbers do no harm. */
static void
check_wrong_order(Case test)
{
	uint64_t	offset = make_case(&test);
	uint32_t   *order = (uint32_t *) area.host;

	for (uint32_t rank = 0; rank < test.shape.rows; rank += 3)
	{
		bins[order[rank]] = NO_BIN;
		order[rank] = rank % 2 == 0 ? UINT32_MAX : test.shape.rows;
	}
	check_made(&test, offset);
}

/* ---------------------------------------------------------------- cases */

/* Make a case.  The number of vectors follows from the number of bins and the radix. */
static Case
make_test(uint32_t rows, uint32_t nbins, uint32_t radix, Order order)
{
	Case		test = {.shape = {.rows = rows, .bins = nbins, .radix = radix}, .order = order};

	test.shape.vectors = device_high_vectors(&test.shape) + radix - 1;
	return test;
}

/* Choose a radix as choose_radix() of src/segment/sieve.c does. */
static uint32_t
two_components(uint32_t nbins)
{
	uint32_t	radix = 1;

	while (radix * radix < nbins)
		radix++;
	return radix;
}

static void
check_rows(uint32_t rows, uint32_t largest_bins)
{
	static const uint32_t nbins[] = {2, 3, 4, 5, 15, 16, 17, 64, 255, 256, 257, 1023, 1024};

	for (uint32_t i = 0; i < sizeof(nbins) / sizeof(nbins[0]) && nbins[i] <= largest_bins && nbins[i] <= rows; i++)
	{
		const uint32_t radixes[] = {1, two_components(nbins[i]), 2, nbins[i]};

		for (uint32_t r = 0; r < sizeof(radixes) / sizeof(radixes[0]); r++)
			for (Order order = 0; order < ORDERS; order++)
				check_case(make_test(rows, nbins[i], radixes[r], order));
	}
}

static void
check_all(void)
{
	static const uint32_t small[] = {2, 3, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4000};
	static const uint32_t chunk = DEVICE_CHUNK_ROWS;

	for (uint32_t i = 0; i < sizeof(small) / sizeof(small[0]); i++)
		check_rows(small[i], 64);
	check_rows(2000, 1024);
	for (uint32_t i = 0; i < 3; i++)
		check_rows(chunk - 1 + i, 17);
	check_rows(2 * chunk, 5);
	check_rows(3 * chunk + 12345, 5);
	check_case(make_test(MAX_ROWS, 256, 16, ORDER_RANDOM));
	check_case(make_test(MAX_ROWS, 64, 1, ORDER_RANDOM));
	for (uint32_t radix = 1; radix < 10; radix++)
		check_wrong_order(make_test(1000, 9, radix, ORDER_RANDOM));
	printf("ok %lu cases\n", ncases);
}

/* ---------------------------------------------------------------- times */

/* Return the best time of several runs. */
static uint64_t
time_case(const Case *test, uint64_t offset)
{
	uint64_t	best = UINT64_MAX;

	for (int run = 0; run < TIMED_RUNS; run++)
	{
		uint64_t	before = maker.nanoseconds;

		if (!make(test, offset))
			wrong(test, "no memory, run", run);
		if (maker.nanoseconds - before < best)
			best = maker.nanoseconds - before;
	}
	return best;
}

static void
time_all(void)
{
	static const uint32_t shapes[][2] = {{64, 8}, {256, 16}, {1024, 32}, {128, 1}};

	for (uint32_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
	{
		Case		test = make_test(MAX_ROWS, shapes[i][0], shapes[i][1], ORDER_RANDOM);
		uint64_t	offset = make_case(&test);

		printf("%u rows, %u vectors: %lu ns\n", test.shape.rows, test.shape.vectors,
			   (unsigned long) time_case(&test, offset));
	}
}

int
main(int argc, char **argv)
{
	bool		timed = open_test_device(argc, argv, &context);

	cache_open(&cache, &context);
	vectors_open(&maker, &context, &cache);
	if (!memory_on_host(&context, HOST_READS_AND_WRITES, AREA_SIZE, 0, &area))
		fail("there is no memory for the host");
	check_all();
	if (timed)
		time_all();
	return 0;
}
