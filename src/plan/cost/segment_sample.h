/* SPDX-License-Identifier: PostgreSQL */
/*
 * segment_sample.h
 *		Takes a sample of an index's segments.
 */
#ifndef RTSCAN_SEGMENT_SAMPLE_H
#define RTSCAN_SEGMENT_SAMPLE_H

#include "rtscan.h"

#include "search/filter/filter.h"
#include "storage/directory.h"

/* A sample has at most this many segments. */
#define RTSCAN_MOST_SAMPLED	32

typedef struct RtscanLiveSegment
{
	const RtscanEntry *entry;	/* its entry in the directory */
	const RtscanKeyBounds *bounds;	/* the least and greatest key of each key column */
} RtscanLiveSegment;

/* The live segments of an image. */
typedef struct RtscanLiveSegments
{
	uint32		n;				/* number of segments */
	RtscanLiveSegment *segments;	/* the segments, in the order of the directory */
} RtscanLiveSegments;

/* A sample of segments. */
typedef struct RtscanSegmentSample
{
	uint32		n;				/* number of segments in the sample */
	const RtscanLiveSegment *segments[RTSCAN_MOST_SAMPLED]; /* the segments in the sample */
	uint32		of;				/* number of segments from which the sample has been taken */
	double		part;			/* fraction of the rows of all "of" segments that are in the sample */
} RtscanSegmentSample;

/* List the live segments of an image, in the current memory context.  The list refers to the image. */
extern RtscanLiveSegments rtscan_live_segments(const RtscanImage *image);

/*
 * Take a sample of the segments in which a filter may find rows; of all live segments if "filter" is NULL.  If there
 * are more than "most" segments, the sample has "most" of them, the largest and the newest.  Otherwise it has all of
 * them.
 */
extern RtscanSegmentSample rtscan_sample_segments(const RtscanLiveSegments *live, const RtscanFilter *filter,
												  uint32 most);

#endif							/* RTSCAN_SEGMENT_SAMPLE_H */
