/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_aggregate_messages.h
 *		Write device aggregates into a request to the device program, and read them from its answer
 *		(device/protocol.h).
 */
#ifndef RTSCAN_DEVICE_AGGREGATE_MESSAGES_H
#define RTSCAN_DEVICE_AGGREGATE_MESSAGES_H

#include "search/exec/device_aggregate.h"
#include "search/gpu/device_words.h"

/* Does a device aggregate cover all rows of a segment? */
extern bool rtscan_device_agg_covers_all(const RtscanDeviceAgg *agg, const RtscanSegment *segment);

/* Return the bytes of device memory that a device aggregate's columns need.  Some columns may be counted twice. */
extern uint64 rtscan_device_agg_size(const RtscanDeviceAgg *agg, const RtscanSegment *segment);

/* Return the column of a device aggregate with this number and form, or NULL. */
extern const RtscanDeviceColumn *rtscan_find_device_agg_column(const RtscanDeviceAgg *agg, int number, ColumnForm form);

/* Add a device aggregate's maps to a request's words. */
extern void rtscan_add_maps(const RtscanDeviceAgg *agg, RtscanDeviceWords *words);

/*
 * Write a device aggregate into a request, whose words must have their places: into the segment's "part", and at
 * *digits and *measures, which are advanced.
 */
extern void rtscan_write_device_agg(const RtscanDeviceAgg *agg, const RtscanSegment *segment,
									const RtscanDeviceWords *words, EvaluateSegment *part, AggDigit **digits,
									AggMeasure **measures);

/* Write a device aggregate's masks to where the answer will have the bits of the segment's chunks. */
extern void rtscan_write_masks(const RtscanDeviceAgg *agg, const RtscanSegment *segment, char *bits);

/* The state of reading an answer's device aggregates. */
typedef struct RtscanTakenDeviceAggs
{
	const uint64 *next;			/* the words to read next */
	RtscanDeviceAgg *head;		/* the last device aggregate that has words */
	uint64		rows;			/* rows counted, by the segments' counts, in that device aggregate so far */
} RtscanTakenDeviceAggs;

/*
 * Read the next device aggregate, which has this many rows of a segment: note the head that it joins, or copy its own
 * words, those of agg->n entries.  Before a new head is read, the last one is checked.  Returns false if the last one
 * is impossible, because it has other rows than were counted, or cells or measures that it cannot have.
 */
extern bool rtscan_read_device_agg(RtscanTakenDeviceAggs *taken, RtscanDeviceAgg *agg, bool joins, uint64 rows,
								   MemoryContext context);

/* Check the last head, after all device aggregates have been read.  Returns false if it is impossible. */
extern bool rtscan_end_device_aggs(const RtscanTakenDeviceAggs *taken);

#endif							/* RTSCAN_DEVICE_AGGREGATE_MESSAGES_H */
