/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_tally.h
 *		Write tallies into a request to the device program, and read them from its answer (device/protocol.h).
 */
#ifndef RTSCAN_DEVICE_TALLY_H
#define RTSCAN_DEVICE_TALLY_H

#include "search/exec/tally.h"
#include "search/gpu/device_words.h"

/* Does a tally cover all rows of a segment? */
extern bool rtscan_tallies_all(const RtscanTally *tally, const RtscanSegment *segment);

/* Return the bytes of device memory that a tally's columns need.  Some columns may be counted twice. */
extern uint64 rtscan_tally_device_size(const RtscanTally *tally, const RtscanSegment *segment);

/* Return the column of a tally with this number and form, or NULL. */
extern const RtscanDeviceColumn *rtscan_tally_find_column(const RtscanTally *tally, int number, ColumnForm form);

/* Add a tally's maps to a request's words. */
extern void rtscan_add_maps(const RtscanTally *tally, RtscanDeviceWords *words);

/*
 * Write a tally into a request, whose words must have their places: into the segment's "part", and at *digits and
 * *measures, which are advanced.
 */
extern void rtscan_write_tally(const RtscanTally *tally, const RtscanSegment *segment, const RtscanDeviceWords *words,
							   EvaluateSegment *part, TallyDigit **digits, TallyMeasure **measures);

/* Write a tally's masks to where the answer will have the bits of the segment's chunks. */
extern void rtscan_write_masks(const RtscanTally *tally, const RtscanSegment *segment, char *bits);

/* The state of reading an answer's tallies. */
typedef struct RtscanTakenTallies
{
	const uint64 *next;			/* the words to read next */
	RtscanTally *head;			/* the last tally that has words */
	uint64		rows;			/* rows counted, by the segments' counts, in that tally so far */
} RtscanTakenTallies;

/*
 * Read the next tally, of a segment with this many tallied rows: note the head that it joins, or copy its own words,
 * those of tally->n entries.  Before a new head is read, the last one is checked.  Returns false if the last one is
 * impossible, because it has other rows than were counted, or cells or measures that it cannot have.
 */
extern bool rtscan_read_tally(RtscanTakenTallies *taken, RtscanTally *tally, bool joins, uint64 rows,
							  MemoryContext context);

/* Check the last head, after all tallies have been read.  Returns false if it is impossible. */
extern bool rtscan_end_tallies(const RtscanTakenTallies *taken);

#endif							/* RTSCAN_DEVICE_TALLY_H */
