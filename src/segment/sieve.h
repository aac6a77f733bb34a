/* SPDX-License-Identifier: PostgreSQL */
/*
 * sieve.h
 *		Sieve vectors: Data Sieving of the paper RTScan (section 3.3), in two components.
 *
 * Boundaries X_0 = 0 < X_1 < ... < X_bins = rows cut the ranks of a column into bins of about equal depth.  Each
 * boundary before the last is the first rank of a value or of the NULLs.  The first rank of the NULLs is always a
 * boundary.  The paper stores one vector for each boundary, F_i = {row : rank < X_i}.  With two components (the range
 * encoding of Chan and Ioannidis), the number of a bin is high * radix + low, and two sets of vectors are stored:
 *
 *		H_h = {row : high(bin) < h}		h = 1 .. ceil(bins / radix) - 1
 *		L_l = {row : low(bin) < l}		l = 1 .. radix - 1
 *
 *		F_i = H_h | (H_{h+1} & L_l)		for i = h * radix + l
 *
 * H_0 and L_0 are all zeros, and the H behind the last one is all ones; they are not stored.  256 bins take 30 vectors
 * instead of 255, but reading F_i takes three reads instead of one.  With one component, radix is 1, there is no L_l,
 * and F_i = H_i.
 */
#ifndef RTSCAN_SIEVE_H
#define RTSCAN_SIEVE_H

#include "rtscan.h"

#include "lib/stringinfo.h"
#include "segment/segment.h"
#include "segment/sorted.h"
#include "storage/area.h"

/*
 * Choose boundaries, write the vectors, and append the boundaries and the states of pages to the descriptor.  Sets
 * bins, radix, vectors, sieve and the flag EXACT of the header.
 */
extern void rtscan_write_sieve(RtscanAreaWriter *areas, const RtscanSortedColumn *column,
							   int max_bins, int components,
							   RtscanColumnHeader *header, StringInfo descriptor);

/* Return the number of the vector H_h among the vectors of a column. */
static inline uint32
rtscan_high_vector(uint32 h)
{
	return h - 1;
}

/* Return the number of different values of the high component. */
static inline uint32
rtscan_high_count(const RtscanColumnHeader *header)
{
	return (header->bins + header->radix - 1) / header->radix;
}

/* Return the number of the vector L_l among the vectors of a column. */
static inline uint32
rtscan_low_vector(const RtscanColumnHeader *header, uint32 l)
{
	return rtscan_high_count(header) - 1 + l - 1;
}

#endif							/* RTSCAN_SIEVE_H */
