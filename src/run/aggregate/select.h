/* SPDX-License-Identifier: PostgreSQL */
/*
 * select.h
 *		Sort integers, or select the integers of given ranks.
 */
#ifndef RTSCAN_SELECT_H
#define RTSCAN_SELECT_H

#include "rtscan.h"

/* Sort n integers in place.  "scratch" has space for n integers. */
extern void rtscan_sort_integers(int64 *integers, uint64 n, int64 *scratch);

/*
 * Set selected[i] to the integer of rank ranks[i].  Ranks count from 0 and ascend; a rank may occur several times.
 * "scratch" has space for n integers.  Both integers[] and scratch[] are overwritten.
 */
extern void rtscan_select_integers(int64 *integers, uint64 n, int64 *scratch, const uint64 *ranks, int nranks,
								   int64 *selected);

/* Find the least and the greatest of n integers (n > 0). */
extern void rtscan_bound_integers(const int64 *integers, uint64 n, int64 *least, int64 *greatest);

#endif							/* RTSCAN_SELECT_H */
