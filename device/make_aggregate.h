/* SPDX-License-Identifier: PostgreSQL */
/*
 * make_aggregate.h
 *		Make the tasks of a segment's aggregate.
 */
#ifndef RTSCAN_DEVICE_MAKE_AGGREGATE_H
#define RTSCAN_DEVICE_MAKE_AGGREGATE_H

#include "evaluator.h"
#include "space.h"

/* A segment with an aggregate, and the positions of its bits, words and answer. */
typedef struct AggSource
{
	const EvaluateSegment *segment;
	const AggDigit *digits;
	const AggMeasure *measures;
	uint64_t	bits;			/* offset of the bits of the segment's first group; bits after the last row are 0 */
	uint32_t	groups;
	uint64_t	maps;			/* offset of the words of the request's sets and maps in the words of the batch */
	uint64_t   *words;			/* offset of the words of the last aggregate that joins no other */
	uint64_t   *answer;			/* address at which the next aggregate's entries are returned */
} AggSource;

/* Add an aggregate's task.  If a column is missing, the reply says which. */
extern DeviceResult add_agg(Evaluator *evaluator, const AggSource *source, DeviceReply *reply);

/*
 * Add an aggregate's task without workgroups, since the rays of a job add rows to the aggregate.  The task covers only
 * chunks without masks.  "space" must have all columns of the aggregate; rays read them from the fields of records, or
 * from the columns themselves if records do not have them.
 */
extern DeviceResult add_agg_of_job(Evaluator *evaluator, const AggSource *source, Space *space, DeviceReply *reply);

/* Only check that the aggregate's columns are on the device.  If a column is missing, the reply says which. */
extern DeviceResult find_agg(Evaluator *evaluator, const AggSource *source, DeviceReply *reply);

#endif							/* RTSCAN_DEVICE_MAKE_AGGREGATE_H */
