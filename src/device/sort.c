/* SPDX-License-Identifier: PostgreSQL */
/*
 * sort.c
 *		Sort a column's keys on a device, for CREATE INDEX and merges.
 */
#include "device/sort.h"

#include "device/adaptive_cost.h"
#include "device/build.h"
#include "port/pg_bitutils.h"

/*
 * Hash a pair.  The shifts let every bit of the key affect other bits of the hash.  A multiplication alone would
 * leave the highest bit in its place.
 */
static inline uint64
hash_pair(const SortPair *pair)
{
	uint64		hash = pair->key * UINT64CONST(0x9E3779B97F4A7C15);

	hash = ((hash ^ hash >> 32) + pair->value) * UINT64CONST(0xC2B2AE3D27D4EB4F);
	return hash ^ hash >> 29;
}

/* The keys and rows of a request. */
typedef struct SortRequest
{
	uint64		differing;		/* bits in which some keys differ */
	uint64		hash;			/* sum of the pairs' hashes, which does not depend on their order */
} SortRequest;

/* Write the keys and rows to the area, in row order. */
static SortRequest
write_pairs(const RtscanSortedColumn *column, SortPair *area)
{
	SortRequest request = {0, 0};
	uint64		first = rtscan_row_key(column, column->order[0]);

	for (uint32 i = 0; i < column->nonnull; i++)
	{
		SortPair	pair = {.key = rtscan_row_key(column, column->order[i]), .value = column->order[i]};

		request.differing |= pair.key ^ first;
		request.hash += hash_pair(&pair);
		area[i] = pair;
	}
	return request;
}

/*
 * Read the sorted rows from the area.  Returns false if they are not in order, or are not the rows of the request, by
 * the sum of their hashes: what is read is stored permanently.  Each pair is copied before it is checked, since the
 * program may still write to the area.
 */
static bool
read_pairs(RtscanSortedColumn *column, const volatile SortPair *area, const SortRequest *request)
{
	SortPair	before = {0};
	uint64		hash = 0;

	for (uint32 rank = 0; rank < column->nonnull; rank++)
	{
		SortPair	pair = {.key = area[rank].key, .value = area[rank].value};
		bool		starts = rank == 0 || pair.key != before.key;

		if (rank > 0 && (pair.key < before.key || (!starts && pair.value <= before.value)))
			return false;
		column->order[rank] = pair.value;
		if (starts)
			rtscan_start_value(column, rank);
		hash += hash_pair(&pair);
		before = pair;
	}
	return hash == request->hash;
}

static bool
accept_pairs(RtscanSortedColumn *column, const volatile SortPair *area, const SortRequest *request)
{
	if (read_pairs(column, area, request))
		return true;
	rtscan_reset_order(column);
	ereport(WARNING,
			(errmsg("rtscan device returned wrongly sorted keys"),
			 errdetail("The CPU sorts them instead."),
			 errhint("Set rtscan.device to \"off\", and check the device and its driver.")));
	return false;
}

bool
rtscan_device_sort(RtscanSortedColumn *column)
{
	uint32		n = column->nonnull;
	DeviceRequest message = {.kind = DEVICE_SORT, .size = n};
	SortRequest request;
	int			device;
	char	   *area = rtscan_device_build_area(n, (Size) n * sizeof(SortPair), &device);

	if (area == NULL)
		return false;
	request = write_pairs(column, (SortPair *) area);
	if (request.differing == 0)
	{
		rtscan_device_end_turn();
		rtscan_start_value(column, 0);
		return true;
	}
	message.first_bit = pg_rightmost_one_pos64(request.differing);
	message.bits = pg_leftmost_one_pos64(request.differing) + 1 - message.first_bit;
	return rtscan_device_ask_for_build(device, &message) &&
		accept_pairs(column, (const volatile SortPair *) area, &request);
}
