/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_part.h
 *		A device's part of a round: the regions that the device is to evaluate, and the state of its request.
 *
 * device_round.h describes how a request is made.
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
	RtscanSegmentScan *scan;	/* segment of the region */
	RtscanRegion *region;		/* the region */
	RtscanDeviceAgg *agg;		/* device aggregate to make of the region's rows, or NULL */
	bool		joins;			/* "agg" shares the words of the last aggregate before it that has words of its own */
	FilterPart	part;			/* PART_FIRST, or how to combine the region with those since the last PART_FIRST */
} RtscanDeviceRegion;

StaticAssertDecl(RTSCAN_ROUND_REGIONS <= DEVICE_MAX_SEGMENTS, "a request may name a segment several times");

/* Limits of a request, and memory for the request.  Only device_budget.c sets the members. */
typedef struct RtscanDeviceBudget
{
	bool		wanted;			/* a request should be sent for the part; see is_wanted() */
	bool		connected;		/* there was a connection before memory for the request was taken */
	bool		uploads_pay;	/* uploading all missing columns of the part has been found to pay */
	char	   *area;			/* memory shared with the device program */
	DeviceRequest request;		/* the message to the program; it has the offset of the answer in the area */
} RtscanDeviceBudget;

/* The state of a request and its answer.  Only device_exchange.c sets the members. */
typedef struct RtscanDeviceExchange
{
	bool		asked;			/* the request has been sent, and its reply has not been received */
	bool		retried;		/* the request has been repeated on a new connection */
	instr_time	start;			/* when the request was sent */
	DeviceReply reply;			/* the last reply */
	RtscanCounters work;		/* work of the device, including that of replies whose aggregates had no room */
} RtscanDeviceExchange;

/*
 * A device's part of a round.  Only device_collect.c sets the members, except those that a comment assigns to the
 * caller or to another file.
 */
typedef struct RtscanDevicePart
{
	int			device;			/* number of the device */
	bool		ready;			/* the device's program was running and ready when the round began */
	Relation	index;			/* the caller's: the index */
	const pg_uuid_t *uuid;		/* the caller's: the uuid of the index */
	/* the caller's: the group of adaptive_cost.h, a hash of the index, the columns and the number of regions */
	uint64		group;

	/*
	 * The beginning of the request.  The caller sets "executor", "prepare" and "build"; device_budget.c and
	 * device_exchange.c may change "executor" and "build".  Columns, intervals, conditions, digits and measures are
	 * counted as regions are added.
	 */
	EvaluateHeader header;
	int			nregions;		/* number of regions */
	RtscanDeviceRegion regions[RTSCAN_ROUND_REGIONS];	/* the regions to evaluate */

	/*
	 * Number of regions that the part would have if no device aggregates were made, and so no regions combined.  At
	 * most RTSCAN_ROUND_REGIONS, like nregions.
	 */
	int			own_regions;
	RtscanDeviceWords words;	/* the request's sets and maps */
	Size		body_size;		/* bytes of the request before its words */
	uint32		chunks;			/* number of chunks in the answer */
	uint64		agg_words;		/* words of device aggregates in the answer */
	double		searched;		/* number of chunks to search, counted once for each region */
	double		added;			/* number of chunks to add up, counted once for each column */
	double		tested;			/* number of chunks whose rows are tested, counted once for each condition */
	uint32		uploads;		/* number of columns that device_exchange.c has uploaded since the part was collected */
	RtscanDeviceBudget budget;	/* limits and memory of the request */
	RtscanDeviceExchange exchange;	/* the state of the request */
	/* reason why there is no answer, or NULL; device_budget.c, device_exchange.c or device_round.c sets it */
	const char *why;
} RtscanDevicePart;

/* The parts of a round, one for each device. */
typedef struct RtscanDeviceParts
{
	int			n;				/* number of devices */
	RtscanDevicePart *items;	/* the parts, by device */
} RtscanDeviceParts;

/*
 * Does a region belong to a filter that the device combines?  No rays are cast for a combined filter.  Its
 * alternatives are the regions of rtscan_list_alternatives(), not of scan->regions.
 */
static inline bool
rtscan_is_combined(const RtscanDeviceRegion *item)
{
	return item->part != PART_FIRST || (item->agg && item->scan->filter.ndisjunctions > 0);
}

/*
 * Can a segment be on a device?  Not if it has fewer rows than a chunk: then it has no sieve, and a request does not
 * pay.
 */
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

/* Return the device that a segment is assigned to.  The segment's reader must be open. */
static inline int
rtscan_device_of_scan(const RtscanSegmentScan *scan)
{
	return rtscan_device_of_segment(scan->reader.index, scan->entry->id);
}

#endif							/* RTSCAN_DEVICE_PART_H */
