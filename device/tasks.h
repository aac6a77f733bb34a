/*
 * tasks.h
 *		shaders/layout.h for C.
 */
#ifndef RTSCAN_DEVICE_TASKS_H
#define RTSCAN_DEVICE_TASKS_H

#include <stdint.h>

/* One name for each, in C and GLSL. */
typedef struct RangeTask RangeTask;
typedef struct RunTask RunTask;
typedef struct ColumnTask ColumnTask;
typedef struct SieveTask SieveTask;
typedef struct RefineTask RefineTask;
typedef struct PublishTask PublishTask;
typedef struct FrameTask FrameTask;
typedef struct ElementsTask ElementsTask;
typedef struct SetTask SetTask;
typedef struct MembersTask MembersTask;
typedef struct DigitTask DigitTask;
typedef struct MeasureTask MeasureTask;
typedef struct TallyTask TallyTask;
typedef struct CollectTask CollectTask;
typedef struct BundleTask BundleTask;
typedef struct TraceTask TraceTask;
typedef struct AttributeTask AttributeTask;
typedef struct SpaceTask SpaceTask;
typedef struct Tasks Tasks;
typedef struct BvhTask BvhTask;
typedef struct PairTask PairTask;
typedef struct VectorTask VectorTask;

#include "../shaders/layout.h"
#include "protocol.h"

_Static_assert(CHUNK_ROWS == DEVICE_CHUNK_ROWS && CHUNK_WORDS32 * 4 == DEVICE_CHUNK_BYTES,
			   "backends and shaders have the same chunks");
_Static_assert(PAGE_ZEROS == DEVICE_PAGE_ZEROS && PAGE_ONES == DEVICE_PAGE_ONES,
			   "backends and shaders have the same marks of constant pages");
_Static_assert(DEVICE_TALLY_MASKS == 3 && DEVICE_MAX_DIGITS == TALLY_DIGITS && DEVICE_MAX_MEASURES + 1 == TALLY_MEASURES && TALLY_COUNT == MEASURE_COUNT &&
			   TALLY_SUM_LOWER == MEASURE_SUM_LOWER && TALLY_SUM_UPPER == MEASURE_SUM_UPPER &&
			   TALLY_GREATEST == MEASURE_GREATEST && TALLY_LEAST == MEASURE_LEAST && TALLY_KINDS == MEASURE_ROWS,
			   "backends and shaders have the same tallies");
_Static_assert(DEVICE_MAX_COLUMNS == MEMBERS_SETS, "a segment has no more members than that");
_Static_assert(sizeof(FrameTask) == sizeof(ValueFrame), "a frame is written by one and read by the other");

#endif							/* RTSCAN_DEVICE_TASKS_H */
