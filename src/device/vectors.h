/* SPDX-License-Identifier: PostgreSQL */
/*
 * vectors.h
 *		Make sieve vectors on a device.
 */
#ifndef RTSCAN_DEVICE_VECTORS_H
#define RTSCAN_DEVICE_VECTORS_H

#include "rtscan.h"

#include "segment/segment.h"
#include "segment/sorted.h"

/* Make sieve vectors: the hook "make_vectors" of segment/device_hooks.h. */
extern uint64 *rtscan_device_vectors(const RtscanColumnHeader *header, const uint32 *boundaries,
									 const uint32 *order, uint32 rows);

#endif							/* RTSCAN_DEVICE_VECTORS_H */
