/* SPDX-License-Identifier: PostgreSQL */
/*
 * tasks.h
 *		Declare shaders/layout.h for C.
 */
#ifndef RTSCAN_DEVICE_TASKS_H
#define RTSCAN_DEVICE_TASKS_H

#include <stddef.h>
#include <stdint.h>

/* Make the structures' names types in C, as they are in GLSL. */
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
typedef struct AggTask AggTask;
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
_Static_assert(DEVICE_AGG_MASKS == 3 && DEVICE_MAX_DIGITS == AGG_DIGITS &&
			   DEVICE_MAX_MEASURES + 1 == AGG_MEASURES && AGG_COUNT == MEASURE_COUNT &&
			   AGG_SUM_LOWER == MEASURE_SUM_LOWER && AGG_SUM_UPPER == MEASURE_SUM_UPPER &&
			   AGG_GREATEST == MEASURE_GREATEST && AGG_LEAST == MEASURE_LEAST && AGG_KINDS == MEASURE_ROWS,
			   "backends and shaders have the same aggregates");
_Static_assert(DEVICE_MAX_COLUMNS == MEMBERS_SETS, "a segment has at most one set of members for each column");

/*
 * C and GLSL pad structures differently, for example at the end of a structure within another.  Therefore no
 * structure has padding: each member begins where the member before it ends (device/test/layout_test.c).
 */
#define FILLED(type, doublewords, words) \
	_Static_assert(sizeof(struct type) == (doublewords) * sizeof(uint64_t) + (words) * sizeof(uint32_t), \
				   "struct " #type " has padding")

FILLED(RangeTask, 0, 2);
FILLED(RunTask, 2, 6);
FILLED(SieveTask, 1, 6);
FILLED(ColumnTask, 1, 4);
FILLED(RefineTask, 2, 4);
FILLED(PublishTask, 3, 10);
FILLED(FrameTask, 2, 2);
FILLED(ElementsTask, 3, 2);
FILLED(SetTask, 5, 6);
FILLED(MembersTask, 1, 4);
FILLED(DigitTask, 6, 8);
FILLED(MeasureTask, 3, 4);
FILLED(AggTask, 2, 16);
FILLED(CollectTask, 2, 6);
FILLED(BundleTask, 0, 12);
FILLED(TraceTask, 3, 8);
FILLED(Tasks, 1, 20);
FILLED(BvhTask, 6, 6);
FILLED(AttributeTask, 3, 6);
FILLED(SpaceTask, 5, 6);
FILLED(SortPass, 6, 4);
FILLED(PairTask, 3, 2);
FILLED(VectorTask, 4, 6);

#undef FILLED

/* Structures that backends and shaders share are declared twice, and must agree. */
_Static_assert(sizeof(ValueFrame) == sizeof(FrameTask) && offsetof(ValueFrame, above) == offsetof(FrameTask, above) &&
			   offsetof(ValueFrame, null) == offsetof(FrameTask, null) &&
			   offsetof(ValueFrame, page) == offsetof(FrameTask, page) &&
			   offsetof(ValueFrame, bits) == offsetof(FrameTask, bits),
			   "a frame is written by one and read by the other");
_Static_assert(sizeof(ChunkCount) == 2 * sizeof(uint32_t) && offsetof(ChunkCount, rows) == 0,
			   "publish.comp writes them");
_Static_assert(sizeof(SortPair) == 4 * sizeof(uint32_t) && offsetof(SortPair, key) == 0 &&
			   offsetof(SortPair, value) == sizeof(uint64_t),
			   "pairs.glsl reads them");

#endif							/* RTSCAN_DEVICE_TASKS_H */
