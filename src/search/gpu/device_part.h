/*
 * device_part.h
 *		A device's part of a round: the regions that it is asked for, the request, and what becomes of its answer.
 *
 * Whoever divides a round fills a part for each device (rtscan_add_to_part, rtscan_end_part), asks all, awaits all
 * (device_exchange.h), and takes
 * the answers (device_answer.h): so the devices work at the same time.  A reply may be that a column is missing.  It is uploaded then, and the
 * request is sent again.  Tallies (tally.h) are left out where the device cannot make them, or has no room for them: bits come
 * back in their place.
 */
#ifndef RTSCAN_DEVICE_PART_H
#define RTSCAN_DEVICE_PART_H

#include "device/device.h"
#include "portability/instr_time.h"
#include "search/exec/stats.h"
#include "search/exec/tally.h"
#include "search/filter/segment_scan.h"
#include "search/gpu/device_words.h"

/* A region that is asked for. */
typedef struct RtscanDeviceRegion
{
	RtscanSegmentScan *scan;
	RtscanRegion *region;
	RtscanTally *tally;			/* that is to be made, or NULL */
	bool		joins;			/* with the last one before */
	FilterPart	part;			/* others than PART_FIRST are parts of the filter of the last one that is that */
} RtscanDeviceRegion;

StaticAssertDecl(RTSCAN_ROUND_REGIONS <= DEVICE_MAX_SEGMENTS, "a request may name a segment several times");

typedef struct RtscanDevicePart
{
	int			device;
	Relation	index;
	const pg_uuid_t *uuid;
	int			nregions;
	RtscanDeviceRegion regions[RTSCAN_ROUND_REGIONS];
	RtscanDeviceWords words;	/* of sets and maps */
	int			own_regions;	/* of the scans, which take the place of these if there are no tallies: no more, either */
	EvaluateHeader header;		/* who begins a part says which executor, and whether it is to prepare only; */
	uint64		group;			/* and of which index and columns (device/device.h) */
	uint32		chunks;
	uint64		tally_words;
	double		searched;		/* chunks of all regions */
	double		added;			/* chunks of the columns that are added up, */
	double		tested;			/* and of those that rows are tested by */
	Size		body_size;
	char	   *area;
	DeviceRequest request;
	bool		wanted;			/* there are regions, and there is whom to ask */
	bool		asked;			/* and there is no reply yet */
	bool		connected;		/* from before */
	bool		retried;		/* on a new connection */
	uint32		uploads;		/* for this request; no more than */
	uint32		most_uploads;
	bool		uploads_pay;	/* of all that it lacks */
	instr_time	start;			/* when it was asked */
	DeviceReply reply;
	RtscanCounters work;		/* the device's, also for replies that were no answers */
	const char *why;			/* there is no answer, or NULL */
} RtscanDevicePart;

static inline bool
rtscan_part_is_full(const RtscanDevicePart *part)
{
	return Max(part->nregions, part->own_regions) >= RTSCAN_ROUND_REGIONS;
}

/* Add a region of a segment, with the segment's tally if it wants one and there is room. */
extern void rtscan_add_to_part(RtscanDevicePart *part, RtscanSegmentScan *scan, RtscanRegion *region);

/* Add all of a segment's filter, whose rows are tallied, to be combined; false if there is nothing to combine, or no room for it. */
extern bool rtscan_add_filter_to_part(RtscanDevicePart *part, RtscanSegmentScan *scan);

/* All regions have been added. */
extern void rtscan_end_part(RtscanDevicePart *part);

/* Connect, and get an area that has room for the request and its answer; and put the request into it. */
extern bool rtscan_open_part_area(RtscanDevicePart *part);
extern void rtscan_write_part(RtscanDevicePart *part);

/* Leave tallies out, if the device has no room for their columns: it returns bits of each region in their place. */
extern void rtscan_drop_part_tallies(RtscanDevicePart *part);

/* A combined filter casts no rays; its alternatives are not the scan's own regions, but multiplied out. */
extern bool rtscan_is_combined(const RtscanDeviceRegion *item);

#endif							/* RTSCAN_DEVICE_PART_H */
