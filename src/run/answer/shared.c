/* SPDX-License-Identifier: PostgreSQL */
/*
 * shared.c
 *		Share one image of the index, the division of its segments, and totals among the processes of a parallel query.
 */
#include "run/answer/shared.h"

#include "port/pg_bitutils.h"
#include "search/exec/stats.h"
#include "search/visible/page_worker.h"

static Size
image_size(const RtscanImage *image)
{
	return MAXALIGN(rtscan_image_size(image));
}

Size
rtscan_shared_size(const RtscanImage *image)
{
	return offsetof(RtscanShared, data) + image_size(image) + image->nentries * sizeof(pg_atomic_uint32);
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
rtscan_share(RtscanShared *shared, int processes, const RtscanVisibility *visibility, const RtscanImage *image,
			 const RtscanTotals *totals)
{
	SpinLockInit(&shared->mutex);
	shared->totals = *totals;
	shared->search.processes = processes;
	shared->blocks = visibility->check.blocks;
	memcpy(shared->data, image, rtscan_image_size(image));
	for (int i = 0; i < RTSCAN_SHOWN_DIMENSIONS; i++)
		dsa_pointer_atomic_init(&shared->found[i], InvalidDsaPointer);
	begin_search(shared);
}

/* Free the bitmaps of the keys found, and set the totals of keys and codes found to 0: each answer counts anew. */
static void
forget_found(RtscanShared *shared, dsa_area *area)
{
	for (int i = 0; i < RTSCAN_SHOWN_DIMENSIONS; i++)
	{
		dsa_pointer bits = dsa_pointer_atomic_read(&shared->found[i]);

		if (DsaPointerIsValid(bits))
			dsa_free(area, bits);
		dsa_pointer_atomic_write(&shared->found[i], InvalidDsaPointer);
		shared->totals.dimensions[i].keys_found = shared->totals.dimensions[i].codes = 0;
	}
}

void
rtscan_reset_shared(RtscanShared *shared, dsa_area *area)
{
	forget_found(shared, area);
	begin_search(shared);
}

const RtscanImage *
rtscan_use_shared(RtscanShared *shared, Relation heap, Relation index, Snapshot snapshot, bool reads_only,
				  RtscanVisibility *visibility)
{
	const RtscanImage *image = (const RtscanImage *) shared->data;

	rtscan_join_visibility(visibility, heap, index, snapshot, reads_only, shared->blocks, image);
	return image;
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

/*
 * A shared bitmap of the keys of a dimension that have been found.  The process that makes the bitmap chooses its
 * length.  If the dimension is sampled (TABLESAMPLE), other processes may have different keys, and different numbers
 * of keys.
 */
typedef struct FoundKeys
{
	uint32		words;			/* length in words */
	pg_atomic_uint64 bits[FLEXIBLE_ARRAY_MEMBER];
} FoundKeys;

/* Return the shared bitmap of a dimension.  The first process that calls this makes the bitmap, with "words" words. */
static FoundKeys *
common_keys(dsa_area *area, dsa_pointer_atomic *place, uint32 words)
{
	dsa_pointer none = InvalidDsaPointer,
				bits = dsa_pointer_atomic_read(place);
	FoundKeys  *made;

	if (DsaPointerIsValid(bits))
		return dsa_get_address(area, bits);
	bits = dsa_allocate_extended(area, offsetof(FoundKeys, bits) + words * sizeof(pg_atomic_uint64), DSA_ALLOC_HUGE);
	made = dsa_get_address(area, bits);
	made->words = words;
	for (uint32 i = 0; i < words; i++)
		pg_atomic_init_u64(&made->bits[i], 0);
	if (dsa_pointer_atomic_compare_exchange(place, &none, bits))
		return made;
	dsa_free(area, bits);
	return dsa_get_address(area, none);
}

/*
 * Add the keys of a dimension that this process has found to the shared bitmap, and return how many of these keys no
 * process had added before.
 */
static uint64
share_found(const RtscanQuestion *question, int number)
{
	const RtscanDimension *dimension = question->dimensions[number];
	uint32		words = dimension->n / 64 + 1;
	FoundKeys  *common;
	uint64		n = 0;

	if (dimension->trace == NULL || dimension->trace->keys_found == 0)
		return 0;
	/* Without shared memory there are no other processes. */
	if (question->area == NULL)
		return dimension->trace->keys_found;
	common = common_keys(question->area, &question->shared->found[number], words);
	for (uint32 i = 0; i < words; i++)
	{
		uint64		found = dimension->trace->found[i];

		if (found != 0 && i < common->words)
			found &= ~pg_atomic_fetch_or_u64(&common->bits[i], found);
		n += pg_popcount64(found);
	}
	return n;
}

/*
 * Add numbers of keys and codes to the totals.  If "in_part" is true, this process has looked up keys in its part of
 * the segments only, and its numbers are added to those of other processes.  If not, each process has looked up all
 * keys in all segments, so its numbers replace those of other processes.
 */
static void
add_key_counts(RtscanDimensionTotals *totals, RtscanTrace *trace, bool in_part, uint64 keys_found)
{
	totals->keys_found = in_part ? totals->keys_found + keys_found : trace->keys_found;
	totals->codes = in_part ? totals->codes + trace->codes : trace->codes;
	if (in_part)
		trace->codes = trace->keys_found = 0;
}

static void
add_dimension(RtscanDimensionTotals *totals, RtscanDimension *dimension, bool in_part, uint64 keys_found)
{
	RtscanTrace *trace = dimension->trace;

	if (trace == NULL)
		return;
	totals->keys = dimension->all;
	totals->ranges = dimension->range + 1;
	add_key_counts(totals, trace, in_part, keys_found);
	for (int i = 0; i < RTSCAN_WAYS; i++)
		totals->segments[i] += trace->segments[i];
	totals->rows += trace->rows;
	memset(trace->segments, 0, sizeof(trace->segments));
	trace->rows = 0;
}

void
rtscan_add_totals(const RtscanQuestion *question, const RtscanSearch *search, const RtscanHeapWork *work,
				  uint64 filtered_rows, uint64 single_rows)
{
	RtscanTotals *totals = question->shared ? &question->shared->totals : question->totals;
	int			ndimensions = Min(question->ndimensions, RTSCAN_SHOWN_DIMENSIONS);
	uint64		keys_found[RTSCAN_SHOWN_DIMENSIONS] = {0};

	for (int i = 0; i < ndimensions && search->choice.looks_up_late; i++)
		keys_found[i] = share_found(question, i);
	if (question->shared)
		SpinLockAcquire(&question->shared->mutex);
	totals->executor = Max(totals->executor, search->executor);
	totals->searched = true;
	totals->segments += search->stats.counters.segments;
	totals->skipped_segments += search->stats.counters.skipped_segments;
	totals->cpu_segments += search->stats.counters.cpu_segments;
	totals->device_agg_rows += search->stats.counters.device_agg_rows;
	totals->not_on_device = Max(totals->not_on_device, question->totals->not_on_device);
	totals->rays += search->stats.counters.rays;
	totals->chunks_skipped += search->stats.counters.chunks_skipped;
	totals->pending_rows += search->stats.pending_rows;
	rtscan_add_heap_work(&totals->heap, work);
	totals->filtered_rows += filtered_rows;
	totals->single_rows += single_rows;
	for (int i = 0; i < ndimensions; i++)
		add_dimension(&totals->dimensions[i], question->dimensions[i], search->choice.looks_up_late, keys_found[i]);
	if (question->shared)
		SpinLockRelease(&question->shared->mutex);
	rtscan_count_heap_pages(search->executor, work->looked_into, work->remembered);
	if (question->heap)
		rtscan_note_question(question->heap);
}
