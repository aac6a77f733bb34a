/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_part.h
 *		A device's part of a round: the regions that it is to evaluate, and what becomes of its request.
 *
 * device_round.h says how a request is made.
 */
#ifndef RTSCAN_DEVICE_PART_H
#define RTSCAN_DEVICE_PART_H

#include "device/device.h"
#include "portability/instr_time.h"
#include "search/exec/device_aggregate.h"
#include "search/exec/stats.h"
#include "search/filter/segment_scan.h"
#include "search/gpu/device_words.h"

/* A region to evaluate. */
typedef struct RtscanDeviceRegion
{
	RtscanSegmentScan *scan;	/* its segment */
	RtscanRegion *region;		/* the region */
	RtscanDeviceAgg *agg;		/* the device aggregate to make of its rows, or NULL */
	bool		joins;			/* the device aggregate adds to the words of the last aggregate before it */
	FilterPart	part;			/* if not PART_FIRST, it is combined with the last region before it that is */
} RtscanDeviceRegion;

StaticAssertDecl(RTSCAN_ROUND_REGIONS <= DEVICE_MAX_SEGMENTS, "a request may name a segment several times");

/* Limits of a request, and the memory for it.  Only device_budget.c sets them. */
typedef struct RtscanDeviceBudget
{
	bool		wanted;			/* there are regions, and a device to evaluate them */
	bool		connected;		/* there was a connection before the request was sent */
	bool		uploads_pay;	/* it has been found that uploading all missing columns pays */
	char	   *area;			/* memory shared with the device program */
	DeviceRequest request;		/* says where in the area the answer goes */
} RtscanDeviceBudget;

/* The state of a request and its answer.  Only device_exchange.c sets it. */
typedef struct RtscanDeviceExchange
{
	bool		asked;			/* the request has been sent, and there is no reply yet */
	bool		retried;		/* the request has been repeated on a new connection */
	instr_time	start;			/* when the request was sent */
	DeviceReply reply;			/* the last reply */
	RtscanCounters work;		/* the device's work, including that of replies without an answer */
} RtscanDeviceExchange;

/* A device's part of a round.  Only device_collect.c sets the members that are not said to be the caller's. */
typedef struct RtscanDevicePart
{
	int			device;			/* number of the device */
	bool		ready;			/* its program was running and ready when the round began */
	Relation	index;			/* the caller's: the index */
	const pg_uuid_t *uuid;		/* the caller's: the index's identity */
	uint64		group;			/* the caller's, for adaptive_cost.h: stands for the index, the columns and the
								 * number of regions */
	EvaluateHeader header;		/* begin of the request.  The caller sets executor, prepare and build, and the budget
								 * may change them; regions are counted as they are added. */
	int			nregions;		/* number of regions */
	RtscanDeviceRegion regions[RTSCAN_ROUND_REGIONS];	/* the regions to evaluate */

	/*
	 * number of regions if device aggregates were dropped, and no regions combined; at most RTSCAN_ROUND_REGIONS,
	 * too
	 */
	int			own_regions;
	RtscanDeviceWords words;	/* the request's sets and maps */
	Size		body_size;		/* bytes of the request before its words */
	uint32		chunks;			/* chunks in the answer */
	uint64		agg_words;		/* words of device aggregates in the answer */
	double		searched;		/* chunks to search, counted once for each region */
	double		added;			/* chunks to add up, counted once for each column */
	double		tested;			/* chunks to test rows by, counted once for each column */
	uint32		uploads;		/* columns that the exchange has uploaded for what has been collected */
	RtscanDeviceBudget budget;	/* what the device may be asked for */
	RtscanDeviceExchange exchange;	/* the state of the request */
	const char *why;			/* the reason why there is no answer, or NULL; the budget or the exchange sets it */
} RtscanDevicePart;

/* The parts of a round, one for each device. */
typedef struct RtscanDeviceParts
{
	int			n;				/* number of devices */
	RtscanDevicePart *items;	/* the parts, by device */
} RtscanDeviceParts;

/*
 * Is a region part of a filter that the device combines?  Such a filter casts no rays, and its alternatives are not the
 * scan's own regions, but multiplied out.
 */
static inline bool
rtscan_is_combined(const RtscanDeviceRegion *item)
{
	return item->part != PART_FIRST || (item->agg && item->scan->filter.ndisjunctions > 0);
}

/* Can a device have a segment?  One of less than a chunk has no sieve, and is not worth sending to a device. */
static inline bool
rtscan_device_can_have(const RtscanSegmentScan *scan)
{
	return scan->reader.segment->header.rows >= RTSCAN_CHUNK_ROWS;
}

/* Can a device evaluate regions of a segment? */
static inline bool
rtscan_device_can_evaluate(const RtscanSegmentScan *scan)
{
	return scan->nregions > 0 && rtscan_device_can_have(scan);
}

/* Return the device of a segment that is open. */
static inline int
rtscan_device_of_scan(const RtscanSegmentScan *scan)
{
	return rtscan_device_of_segment(scan->reader.index, scan->entry->id);
}

#endif							/* RTSCAN_DEVICE_PART_H */
