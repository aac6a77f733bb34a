/* SPDX-License-Identifier: PostgreSQL */
/*
 * key_order.h
 *		Radix sort of 64-bit keys (keys.h).
 */
#ifndef RTSCAN_KEY_ORDER_H
#define RTSCAN_KEY_ORDER_H

#include "postgres.h"

/* A key, and the row that it belongs to. */
typedef struct RtscanKeyed
{
	uint64		key;
	uint32		row;
} RtscanKeyed;

/*
 * Sort n keys stably.  "other" is work space for n more; returns the array that has the result, which is one of the
 * two.
 */
extern RtscanKeyed *rtscan_sort_keyed(RtscanKeyed *keyed, uint32 n, RtscanKeyed *other);

#endif							/* RTSCAN_KEY_ORDER_H */
