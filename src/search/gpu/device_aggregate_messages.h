/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_aggregate_messages.h
 *		Write device aggregates into a request to the device program, and read device aggregates from its answer
 *		(device/protocol.h).
 */
#ifndef RTSCAN_DEVICE_AGGREGATE_MESSAGES_H
#define RTSCAN_DEVICE_AGGREGATE_MESSAGES_H

#include "search/exec/device_aggregate.h"
#include "search/gpu/device_words.h"

/* Can a device aggregate include every row of a segment, so that no bits need be returned? */
extern bool rtscan_device_agg_covers_all(const RtscanDeviceAgg *agg, const RtscanSegment *segment);

/* Return the bytes of device memory that a device aggregate's columns need.  Some columns may be counted twice. */
extern uint64 rtscan_device_agg_size(const RtscanDeviceAgg *agg, const RtscanSegment *segment);

/* Return the column with this number and form that a device aggregate reads, or NULL if it reads no such column. */
extern const RtscanDeviceColumn *rtscan_find_device_agg_column(const RtscanDeviceAgg *agg, int number, ColumnForm form);

/* Add a device aggregate's maps to a request's words. */
extern void rtscan_add_maps(const RtscanDeviceAgg *agg, RtscanDeviceWords *words);

/*
 * Write a device aggregate into a request: to *part, the request's description of the region, and to *digits and
 * *measures, which are advanced past what is written.  rtscan_place_words() must have been called for "words".
 */
extern void rtscan_write_device_agg(const RtscanDeviceAgg *agg, const RtscanSegment *segment,
									const RtscanDeviceWords *words, EvaluateSegment *part, AggDigit **digits,
									AggMeasure **measures);

/* Write a device aggregate's masks to "bits", where the answer will have the bits of the segment's chunks. */
extern void rtscan_write_masks(const RtscanDeviceAgg *agg, const RtscanSegment *segment, char *bits);

/* The state of reading an answer's device aggregates. */
typedef struct RtscanTakenDeviceAggs
{
	const uint64 *next;			/* the words to read next */
	RtscanDeviceAgg *head;		/* the last device aggregate that has words */
	uint64		rows;			/* number of rows that the counts of segments have added to this head so far */
} RtscanTakenDeviceAggs;

/*
 * Read the next device aggregate of an answer.  "rows" is the number of rows of its segment that are in the aggregate.
 * If "joins" is true, set agg->head to the last head.  If not, first check the last head: return false if it does not
 * have the rows that were counted, or if it has impossible cells or measures.  Then make the aggregate the next head,
 * and copy the words of its agg->n entries to "context".
 */
extern bool rtscan_read_device_agg(RtscanTakenDeviceAggs *taken, RtscanDeviceAgg *agg, bool joins, uint64 rows,
								   MemoryContext context);

/* Check the last head, after all device aggregates have been read.  Returns false if the head is impossible. */
extern bool rtscan_end_device_aggs(const RtscanTakenDeviceAggs *taken);

#endif							/* RTSCAN_DEVICE_AGGREGATE_MESSAGES_H */
