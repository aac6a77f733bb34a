/*
 * device_tally.h
 *		Tallies in a request to the device program, and in its answer (device/protocol.h).
 */
#ifndef RTSCAN_DEVICE_TALLY_H
#define RTSCAN_DEVICE_TALLY_H

#include "search/exec/tally.h"
#include "search/gpu/device_words.h"

/* Are all rows of a segment in it? */
extern bool rtscan_tallies_all(const RtscanTally *tally, const RtscanSegment *segment);

/* Bytes of device memory that the columns it is made of take, some of them perhaps counted twice. */
extern uint64 rtscan_tally_device_size(const RtscanTally *tally, const RtscanSegment *segment);

/* A column that it is made of, in a form; NULL: there is no such. */
extern const RtscanDeviceColumn *rtscan_tally_find_column(const RtscanTally *tally, int number, ColumnForm form);

/* Have its maps be among a request's words. */
extern void rtscan_add_maps(const RtscanTally *tally, RtscanDeviceWords *words);

/* Put it into a request, whose words are placed: into the segment's part, and behind the digits and measures that are there. */
extern void rtscan_write_tally(const RtscanTally *tally, const RtscanSegment *segment, const RtscanDeviceWords *words,
							   EvaluateSegment *part, TallyDigit **digits, TallyMeasure **measures);

/* Put its masks where the bits of the segment's chunks will come. */
extern void rtscan_write_masks(const RtscanTally *tally, const RtscanSegment *segment, char *bits);

/* The tallies of an answer, as they are read. */
typedef struct RtscanTakenTallies
{
	const uint64 *next;			/* words */
	RtscanTally *head;			/* the last that has words, */
	uint64		rows;			/* and how many rows have been counted in it */
} RtscanTakenTallies;

/*
 * The next tally, of so many rows, which may join the one before: its words, as many as it is known to have, are copied.  False, if the one
 * before it cannot be: then it has other rows than were counted, or cells or measures that it cannot have.
 */
extern bool rtscan_read_tally(RtscanTakenTallies *taken, RtscanTally *tally, bool joins, uint64 rows, MemoryContext context);

/* That was the last; likewise. */
extern bool rtscan_end_tallies(const RtscanTakenTallies *taken);

#endif							/* RTSCAN_DEVICE_TALLY_H */
