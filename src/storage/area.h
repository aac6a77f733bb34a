/* SPDX-License-Identifier: PostgreSQL */
/*
 * area.h
 *		The arrays of a segment, and how they are written.
 *
 * A segment's pages have ordinals 0, 1, 2, ...; the segment's descriptor maps them to blocks.  An area is one array:
 * pages of one kind with consecutive ordinals.  An area that is smaller than a page shares a page with other areas:
 *
 *	several pages		│ ordinal 7, offset 0 │ ordinal 8 │ ordinal 9 │
 *	one shared page		│ ... other areas ... │ ordinal 3, offset 640 │ ... │
 *
 * Fixed-width elements do not cross pages: element i is on page i / per_page.
 */
#ifndef RTSCAN_AREA_H
#define RTSCAN_AREA_H

#include "rtscan.h"

#include "storage/page.h"
#include "storage/writing.h"

typedef struct RtscanArea
{
	uint32		page;			/* ordinal of the first page */
	uint32		offset;			/* offset in bytes in the first page's payload; 0 unless the area is on a shared page */
	uint32		pages;			/* number of pages; 0: the area does not exist */
	uint32		kind;			/* RtscanPageKind of the pages */
} RtscanArea;

/* Writes the pages of one segment in lots of up to RTSCAN_TAKE_PAGES pages, each lot one WAL record. */
typedef struct RtscanAreaWriter RtscanAreaWriter;

/*
 * Create a writer, in the current memory context.  The owner of the pages that it writes is the id that
 * rtscan_writing_id() has returned last.
 */
extern RtscanAreaWriter *rtscan_area_writer(RtscanWriting *writing);

/*
 * Write an area.  First call rtscan_area_begin().  Then, for each page, rtscan_area_room() returns room for the
 * payload (aligned, zeroed), and rtscan_area_used() sets how many bytes of it are used.  At the end,
 * rtscan_area_end() returns the area.  One area is written at a time.
 */
extern void rtscan_area_begin(RtscanAreaWriter *writer, RtscanPageKind kind);
extern char *rtscan_area_room(RtscanAreaWriter *writer);
extern void rtscan_area_used(RtscanAreaWriter *writer, Size used);
extern RtscanArea rtscan_area_end(RtscanAreaWriter *writer);

/*
 * Write the pages that are still in memory.  Returns the block numbers of all pages by ordinal, and sets *pages to
 * the number of pages.
 */
extern BlockNumber *rtscan_area_finish(RtscanAreaWriter *writer, uint32 *pages);

/* Packs fixed-width elements into an area. */
typedef struct RtscanPacker
{
	RtscanAreaWriter *writer;
	char	   *room;			/* payload of the current page; NULL before the first element */
	uint32		width;			/* bytes of an element */
	uint32		per_page;		/* elements of a full page */
	uint32		count;			/* elements on the current page */
} RtscanPacker;

static inline uint32
rtscan_per_page(uint32 width)
{
	return RTSCAN_CHUNK_BYTES / width;
}

extern RtscanPacker rtscan_packer(RtscanAreaWriter *writer, RtscanPageKind kind, uint32 width);
extern RtscanArea rtscan_packer_end(RtscanPacker *packer);

/* Return the room for the next element. */
static inline char *
rtscan_packer_next(RtscanPacker *packer)
{
	if (packer->room == NULL || packer->count == packer->per_page)
	{
		if (packer->room)
			rtscan_area_used(packer->writer, packer->count * packer->width);
		packer->room = rtscan_area_room(packer->writer);
		packer->count = 0;
	}
	return packer->room + (Size) packer->count++ * packer->width;
}

/* Append a row number, rank or code: its low "width" bytes, little-endian. */
static inline void
rtscan_packer_add(RtscanPacker *packer, uint32 value)
{
	char	   *room = rtscan_packer_next(packer);

	for (uint32 i = 0; i < packer->width; i++)
		room[i] = (char) (value >> (8 * i));
}

#endif							/* RTSCAN_AREA_H */
