/*
 * segment_scan.h
 *		A segment that is searched: what its filter is, what is wanted of it, and how far it is.
 */
#ifndef RTSCAN_SEGMENT_SCAN_H
#define RTSCAN_SEGMENT_SCAN_H

#include "rtscan.h"

#include "portability/instr_time.h"
#include "search/filter/region.h"
#include "segment/segment.h"
#include "storage/metapage.h"

/*
 * What the CPU takes by its costs (cpu_parts.h), in nanoseconds: to look at one page after another, which is as slow as memory is, and to look at
 * rows here and there.
 */
typedef struct RtscanCpuPrice
{
	double		pages;
	double		rows;
} RtscanCpuPrice;

/* A segment that a scan has to evaluate. */
typedef struct RtscanSegmentScan
{
	const RtscanEntry *entry;
	uint64		bound;			/* RtscanSegmentBound */
	bool		skipped;		/* its bounds say that no row matches: it is not opened, and its filter is empty */
	RtscanReader reader;
	bool		looked_up;		/* the reader is open, and the filter known: */
	RtscanSegmentFilter filter;
	void	   *prepared;		/* the caller's */
	bool		want_bits;		/* counts are not enough */
	bool		takes_list;		/* RtscanRowBits */
	bool		takes_ranks;	/* who takes its rows from ranks of a column of the region needs no bits: the CPU makes none */
	struct RtscanTally *tally;	/* that is wanted in place of the bits of some rows (tally.h), or NULL; its words say whether it has been made */
	RtscanCpuPrice price;		/* of its filter's regions, if it has been asked for */
	int			nregions;		/* of the filter, in any order: each may be evaluated by another executor than the CPU, */
	RtscanRegion **regions;		/* which combines them, */
	bool		combined;		/* unless that executor has: then the filter's region has the bits of all of the filter */
	bool		lost;			/* they were, and the bits had to make room */
	bool		left_to_cpu;	/* wholly or in part */
	bool		leaves_lookups;	/* long conditions on keys, which the CPU had better look up, have been left to who tests rows for them */
	bool		shared;			/* another process's, of whose rows this one has taken some */
	instr_time	seen;			/* since when that process has been seen at work on its rows; or zero */
} RtscanSegmentScan;

/* Make the list of the filter's regions, in the current memory context. */
extern void rtscan_list_regions(RtscanSegmentScan *scan);

/* Are all rows asked for?  Then there is no region: the CPU has all bits.  For a tally there can be one, without columns. */
extern bool rtscan_asks_for_all(const RtscanSegmentScan *scan);
extern void rtscan_list_everything(RtscanSegmentScan *scan, bool wanted);

/* How many regions of a segment may be left to another executor than the CPU; so many of a round for each device. */
#define RTSCAN_ROUND_REGIONS	64

/* Segments that are evaluated together, at most, for each device. */
#define RTSCAN_ROUND_SEGMENTS	32

#endif							/* RTSCAN_SEGMENT_SCAN_H */
