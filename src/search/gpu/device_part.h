/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_part.h
 *		A device's part of a round: the regions to evaluate, the request, and the state of its answer.
 *
 * device.c fills a part for each device (rtscan_add_to_part(), rtscan_end_part()), sends all of them, waits for all
 * (device_exchange.h), and takes the answers (device_answer.h).  So the devices work at the same time.  If a reply
 * says that a column is missing, it is uploaded, and the request is sent again.  Tallies (tally.h) are left out if
 * the device cannot make them, or has no room for them: it returns bits instead.
 */
#ifndef RTSCAN_DEVICE_PART_H
#define RTSCAN_DEVICE_PART_H

#include "device/device.h"
#include "portability/instr_time.h"
#include "search/exec/stats.h"
#include "search/exec/tally.h"
#include "search/filter/segment_scan.h"
#include "search/gpu/device_words.h"

/* A region to evaluate. */
typedef struct RtscanDeviceRegion
{
	RtscanSegmentScan *scan;
	RtscanRegion *region;
	RtscanTally *tally;			/* the tally to make of its rows, or NULL */
	bool		joins;			/* the tally adds to the words of the last tally before it */
	FilterPart	part;			/* if not PART_FIRST, it is combined with the last region before it that is */
} RtscanDeviceRegion;

StaticAssertDecl(RTSCAN_ROUND_REGIONS <= DEVICE_MAX_SEGMENTS, "a request may name a segment several times");

/* A device's part of a round. */
typedef struct RtscanDevicePart
{
	int			device;
	Relation	index;
	const pg_uuid_t *uuid;
	int			nregions;
	RtscanDeviceRegion regions[RTSCAN_ROUND_REGIONS];
	RtscanDeviceWords words;	/* the request's sets and maps */

	/* the number of regions if tallies were dropped, and no regions combined; at most RTSCAN_ROUND_REGIONS, too */
	int			own_regions;
	EvaluateHeader header;		/* the caller sets executor, prepare and build; regions are counted as they are added */
	uint64		group;			/* for adaptive_cost.h: stands for the index, the columns and the number of regions */
	uint32		chunks;			/* chunks in the answer */
	uint64		tally_words;	/* words of tallies in the answer */
	double		searched;		/* chunks to search, counted once for each region */
	double		added;			/* chunks to add up, counted once for each column */
	double		tested;			/* chunks to test rows by, counted once for each column */
	Size		body_size;		/* bytes of the request before its words */
	char	   *area;			/* memory shared with the device program */
	DeviceRequest request;
	bool		wanted;			/* there are regions, and a device to evaluate them */
	bool		asked;			/* the request has been sent, and there is no reply yet */
	bool		connected;		/* there was a connection before the request was sent */
	bool		retried;		/* the request has been repeated on a new connection */
	uint32		uploads;		/* uploads for this request */
	uint32		most_uploads;	/* the limit of uploads */
	bool		uploads_pay;	/* it has been found that uploading all missing columns pays */
	instr_time	start;			/* when the request was sent */
	DeviceReply reply;
	RtscanCounters work;		/* the device's work, including that of replies without an answer */
	const char *why;			/* the reason why there is no answer, or NULL */
} RtscanDevicePart;

static inline bool
rtscan_part_is_full(const RtscanDevicePart *part)
{
	return Max(part->nregions, part->own_regions) >= RTSCAN_ROUND_REGIONS;
}

/* Add a region of a segment, with the segment's tally if it wants one and there is room. */
extern void rtscan_add_to_part(RtscanDevicePart *part, RtscanSegmentScan *scan, RtscanRegion *region);

/*
 * Add all regions of a segment's filter with alternatives, for the device to combine them and tally the rows.  Returns
 * false if the filter has no alternatives, its rows cannot be tallied, or there is no room.
 */
extern bool rtscan_add_filter_to_part(RtscanDevicePart *part, RtscanSegmentScan *scan);

/* Lay out the request, after all regions have been added. */
extern void rtscan_end_part(RtscanDevicePart *part);

/* Connect, and get an area with room for the request and its answer.  Returns false if that is not possible. */
extern bool rtscan_open_part_area(RtscanDevicePart *part);

/* Write the request into the area. */
extern void rtscan_write_part(RtscanDevicePart *part);

/* Leave out all tallies: the device returns the bits of each of the scans' regions instead. */
extern void rtscan_drop_part_tallies(RtscanDevicePart *part);

/*
 * Is a region part of a filter that the device combines?  Such a filter casts no rays, and its alternatives are not the
 * scan's own regions, but multiplied out.
 */
extern bool rtscan_is_combined(const RtscanDeviceRegion *item);

#endif							/* RTSCAN_DEVICE_PART_H */
