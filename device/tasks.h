/*
 * tasks.h
 *		shaders/layout.h for C.
 */
#ifndef RTSCAN_DEVICE_TASKS_H
#define RTSCAN_DEVICE_TASKS_H

#include <stdint.h>

#include "../shaders/layout.h"
#include "protocol.h"

_Static_assert(CHUNK_ROWS == DEVICE_CHUNK_ROWS && CHUNK_WORDS32 * 4 == DEVICE_CHUNK_BYTES,
			   "backends and shaders have the same chunks");
_Static_assert(PAGE_ZEROS == DEVICE_PAGE_ZEROS && PAGE_ONES == DEVICE_PAGE_ONES,
			   "backends and shaders have the same marks of constant pages");

typedef struct RangeTask RangeTask;
typedef struct RunTask RunTask;
typedef struct ColumnTask ColumnTask;
typedef struct SieveTask SieveTask;
typedef struct RefineTask RefineTask;
typedef struct PublishTask PublishTask;
typedef struct BundleTask BundleTask;
typedef struct TraceTask TraceTask;
typedef struct Tasks Tasks;
typedef struct BvhTask BvhTask;
typedef struct PairTask PairTask;
typedef struct VectorTask VectorTask;

#endif							/* RTSCAN_DEVICE_TASKS_H */
