/*
 * make_tally.h
 *		What a segment's tally means in tasks.
 */
#ifndef RTSCAN_DEVICE_MAKE_TALLY_H
#define RTSCAN_DEVICE_MAKE_TALLY_H

#include "evaluate.h"
#include "space.h"

/* A segment that has a tally. */
typedef struct TallySource
{
	const EvaluateSegment *segment;
	const TallyDigit *digits;
	const TallyMeasure *measures;
	uint64_t	bits;			/* offset of those of the first of its groups; rows behind the last have none */
	uint32_t	groups;
	uint64_t	maps;			/* offset of the request's words in those of the batch */
	uint64_t   *words;			/* offset of those of the last tally that joins none, */
	uint64_t   *answer;			/* and where the next one's are handed over */
} TallySource;

/* Add its task; where a column is missing the reply says which. */
extern DeviceResult add_tally(Evaluator *evaluator, const TallySource *source, DeviceReply *reply);

/*
 * The same without workgroups, for rays that add to it, of the chunks that are wholly in it: its columns' fields are those of a
 * space, which has all of them.
 */
extern DeviceResult add_tally_of_job(Evaluator *evaluator, const TallySource *source, Space *space, DeviceReply *reply);

/* Only see whether its columns are there. */
extern DeviceResult find_tally(Evaluator *evaluator, const TallySource *source, DeviceReply *reply);

#endif							/* RTSCAN_DEVICE_MAKE_TALLY_H */
