/* SPDX-License-Identifier: PostgreSQL */
/*
 * make_tally.h
 *		Make the tasks of a segment's tally.
 */
#ifndef RTSCAN_DEVICE_MAKE_TALLY_H
#define RTSCAN_DEVICE_MAKE_TALLY_H

#include "evaluator.h"
#include "space.h"

/* A segment with a tally. */
typedef struct TallySource
{
	const EvaluateSegment *segment;
	const TallyDigit *digits;
	const TallyMeasure *measures;
	uint64_t	bits;			/* offset of the bits of its first group; rows after the last have none set */
	uint32_t	groups;
	uint64_t	maps;			/* offset of the request's words in the words of the batch */
	uint64_t   *words;			/* offset of the words of the last tally that joins no other */
	uint64_t   *answer;			/* address at which the next tally's entries are returned */
} TallySource;

/* Add a tally's task.  If a column is missing, the reply says which. */
extern DeviceResult add_tally(Evaluator *evaluator, const TallySource *source, DeviceReply *reply);

/*
 * Add a tally's task without workgroups, for rays that add rows to it; it covers only chunks without masks.
 * The columns' fields are those of the space, which must have all of them.
 */
extern DeviceResult add_tally_of_job(Evaluator *evaluator, const TallySource *source, Space *space, DeviceReply *reply);

/* Only check that the tally's columns are on the device. */
extern DeviceResult find_tally(Evaluator *evaluator, const TallySource *source, DeviceReply *reply);

#endif							/* RTSCAN_DEVICE_MAKE_TALLY_H */
