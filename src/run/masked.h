/*
 * masked.h
 *		What the values of a vector come to, of the rows that bits say.
 *
 * All are looked at, without a branch: of many rows of a stretch that is faster than to take one after another.
 */
#ifndef RTSCAN_MASKED_H
#define RTSCAN_MASKED_H

#include "rtscan.h"

#include "run/aggregates.h"
#include "run/arithmetic.h"

/* Values that are not NULL, of n rows whose bits are set; without a vector, these rows. */
extern uint64 rtscan_count_masked(const RtscanVector *vector, const uint64 *bits, uint32 n);

/* The sum of these integers, which a sum of their scale is to have. */
extern void rtscan_sum_masked(const RtscanVector *vector, const uint64 *bits, uint32 n, RtscanSum *sum);

/* The least of these integers, or the greatest; there must be some. */
extern int64 rtscan_find_masked(const RtscanVector *vector, const uint64 *bits, uint32 n, bool greatest);

#endif							/* RTSCAN_MASKED_H */
