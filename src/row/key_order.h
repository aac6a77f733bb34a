/* SPDX-License-Identifier: PostgreSQL */
/*
 * key_order.h
 *		Radix sort of 64-bit keys (keys.h).
 */
#ifndef RTSCAN_KEY_ORDER_H
#define RTSCAN_KEY_ORDER_H

#include "postgres.h"

/* A key, and the number of its row. */
typedef struct RtscanKeyed
{
	uint64		key;
	uint32		row;
} RtscanKeyed;

/*
 * Sort n elements by key, stably.  "other" is work space for n elements.  Returns the array that has the result:
 * "keyed" or "other".
 */
extern RtscanKeyed *rtscan_sort_keyed(RtscanKeyed *keyed, uint32 n, RtscanKeyed *other);

#endif							/* RTSCAN_KEY_ORDER_H */
