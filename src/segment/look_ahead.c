/* SPDX-License-Identifier: PostgreSQL */
/*
 * look_ahead.c
 *		Prefetch the elements of rows.
 */
#include "segment/look_ahead.h"

#include "bits/packed.h"
#include "bits/prefetch.h"

/* The distance of prefetching, in rows. */
#define ROWS_AHEAD		256

/* The least average distance between the elements of successive rows, in bits, for which prefetching is worth while. */
#define SPARSE_BITS		256

RtscanLookAhead
rtscan_begin_looking_ahead(const RtscanArea *area, uint32 first_page, uint32 first_row, uint32 bits, const uint32 *rows,
						   uint32 n)
{
	bool		sparse = n > 0 && (uint64) (rows[n - 1] - rows[0]) * bits / n >= SPARSE_BITS;

	return (RtscanLookAhead) {area, first_page, first_row, bits, rows, n, .seen = sparse ? 0 : n};
}

/*
 * Prefetch the elements of rows[from .. end - 1], as far as they are on the page of the first one.  Returns the index
 * of the first row whose element is not on that page.
 */
static uint32
prefetch_elements(RtscanReader *reader, const RtscanLookAhead *ahead, uint32 from, uint32 end)
{
	uint32		per_page = rtscan_packed_per_page(ahead->bits);
	uint32		page = (ahead->rows[from] - ahead->first_row) / per_page;
	uint32		first_row = ahead->first_row + page * per_page;
	const char *payload = rtscan_recent_payload(reader, ahead->area, ahead->first_page + page);

	rtscan_prefetch_head(reader, ahead->area, ahead->first_page + page);
	for (; from < end && ahead->rows[from] - first_row < per_page; from++)
		if (payload)
			RTSCAN_PREFETCH_FAR(payload + (Size) (ahead->rows[from] - first_row) * ahead->bits / 8);
	return from;
}

void
rtscan_look_ahead(RtscanReader *reader, RtscanLookAhead *ahead, uint32 i)
{
	uint32		end = Min(ahead->n, i + ROWS_AHEAD);

	while (ahead->seen < end)
		ahead->seen = prefetch_elements(reader, ahead, ahead->seen, end);
}
