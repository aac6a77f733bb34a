/* SPDX-License-Identifier: PostgreSQL */
/*
 * segment_sample.c
 *		Takes a sample of an index's segments.
 */
#include "plan/cost/segment_sample.h"

/*
 * The number of segments in a sample of "most" segments that are chosen because they are the largest.  The rest of the
 * sample are the newest segments: some values occur only in new rows.
 */
#define LARGEST_OF(most)	((most) * 3 / 4)

RtscanLiveSegments
rtscan_live_segments(const RtscanImage *image)
{
	RtscanLiveSegments live = {.segments = palloc(Max(image->nentries, 1) * sizeof(RtscanLiveSegment))};

	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_live(&image->entries[i]))
			live.segments[live.n++] = (RtscanLiveSegment) {&image->entries[i], rtscan_image_bounds(image, i)};
	return live;
}

/*
 * Insert a segment into an array that the function "rank" sorts, the greatest first.  If the array has more than "most"
 * segments then, drop the last one.
 */
static void
keep_greatest(const RtscanLiveSegment **kept, uint32 *n, uint32 most, const RtscanLiveSegment *segment,
			  uint64 (*rank) (const RtscanLiveSegment *))
{
	uint32		place = *n;

	if (*n == most && rank(kept[most - 1]) >= rank(segment))
		return;
	if (*n == most)
		place--;
	else
		(*n)++;
	for (; place > 0 && rank(kept[place - 1]) < rank(segment); place--)
		kept[place] = kept[place - 1];
	kept[place] = segment;
}

static uint64
rows_of(const RtscanLiveSegment *segment)
{
	return segment->entry->rows;
}

static uint64
id_of(const RtscanLiveSegment *segment)
{
	return segment->entry->id;
}

static bool
is_among(const RtscanLiveSegment *const *segments, uint32 n, const RtscanLiveSegment *segment)
{
	for (uint32 i = 0; i < n; i++)
		if (segments[i] == segment)
			return true;
	return false;
}

static double
count_rows(const RtscanLiveSegment *const *segments, uint32 n)
{
	double		rows = 0;

	for (uint32 i = 0; i < n; i++)
		rows += segments[i]->entry->rows;
	return rows;
}

/* Take all segments if there are no more than "most", or else the largest and the newest. */
static RtscanSegmentSample
take_sample(const RtscanLiveSegment *const *segments, uint32 n, uint32 most)
{
	RtscanSegmentSample sample = {.of = n};
	uint32		largest = 0;
	double		sampled;

	for (uint32 i = 0; i < n; i++)
		keep_greatest(sample.segments, &largest, n > most ? LARGEST_OF(most) : most, segments[i], rows_of);
	for (uint32 i = 0; i < n && n > most; i++)
		if (!is_among(sample.segments, largest, segments[i]))
			keep_greatest(sample.segments + largest, &sample.n, most - LARGEST_OF(most), segments[i], id_of);
	sample.n += largest;
	sampled = count_rows(sample.segments, sample.n);
	sample.part = sampled > 0 ? sampled / count_rows(segments, n) : 1;
	return sample;
}

RtscanSegmentSample
rtscan_sample_segments(const RtscanLiveSegments *live, const RtscanFilter *filter, uint32 most)
{
	const RtscanLiveSegment **matching = palloc(Max(live->n, 1) * sizeof(RtscanLiveSegment *));
	uint32		n = 0;
	RtscanSegmentSample sample;

	for (uint32 i = 0; i < live->n; i++)
		if (filter == NULL ||
			rtscan_filter_may_match(filter, live->segments[i].entry, live->segments[i].bounds))
			matching[n++] = &live->segments[i];
	sample = take_sample(matching, n, most);
	pfree(matching);
	return sample;
}
