/*
 * shared.c
 *		What the processes of a parallel query share.
 */
#include "run/shared.h"

static Size
image_size(const RtscanImage *image)
{
	return MAXALIGN(rtscan_image_size(image->nentries));
}

/* The image, and a number for each segment that it may have. */
static Size
size_before_map(const RtscanImage *image)
{
	return image_size(image) + MAXALIGN(image->nentries * sizeof(pg_atomic_uint32));
}

Size
rtscan_shared_size(const RtscanVisibility *visibility, const RtscanImage *image)
{
	return offsetof(RtscanShared, data) + size_before_map(image) + visibility->map_size;
}

static void
begin_search(RtscanShared *shared)
{
	const RtscanImage *image = (const RtscanImage *) shared->data;
	pg_atomic_uint32 *next_chunks = (pg_atomic_uint32 *) (shared->data + image_size(image));

	shared->search.next_chunks = (char *) next_chunks - (char *) &shared->search;
	for (uint32 i = 0; i < image->nentries; i++)
		pg_atomic_init_u32(&next_chunks[i], 0);
	pg_atomic_init_u32(&shared->search.next_segment, 0);
	pg_atomic_init_u32(&shared->search.pending, 0);
	pg_atomic_init_u32(&shared->search.kept, 0);
}

void
rtscan_share(RtscanShared *shared, const RtscanVisibility *visibility, const RtscanImage *image,
			 const RtscanTotals *totals)
{
	SpinLockInit(&shared->mutex);
	shared->totals = *totals;
	shared->first_unsafe_list = visibility->first_unsafe_list;
	shared->blocks = visibility->blocks;
	shared->map_size = visibility->map_size;
	shared->map_start = size_before_map(image);
	memcpy(shared->data, image, rtscan_image_size(image->nentries));
	if (visibility->map_size > 0)
		memcpy(shared->data + shared->map_start, visibility->map, visibility->map_size);
	begin_search(shared);
}

void
rtscan_reset_shared(RtscanShared *shared)
{
	begin_search(shared);
}

const RtscanImage *
rtscan_use_shared(RtscanShared *shared, Relation heap, Relation index, Snapshot snapshot, RtscanVisibility *visibility)
{
	*visibility = (RtscanVisibility) {
		.heap = heap,
		.index = index,
		.snapshot = snapshot,
		.first_unsafe_list = shared->first_unsafe_list,
		.blocks = shared->blocks,
		.map = (uint8 *) shared->data + shared->map_start,
		.map_size = shared->map_size,
	};
	return (const RtscanImage *) shared->data;
}

RtscanTotals
rtscan_shared_totals(RtscanShared *shared)
{
	RtscanTotals totals;

	SpinLockAcquire(&shared->mutex);
	totals = shared->totals;
	SpinLockRelease(&shared->mutex);
	return totals;
}

/* All processes look up all keys, each in its part of the rows. */
static void
add_dimension(RtscanDimensionTotals *totals, RtscanDimension *dimension)
{
	RtscanTrace *trace = dimension->trace;

	if (trace == NULL)
		return;
	totals->keys = dimension->all;
	totals->ranges = dimension->range + 1;
	totals->keys_found = trace->keys_found;
	totals->codes = trace->codes;
	for (int i = 0; i < RTSCAN_WAYS; i++)
		totals->segments[i] += trace->segments[i];
	totals->rows += trace->rows;
	memset(trace->segments, 0, sizeof(trace->segments));
	trace->rows = 0;
}

void
rtscan_add_totals(const RtscanQuestion *question, const RtscanSearch *search, uint64 heap_fetches,
				  uint64 filtered_rows, uint64 single_rows)
{
	RtscanTotals *totals = question->shared ? &question->shared->totals : question->totals;

	if (question->shared)
		SpinLockAcquire(&question->shared->mutex);
	totals->executor = Max(totals->executor, search->executor);
	totals->searched = true;
	totals->segments += search->stats.counters.segments;
	totals->cpu_segments += search->stats.counters.cpu_segments;
	totals->rays += search->stats.counters.rays;
	totals->chunks_skipped += search->stats.counters.chunks_skipped;
	totals->pending_rows += search->stats.pending_rows;
	totals->heap_fetches += heap_fetches;
	totals->filtered_rows += filtered_rows;
	totals->single_rows += single_rows;
	for (int i = 0; i < Min(question->ndimensions, RTSCAN_SHOWN_DIMENSIONS); i++)
		add_dimension(&totals->dimensions[i], question->dimensions[i]);
	if (question->shared)
		SpinLockRelease(&question->shared->mutex);
}
