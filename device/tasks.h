/*
 * tasks.h
 *		shaders/layout.h for C.
 */
#ifndef RTSCAN_DEVICE_TASKS_H
#define RTSCAN_DEVICE_TASKS_H

#include <stdint.h>

#include "../shaders/layout.h"

typedef struct RangeTask RangeTask;
typedef struct ColumnTask ColumnTask;
typedef struct SieveTask SieveTask;
typedef struct RefineTask RefineTask;
typedef struct PublishTask PublishTask;
typedef struct Tasks Tasks;

#endif							/* RTSCAN_DEVICE_TASKS_H */
