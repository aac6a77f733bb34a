/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_bits.c
 *		Save the bits that a round has left in the devices' areas, before the areas get other content.
 */
#include "search/gpu/device_bits.h"

#include "device/device.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* Copy bits from an area to "words", and set bits->words to the copy. */
static void
move_bits(RtscanRowBits *bits, uint64 *words)
{
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		if (bits->filled[chunk])
			memcpy(words + (Size) chunk * RTSCAN_CHUNK_WORDS, rtscan_bits_chunk(bits, chunk), RTSCAN_CHUNK_BYTES);
	bits->words = words;
}

/*
 * Save bits of a segment whose bits the search has not read, or record in scan->progress that they are lost.  *left
 * is the number of bytes that may still be allocated.
 */
static void
save_bits(RtscanRound *round, RtscanSegmentScan *scan, RtscanRowBits *bits, Size *left)
{
	Size		size = bits ? (Size) bits->chunks * RTSCAN_CHUNK_BYTES : 0;
	char	   *room = NULL;

	if (bits == NULL || bits->words == NULL)
		return;
	if (size <= *left)
		room = MemoryContextAllocExtended(round->saved, size + PG_CACHE_LINE_SIZE, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
	*left = room ? *left - size : 0;
	if (room)
		move_bits(bits, (uint64 *) TYPEALIGN(PG_CACHE_LINE_SIZE, room));
	else
		scan->progress.lost = true;
}

static void
save_segment(RtscanRound *round, RtscanSegmentScan *scan, Size *left)
{
	if (scan->progress.combined)
		save_bits(round, scan, scan->filter.region.evaluated, left);
	for (int i = 0; i < scan->nregions && !scan->progress.combined; i++)
		save_bits(round, scan, scan->regions[i]->evaluated, left);
}

/* RtscanAreaSaver: an area is about to get other content.  This must not raise an error. */
static void
save_round(void *arg)
{
	RtscanRound *round = (RtscanRound *) arg;
	Size		left = work_mem * (Size) 1024;

	for (int i = round->next; i < round->nscans; i++)
		save_segment(round, &round->scans[i], &left);
}

/* MemoryContextCallbackFunction: the search ends, so its bits need not be saved. */
static void
forget_round(void *arg)
{
	rtscan_device_leave_area(arg);
}

void
rtscan_keep_round_bits(RtscanRound *round)
{
	if (round->forget.func == NULL)
	{
		round->forget = (MemoryContextCallback) {.func = forget_round, .arg = round};
		MemoryContextRegisterResetCallback(round->scratch.context, &round->forget);
	}
	rtscan_device_keep_area(save_round, round);
}
