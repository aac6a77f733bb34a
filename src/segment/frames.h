/* SPDX-License-Identifier: PostgreSQL */
/*
 * frames.h
 *		Integers in row order, each chunk in a frame of reference.
 *
 * For each row an element is stored: the row's integer minus the least integer of its chunk.  For NULL the element is
 * the largest of these differences plus one.  All elements of a chunk have the smallest size of bits/packed.h that its
 * largest element fits into.  Each chunk begins on a new page:
 *
 *	frames		│ 5 .. 250, 8 bits │ 7, 0 bits │ 0 .. 9, 3 NULLs, 4 bits │
 *	pages		│ 8 of chunk 0 │ none │ 4 of chunk 2 │
 *
 * The frame, which is in the descriptor, has the bounds of its chunk, so that they are known without reading a page.
 * Readers rely on these bounds: an element outside of them is reported as corruption of its page.
 */
#ifndef RTSCAN_FRAMES_H
#define RTSCAN_FRAMES_H

#include "rtscan.h"

#include "bits/packed.h"
#include "segment/integers.h"
#include "segment/segment.h"
#include "storage/area.h"

/* Return the element that is stored for NULL. */
static inline uint64
rtscan_frame_null(const RtscanFrame *frame)
{
	return (uint64) frame->greatest - (uint64) frame->least + 1;
}

/* Return the largest element that the chunk may have. */
static inline uint64
rtscan_frame_largest(const RtscanFrame *frame)
{
	return rtscan_frame_null(frame) - (frame->nulls > 0 ? 0 : 1);
}

/* Return the number of pages of a chunk that has "rows" rows. */
static inline uint32
rtscan_frame_pages(const RtscanFrame *frame, uint32 rows)
{
	return (uint32) (((uint64) rows * frame->bits + RTSCAN_CHUNK_ROWS - 1) / RTSCAN_CHUNK_ROWS);
}

/* ---------------------------------------------------------------- writing */

/*
 * Find the frames of the rows' integers.  Returns false if a chunk has both NULLs and integers so far apart that no
 * 64-bit element is left for NULL.
 */
extern bool rtscan_find_frames(const RtscanIntegers *integers, RtscanFrame *frames);

/* Return the bytes that the integers take, including their frames. */
extern Size rtscan_frames_bytes(const RtscanFrame *frames, uint32 rows);

/* Write the elements of all rows, and return their area. */
extern RtscanArea rtscan_write_frames(RtscanAreaWriter *areas, const RtscanFrame *frames,
									  const RtscanIntegers *integers);

/* ---------------------------------------------------------------- reading */

/*
 * Check the frames of "rows" rows.  Sets first_pages[] to the first page of each chunk, and *pages to the number of
 * pages of all chunks.  Returns false if the frames contradict themselves.
 */
extern bool rtscan_frames_are_sane(const RtscanFrame *frames, uint32 rows, uint32 *first_pages, uint32 *pages);

/* Return the bytes that are used on the last page; 0 if there is no page. */
extern Size rtscan_frames_last_bytes(const RtscanFrames *frames, uint32 rows);

/*
 * Return the integer that represents NULL among a chunk's integers.  If the chunk has NULLs, no other row has this
 * integer.
 */
static inline int64
rtscan_frame_marker(const RtscanFrame *frame)
{
	return (int64) ((uint64) frame->greatest + 1);
}

/*
 * Check that the largest element of a chunk's page is within the frame.  If not, raises an error or, for a soft
 * reader, returns false.
 */
extern bool rtscan_check_frame(RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, uint32 page,
							   uint64 largest);

/* Read the integers of all rows of a chunk; NULLs are rtscan_frame_marker(). */
extern void rtscan_get_frame(RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, int64 *values);

/* Read the integers of n ascending rows, which must be in one chunk; NULLs are rtscan_frame_marker(). */
extern void rtscan_get_frame_rows(RtscanReader *reader, const RtscanFrames *frames, const uint32 *rows, uint32 n,
								  int64 *values);

/* The place of a row's element.  The element exists only if the rows of the chunk are not all alike. */
typedef struct RtscanFramePlace
{
	uint32		page;			/* number of the page in the area */
	uint32		element;		/* number of the element on the page */
} RtscanFramePlace;

static inline RtscanFramePlace
rtscan_frame_place(const RtscanFrames *frames, uint32 row)
{
	uint32		chunk = row / RTSCAN_CHUNK_ROWS;
	uint32		per_page = rtscan_packed_per_page(Max(frames->frames[chunk].bits, 1));

	return (RtscanFramePlace) {frames->pages[chunk] + row % RTSCAN_CHUNK_ROWS / per_page,
		row % RTSCAN_CHUNK_ROWS % per_page};
}

/* Return the integer of an element. */
static inline int64
rtscan_frame_value(const RtscanFrame *frame, uint64 element)
{
	return (int64) ((uint64) frame->least + element);
}

/* Return the integer of each row of a chunk whose rows are all alike; rtscan_frame_marker() if all are NULL. */
static inline int64
rtscan_frame_only_value(const RtscanFrame *frame)
{
	return frame->nulls > 0 ? rtscan_frame_marker(frame) : frame->least;
}

/* Read the integer of one row.  Returns false only for a soft reader. */
extern bool rtscan_get_frame_row(RtscanReader *reader, const RtscanFrames *frames, uint32 row, int64 *value);

/* Prefetch the element of a row that will be read soon. */
extern void rtscan_prefetch_frame_row(RtscanReader *reader, const RtscanFrames *frames, uint32 row);

/* Read the codes of all rows of a chunk.  The codes have at most 16 bits.  NULLs get the code null_code. */
extern void rtscan_get_frame_codes(RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, uint32 null_code,
								   uint32 *codes);

/*
 * Read the integers of n ascending rows of a chunk, minus "base", as codes of at most 24 bits.  NULLs get the code
 * null_code.
 */
extern void rtscan_get_frame_rows_codes(RtscanReader *reader, const RtscanFrames *frames, const uint32 *rows, uint32 n,
										int64 base, uint32 null_code, uint32 *codes);

#endif							/* RTSCAN_FRAMES_H */
