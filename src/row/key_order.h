/*
 * key_order.h
 *		Sort 64-bit keys (keys.h), a digit at a time.
 */
#ifndef RTSCAN_KEY_ORDER_H
#define RTSCAN_KEY_ORDER_H

#include "postgres.h"

/* A key, and where it is from. */
typedef struct RtscanKeyed
{
	uint64		key;
	uint32		row;
} RtscanKeyed;

/* Sort some; equal ones stay in their order.  Returns where they are: there, or in other room for as many. */
extern RtscanKeyed *rtscan_sort_keyed(RtscanKeyed *keyed, uint32 n, RtscanKeyed *other);

#endif							/* RTSCAN_KEY_ORDER_H */
