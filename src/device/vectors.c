/* SPDX-License-Identifier: PostgreSQL */
/*
 * vectors.c
 *		Make a column's sieve vectors on a device, for CREATE INDEX and merges.
 */
#include "device/vectors.h"

#include "device/build.h"
#include "miscadmin.h"

/*
 * Maximum size of all vectors of a column, in bytes.  The CPU makes larger vectors, since it needs memory for only
 * one vector at a time.
 */
#define MAX_VECTORS_SIZE	((Size) 64 * 1024 * 1024)

/* Number of rows of a word. */
#define WORD_ROWS			32

/* ---------------------------------------------------------------- hashes of sets of rows */

/*
 * Return the weight of a word of a vector.
 *
 * The hash of a set of rows is the sum of the hashes of its rows.  A row's hash is the word that has only this row's
 * bit, times the weight of the word's position.  Therefore the hash of a vector's rows is the sum of its words, each
 * times its weight: one multiplication for 32 rows.  Weights are made from odd numbers; otherwise one weight could be
 * half of another, so that two rows would have the same hash.
 */
static inline uint64
word_weight(uint32 word)
{
	uint64		weight = (2 * (uint64) word + 1) * UINT64CONST(0x9E3779B97F4A7C15);

	return weight ^ weight >> 32;
}

static inline uint64
hash_row(uint32 row)
{
	return word_weight(row / WORD_ROWS) << (row % WORD_ROWS);
}

static uint64
hash_words(const uint32 *words, uint32 n)
{
	uint64		hash = 0;

	for (uint32 word = 0; word < n; word++)
		hash += words[word] * word_weight(word);
	return hash;
}

/* ---------------------------------------------------------------- checking vectors */

/* Does a vector have the rows of a bin?  See segment/sieve.h. */
static bool
bin_is_in(const ColumnShape *shape, uint32 bin, uint32 vector)
{
	uint32		high_vectors = device_high_vectors(shape);

	return vector < high_vectors ? bin / shape->radix <= vector : bin % shape->radix <= vector - high_vectors;
}

/*
 * Check the device's result before it is stored permanently: does each vector have exactly the rows of its bins,
 * judged by their hash?
 */
static bool
are_right(const ColumnShape *shape, const uint64 *bin_hashes, const uint32 *vectors)
{
	uint32		words = device_chunks(shape->rows) * (DEVICE_CHUNK_ROWS / WORD_ROWS);

	for (uint32 vector = 0; vector < shape->vectors; vector++)
	{
		uint64		expected = 0;

		CHECK_FOR_INTERRUPTS();
		for (uint32 bin = 0; bin < shape->bins; bin++)
			if (bin_is_in(shape, bin, vector))
				expected += bin_hashes[bin];
		if (hash_words(vectors + (Size) vector * words, words) != expected)
			return false;
	}
	return true;
}

/* ---------------------------------------------------------------- the request */

/* Write the data of a request to the area: boundaries and order.  Sets bin_hashes[] to the hash of each bin's rows. */
static void
write_request(char *area, const ColumnShape *shape, const uint32 *boundaries,
			  const uint32 *rows_by_rank, uint64 *bin_hashes)
{
	uint32	   *order = (uint32 *) (area + device_order_offset(shape->bins));

	memcpy(area, boundaries, (shape->bins + 1) * sizeof(uint32));
	for (uint32 bin = 0; bin < shape->bins; bin++)
	{
		uint64		hash = 0;

		for (uint32 rank = boundaries[bin]; rank < boundaries[bin + 1]; rank++)
		{
			order[rank] = rows_by_rank[rank];
			hash += hash_row(rows_by_rank[rank]);
		}
		bin_hashes[bin] = hash;
	}
}

/*
 * Request the vectors from a device.  Returns a copy, since the program may still write to the area, or NULL if no
 * device has made them or there is no memory for the copy.
 */
static uint64 *
ask_for_vectors(const ColumnShape *shape, const uint32 *boundaries, const uint32 *rows_by_rank, uint64 *bin_hashes)
{
	DeviceRequest request = {.kind = DEVICE_SIEVE, .shape = *shape};
	Size		size = device_vectors_size(shape);
	uint64	   *vectors;
	int			device;
	char	   *area;

	request.results = device_align(device_order_offset(shape->bins) + shape->rows * sizeof(uint32), 64);
	area = rtscan_device_build_area(shape->rows, request.results + size, &device);
	if (area == NULL)
		return NULL;
	write_request(area, shape, boundaries, rows_by_rank, bin_hashes);
	if (!rtscan_device_ask_for_build(device, &request))
		return NULL;
	vectors = palloc_extended(size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
	return vectors ? memcpy(vectors, area + request.results, size) : NULL;
}

uint64 *
rtscan_device_vectors(const RtscanColumnHeader *header, const uint32 *boundaries,
					  const uint32 *order, uint32 rows)
{
	const ColumnShape shape = {.rows = rows, .bins = header->bins, .radix = header->radix, .vectors = header->vectors};
	uint64		bin_hashes[DEVICE_MAX_BINS];
	uint64	   *vectors;

	if (shape.vectors == 0 || device_vectors_size(&shape) > MAX_VECTORS_SIZE)
		return NULL;
	vectors = ask_for_vectors(&shape, boundaries, order, bin_hashes);
	if (vectors == NULL || are_right(&shape, bin_hashes, (const uint32 *) vectors))
		return vectors;
	pfree(vectors);
	ereport(WARNING,
			(errmsg("rtscan device returned wrong sieve vectors"),
			 errdetail("The CPU makes them instead."),
			 errhint("Set rtscan.device to \"off\", and check the device and its driver.")));
	return NULL;
}
