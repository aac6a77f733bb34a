/* SPDX-License-Identifier: PostgreSQL */
/*
 * vectors.h
 *		Make the sieve vectors of a column that a backend has sorted, for CREATE INDEX and merges.
 *
 * src/segment/sieve.h describes the content of the vectors.  There are two steps, each for all vectors together:
 *
 *	vectors_digits	each rank finds its bin, and stores the bin's digits with its row
 *	vectors_bits	the digits of 32 rows become a word of each vector
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

/*
 * A column whose vectors to make: its shape (rows, bins, radix, vectors), and the data of a SIEVE request
 * (protocol.h).
 */
typedef struct VectorSource
{
	const ColumnShape *shape;
	const uint32_t *boundaries;
	uint64_t	order;			/* offset in the memory that also receives the vectors */
} VectorSource;

extern void vectors_open(VectorMaker *maker, Context *context, Cache *cache);

/*
 * Make the vectors of a column, device_vectors_size() bytes, and copy them to an offset of target.  An order
 * that names a row twice, or no row, does no harm.  Returns false if there is not enough memory.
 */
extern bool vectors_make(VectorMaker *maker, const VectorSource *source, const Memory *target, uint64_t offset);

#endif							/* RTSCAN_DEVICE_VECTORS_H */
