/* SPDX-License-Identifier: PostgreSQL */
/*
 * sort.c
 *		Sort a column's keys on a device, for CREATE INDEX and merges.
 */
#include "device/sort.h"

#include "device/adaptive_cost.h"
#include "device/build.h"
#include "port/pg_bitutils.h"

StaticAssertDecl(sizeof(RtscanSorted) == sizeof(SortPair) &&
				 offsetof(RtscanSorted, row) == offsetof(SortPair, value),
				 "the device sorts the same elements");

/* Return a mask of the bits in which some keys differ. */
static uint64
differing_bits(const SortPair *pairs, uint32 n)
{
	uint64		differing = 0;

	for (uint32 i = 1; i < n; i++)
		differing |= pairs[i].key ^ pairs[0].key;
	return differing;
}

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

/* Return the sum of the pairs' hashes, which does not depend on their order. */
static uint64
hash_pairs(const SortPair *pairs, uint32 n)
{
	uint64		sum = 0;

	for (uint32 i = 0; i < n; i++)
		sum += hash_pair(&pairs[i]);
	return sum;
}

/*
 * Check the device's result before it is stored permanently: is "sorted" in order, and does it have the same pairs,
 * by the sum of their hashes?
 */
static bool
is_sorted(const SortPair *pairs, const SortPair *sorted, uint32 n)
{
	for (uint32 i = 1; i < n; i++)
		if (sorted[i - 1].key > sorted[i].key ||
			(sorted[i - 1].key == sorted[i].key && sorted[i - 1].value >= sorted[i].value))
			return false;
	return hash_pairs(pairs, n) == hash_pairs(sorted, n);
}

bool
rtscan_device_sort(const RtscanSorted *unsorted, RtscanSorted *sorted, uint32 n)
{
	const SortPair *pairs = (const SortPair *) unsorted;
	Size		size = (Size) n * sizeof(SortPair);
	uint64		bits;
	DeviceRequest request = {.kind = DEVICE_SORT, .size = n};
	int			device;
	char	   *area = rtscan_device_build_area(n, size, &device);

	if (area == NULL)
		return false;
	bits = differing_bits(pairs, n);
	if (bits == 0)
	{
		rtscan_device_end_turn();
		memcpy(sorted, pairs, size);
		return true;
	}
	request.first_bit = pg_rightmost_one_pos64(bits);
	request.bits = pg_leftmost_one_pos64(bits) + 1 - request.first_bit;
	memcpy(area, pairs, size);
	if (!rtscan_device_ask_for_build(device, &request))
		return false;
	/* copy before checking, since the program may still write to the area */
	memcpy(sorted, area, size);
	if (is_sorted(pairs, (const SortPair *) sorted, n))
		return true;
	ereport(WARNING,
			(errmsg("rtscan device returned wrongly sorted keys"),
			 errdetail("The CPU sorts them instead."),
			 errhint("Set rtscan.device to \"off\", and check the device and its driver.")));
	return false;
}
