/* SPDX-License-Identifier: PostgreSQL */
/*
 * sort.h
 *		Sort keys on a device.
 */
#ifndef RTSCAN_DEVICE_SORT_H
#define RTSCAN_DEVICE_SORT_H

#include "rtscan.h"

#include "segment/sort.h"

/* Sort keys: the hook "sort" of segment/device_hooks.h. */
extern bool rtscan_device_sort(RtscanSortedColumn *column);

#endif							/* RTSCAN_DEVICE_SORT_H */
