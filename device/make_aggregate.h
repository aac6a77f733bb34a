/* SPDX-License-Identifier: PostgreSQL */
/*
 * make_aggregate.h
 *		Make the tasks of a segment's aggregate.
 */
#ifndef RTSCAN_DEVICE_MAKE_AGGREGATE_H
#define RTSCAN_DEVICE_MAKE_AGGREGATE_H

#include "evaluator.h"
#include "space.h"

/* A segment with an aggregate. */
typedef struct AggSource
{
	const EvaluateSegment *segment;
	const AggDigit *digits;
	const AggMeasure *measures;
	uint64_t	bits;			/* offset of the bits of its first group; rows after the last have none set */
	uint32_t	groups;
	uint64_t	maps;			/* offset of the request's words in the words of the batch */
	uint64_t   *words;			/* offset of the words of the last aggregate that joins no other */
	uint64_t   *answer;			/* address at which the next aggregate's entries are returned */
} AggSource;

/* Add an aggregate's task.  If a column is missing, the reply says which. */
extern DeviceResult add_agg(Evaluator *evaluator, const AggSource *source, DeviceReply *reply);

/*
 * Add an aggregate's task without workgroups, for rays that add rows to it; it covers only chunks without masks.
 * The columns' fields are those of the space, which must have all of them.
 */
extern DeviceResult add_agg_of_job(Evaluator *evaluator, const AggSource *source, Space *space, DeviceReply *reply);

/* Only check that the aggregate's columns are on the device. */
extern DeviceResult find_agg(Evaluator *evaluator, const AggSource *source, DeviceReply *reply);

#endif							/* RTSCAN_DEVICE_MAKE_AGGREGATE_H */
