/*
 * tasks.h
 *		shaders/layout.h for C.
 */
#ifndef RTSCAN_DEVICE_TASKS_H
#define RTSCAN_DEVICE_TASKS_H

#include <stdint.h>

#include "../shaders/layout.h"

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
