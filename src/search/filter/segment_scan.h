/* SPDX-License-Identifier: PostgreSQL */
/*
 * segment_scan.h
 *		A segment that is being searched: its filter, what the caller needs of it, and how far it has been
 *		evaluated.
 */
#ifndef RTSCAN_SEGMENT_SCAN_H
#define RTSCAN_SEGMENT_SCAN_H

#include "rtscan.h"

#include "portability/instr_time.h"
#include "search/filter/region.h"
#include "segment/segment.h"
#include "storage/metapage.h"

/* The estimated time of the CPU, in nanoseconds (cpu_parts.h). */
typedef struct RtscanCpuPrice
{
	double		pages;			/* time to read whole pages, one after another, at the speed of memory */
	double		rows;			/* time to read single rows at random places */
} RtscanCpuPrice;

/*
 * The answer that the search's caller wants for a segment.  The caller sets it when the segment is looked up, but "agg"
 * later (rtscan_cursor_offer_device_aggs()).  rtscan_begin_again() clears takes_ranks, so that an executor other than
 * the CPU finds the bits.
 */
typedef struct RtscanSegmentAsked
{
	void	   *prepared;		/* data of the caller */
	bool		want_bits;		/* the caller needs row bits, not only counts */
	bool		takes_list;		/* the caller accepts few rows as a list (RtscanRowBits) */
	bool		takes_ranks;	/* the caller reads the rows by their ranks in a column of the region, so the CPU
								 * makes no bits */

	/*
	 * device aggregate (device_aggregate.h) that the caller wants in place of the bits of some rows; NULL: none is
	 * wanted.  Its member "made" tells whether the aggregate has been made.
	 */
	struct RtscanDeviceAgg *agg;
} RtscanSegmentAsked;

/*
 * The progress of executors with a segment.  Executors, and the rounds that call them, set it.  The search sets "price"
 * and "leaves_lookups" when it looks the segment up.
 */
typedef struct RtscanSegmentProgress
{
	RtscanCpuPrice price;		/* estimate for the filter's regions; 0 until it is needed */
	bool		combined;		/* an executor other than the CPU has combined the regions: the filter's own region
								 * has the bits of the whole filter */
	bool		lost;			/* bits that another executor had found were dropped to make room, so the segment has
								 * to be evaluated again */
	bool		left_to_cpu;	/* the CPU has evaluated the segment, or a part of its filter */
	bool		leaves_lookups; /* conditions on key columns that the CPU would look up have been left to another
								 * executor, which tests rows for them */
} RtscanSegmentProgress;

/* The state of a segment that several processes search together.  Only the search sets it. */
typedef struct RtscanSegmentSharing
{
	bool		other;			/* the segment belongs to another process, from which this process has taken some
								 * rows */
	instr_time	seen;			/* when another process was first seen at work on the segment's rows; zero: not yet */
} RtscanSegmentSharing;

/*
 * A segment that a search has to evaluate.  The search's caller sets "asked"; executors, rounds and the search set
 * "progress"; and the search sets all other members.
 */
typedef struct RtscanSegmentScan
{
	const RtscanEntry *entry;	/* its entry in the directory */
	uint64		bound;			/* sort key of the segment, if the search takes segments in an order
								 * (RtscanSegmentBound) */
	bool		skipped;		/* the bounds of its keys exclude all rows: it is not opened, and its filter is empty */
	bool		looked_up;		/* the filter is known and, unless the segment is skipped, the reader is open */
	RtscanReader reader;		/* reader of the segment */
	RtscanSegmentFilter filter; /* meaning of the filter in this segment */
	int			nregions;		/* number of regions of the filter */
	RtscanRegion **regions;		/* the regions, in any order; an executor other than the CPU may evaluate each
								 * region; the CPU combines their bits, unless progress.combined is set */
	RtscanSegmentAsked asked;
	RtscanSegmentProgress progress;
	RtscanSegmentSharing sharing;
} RtscanSegmentScan;

/* Set nregions and regions, in the current memory context. */
extern void rtscan_list_regions(RtscanSegmentScan *scan);

/* Do all rows match?  Then the filter has no region to evaluate, and the CPU sets all bits. */
extern bool rtscan_asks_for_all(const RtscanSegmentScan *scan);

/*
 * If all rows match, make the filter's region, which has no columns, the only one that has to be evaluated, so that an
 * executor can aggregate all rows.  If "wanted" is false, remove this region from the list again.
 */
extern void rtscan_list_everything(RtscanSegmentScan *scan, bool wanted);

/* The most regions that an executor other than the CPU evaluates: in a segment, and in a round for each device. */
#define RTSCAN_ROUND_REGIONS	64

/* The most segments that are evaluated together, for each device. */
#define RTSCAN_ROUND_SEGMENTS	32

#endif							/* RTSCAN_SEGMENT_SCAN_H */
