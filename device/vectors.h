/* SPDX-License-Identifier: PostgreSQL */
/*
 * vectors.h
 *		Make the sieve vectors of a column that a backend has sorted, for CREATE INDEX and merges.
 *
 * src/segment/sieve.h describes the content of the vectors.  There are two steps, each for all vectors together:
 *
 *	vectors_digits	for each rank, find its bin, and store the bin's digits for the rank's row
 *	vectors_bits	make a word of each vector from the digits of 32 rows
 *
 * The order is copied into device memory at once, and the vectors out of it, because many small
 * accesses across the bus would take longer.
 */
#ifndef RTSCAN_DEVICE_VECTORS_H
#define RTSCAN_DEVICE_VECTORS_H

#include "cache.h"

typedef struct VectorMaker
{
	Context    *context;
	Cache	   *cache;
	VkPipelineLayout layout;
	VkPipeline	digits;
	VkPipeline	bits;
	uint64_t	sieves;
	uint64_t	nanoseconds;	/* device time of all calls */
} VectorMaker;

/* The input for making vectors: a column's shape (rows, bins, radix, vectors), and the data of a SIEVE request. */
typedef struct VectorSource
{
	const ColumnShape *shape;
	const uint32_t *boundaries;
	uint64_t	order;			/* offset in the memory that also receives the vectors */
} VectorSource;

extern void vectors_open(VectorMaker *maker, Context *context, Cache *cache);

/*
 * Make the vectors of a column, device_vectors_size() bytes, and copy them to "offset" in "target".  An invalid
 * order, with a row twice or a row that does not exist, does no harm.  Returns false if there is not enough memory.
 */
extern bool vectors_make(VectorMaker *maker, const VectorSource *source, const Memory *target, uint64_t offset);

#endif							/* RTSCAN_DEVICE_VECTORS_H */
