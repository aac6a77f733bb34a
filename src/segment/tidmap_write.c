/* SPDX-License-Identifier: PostgreSQL */
/*
 * tidmap_write.c
 *		Write the tidmap.
 */
#include "segment/tidmap.h"

/*
 * Return the number of rows, from "first" on, that are in the same heap block.  Sets *dense to whether the rows'
 * offset numbers are consecutive, and the first one is less than RTSCAN_TIDMAP_SPARSE.
 */
static uint32
run_length(const ItemPointerData *tids, uint32 first, uint32 rows, bool *dense)
{
	BlockNumber block = ItemPointerGetBlockNumberNoCheck(&tids[first]);
	OffsetNumber offset = ItemPointerGetOffsetNumberNoCheck(&tids[first]);
	uint32		n = 0;

	*dense = offset < RTSCAN_TIDMAP_SPARSE;
	while (first + n < rows && ItemPointerGetBlockNumberNoCheck(&tids[first + n]) == block)
	{
		if (ItemPointerGetOffsetNumberNoCheck(&tids[first + n]) != offset + n)
			*dense = false;
		n++;
	}
	return n;
}

/* A page that is being written. */
typedef struct TidmapPage
{
	RtscanTidmapHeader header;	/* its header */
	RtscanTidmapRun runs[RTSCAN_CHUNK_BYTES / sizeof(RtscanTidmapRun)]; /* its runs */
	OffsetNumber pointers[RTSCAN_CHUNK_BYTES / sizeof(OffsetNumber)];	/* its line pointers, which will follow the
																		 * runs */
} TidmapPage;

static bool
page_has_room(const TidmapPage *page, uint32 rows, bool dense)
{
	Size		bytes = sizeof(RtscanTidmapHeader) + (page->header.runs + 1) * sizeof(RtscanTidmapRun) +
		(page->header.pointers + (dense ? 0 : rows)) * sizeof(OffsetNumber);

	return bytes <= RTSCAN_CHUNK_BYTES && page->header.rows + rows <= PG_UINT16_MAX;
}

static void
add_run(TidmapPage *page, const ItemPointerData *tids, uint32 rows, bool dense)
{
	RtscanTidmapRun *run = &page->runs[page->header.runs++];

	run->block = ItemPointerGetBlockNumberNoCheck(&tids[0]);
	run->row = page->header.rows;
	page->header.rows += rows;
	if (dense)
	{
		run->where = ItemPointerGetOffsetNumberNoCheck(&tids[0]);
		return;
	}
	run->where = RTSCAN_TIDMAP_SPARSE + page->header.pointers;
	for (uint32 i = 0; i < rows; i++)
		page->pointers[page->header.pointers++] = ItemPointerGetOffsetNumberNoCheck(&tids[i]);
}

static void
end_page(RtscanAreaWriter *writer, TidmapPage *page, StringInfo first_rows)
{
	char	   *room = rtscan_area_room(writer);
	Size		runs = page->header.runs * sizeof(RtscanTidmapRun);
	Size		pointers = page->header.pointers * sizeof(OffsetNumber);

	memcpy(room, &page->header, sizeof(RtscanTidmapHeader));
	memcpy(room + sizeof(RtscanTidmapHeader), page->runs, runs);
	memcpy(room + sizeof(RtscanTidmapHeader) + runs, page->pointers, pointers);
	rtscan_area_used(writer, sizeof(RtscanTidmapHeader) + runs + pointers);
	appendBinaryStringInfo(first_rows, (char *) &page->header.first_row, sizeof(uint32));
	page->header = (RtscanTidmapHeader) {.first_row = page->header.first_row + page->header.rows};
}

RtscanArea
rtscan_write_tidmap(RtscanAreaWriter *writer, const ItemPointerData *tids, uint32 rows,
					StringInfo first_rows)
{
	TidmapPage *page = palloc0(sizeof(TidmapPage));

	rtscan_area_begin(writer, RTSCAN_PAGE_TIDMAP);
	for (uint32 row = 0; row < rows;)
	{
		bool		dense;
		uint32		n = run_length(tids, row, rows, &dense);

		if (!dense)
			n = Min(n, 2048);	/* a block of another table access method may have more rows than a page has room for */
		n = Min(n, PG_UINT16_MAX);
		if (!page_has_room(page, n, dense))
			end_page(writer, page, first_rows);
		add_run(page, &tids[row], n, dense);
		row += n;
	}
	end_page(writer, page, first_rows);
	pfree(page);
	return rtscan_area_end(writer);
}
