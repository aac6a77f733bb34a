/*
 * select.h
 *		Sort integers, or find those of some ranks among them.
 */
#ifndef RTSCAN_SELECT_H
#define RTSCAN_SELECT_H

#include "rtscan.h"

/* In place; scratch has room for as many. */
extern void rtscan_sort_integers(int64 *integers, uint64 n, int64 *scratch);

/*
 * The integers of some ranks, from 0, which ascend; one may come several times.  Both arrays are left in no order, and with
 * other integers.
 */
extern void rtscan_select_integers(int64 *integers, uint64 n, int64 *scratch, const uint64 *ranks, int nranks, int64 *selected);

/* The least and the greatest of some: at least one. */
extern void rtscan_bound_integers(const int64 *integers, uint64 n, int64 *least, int64 *greatest);

#endif							/* RTSCAN_SELECT_H */
