/*
 * vectors.h
 *		Make the sieve vectors of a column that a backend has sorted: what CREATE INDEX and
 *		merges write.
 *
 * src/segment/sieve.h says what is in which vector.  Two steps, for all vectors together:
 *
 *	vectors_digits	each rank finds its bin, and leaves the bin's digits with its row
 *	vectors_bits	each 32 rows' digits become a word of each vector
 *
 * The order is copied into device memory at once, and so are the vectors out of it: small reads
 * and writes across the bus would take longer.
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
	uint64_t	nanoseconds;	/* that they took */
} VectorMaker;

/* Of a column: its shape (rows, bins, radix, vectors), and what SIEVE sends (protocol.h). */
typedef struct VectorSource
{
	const ColumnShape *shape;
	const uint32_t *boundaries;
	uint64_t	order;			/* offset in the memory that takes the vectors, too */
} VectorSource;

extern void vectors_open(VectorMaker *maker, Context *context, Cache *cache);

/*
 * Make the vectors of a column, from an offset of some memory on: device_vectors_size() bytes.
 * An order that names a row twice, or none, does no harm.  False: there is not the memory for it.
 */
extern bool vectors_make(VectorMaker *maker, const VectorSource *source, const Memory *target, uint64_t offset);

#endif							/* RTSCAN_DEVICE_VECTORS_H */
