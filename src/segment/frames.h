/*
 * frames.h
 *		Integers in row order, each chunk in a frame of reference.
 *
 * What is stored of a row is how much its integer is above the least of its chunk, in as few bits as the chunk's
 * greatest needs (bits/packed.h); of NULL one more than that.  A chunk begins with a page of its own:
 *
 *	frames		│ 5 .. 250, 8 bits │ 7, 0 bits │ 0 .. 9, 3 NULLs, 4 bits │
 *	pages		│ 8 of chunk 0 │ none │ 4 of chunk 2 │
 *
 * So a frame says without a page what its chunk's bounds are.  Readers rely on them: an element that would be outside
 * is a fault of its page.
 */
#ifndef RTSCAN_FRAMES_H
#define RTSCAN_FRAMES_H

#include "rtscan.h"

#include "bits/packed.h"
#include "segment/segment.h"
#include "storage/area.h"

/* The element that a frame has for NULL, and the most that an element may be. */
static inline uint64
rtscan_frame_null(const RtscanFrame *frame)
{
	return (uint64) frame->greatest - (uint64) frame->least + 1;
}

static inline uint64
rtscan_frame_largest(const RtscanFrame *frame)
{
	return rtscan_frame_null(frame) - (frame->nulls > 0 ? 0 : 1);
}

/* Pages of a chunk of so many rows. */
static inline uint32
rtscan_frame_pages(const RtscanFrame *frame, uint32 rows)
{
	return (uint32) (((uint64) rows * frame->bits + RTSCAN_CHUNK_ROWS - 1) / RTSCAN_CHUNK_ROWS);
}

/* ---------------------------------------------------------------- writing */

/*
 * Find the frames of rows' integers; nulls: a bit a row.  Returns false where an element would have more than 64 bits, for
 * there are NULLs as well.
 */
extern bool rtscan_find_frames(const int64 *values, const uint64 *nulls, uint32 rows, RtscanFrame *frames);

/* Bytes that they take, with their frames. */
extern Size rtscan_frames_bytes(const RtscanFrame *frames, uint32 rows);

extern RtscanArea rtscan_write_frames(RtscanAreaWriter *areas, const RtscanFrame *frames, const int64 *values,
									  const uint64 *nulls, uint32 rows);

/* ---------------------------------------------------------------- reading */

/* Could frames of so many rows be, and how many pages do they have?  Fills in which pages are whose. */
extern bool rtscan_frames_are_sane(const RtscanFrame *frames, uint32 rows, uint32 *first_pages, uint32 *pages);

/* Bytes of their last page, 0 if there is none. */
extern Size rtscan_frames_last_bytes(const RtscanFrames *frames, uint32 rows);

/* What stands for NULL among a chunk's integers, if there are NULLs: none of them is the same. */
static inline int64
rtscan_frame_marker(const RtscanFrame *frame)
{
	return (int64) ((uint64) frame->greatest + 1);
}

/* Fault a page of a chunk whose largest element is larger than its frame lets it be; false then, for a soft reader. */
extern bool rtscan_check_frame(RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, uint32 page, uint64 largest);

/* The integers of a chunk's rows, or of some rows that ascend and are in one chunk. */
extern void rtscan_get_frame(RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, int64 *values);
extern void rtscan_get_frame_rows(RtscanReader *reader, const RtscanFrames *frames, const uint32 *rows, uint32 n,
								  int64 *values);

/* Where the element of a row is, in a chunk whose rows are not all alike; and its integer. */
typedef struct RtscanFramePlace
{
	uint32		page;
	uint32		element;
} RtscanFramePlace;

static inline RtscanFramePlace
rtscan_frame_place(const RtscanFrames *frames, uint32 row)
{
	uint32		chunk = row / RTSCAN_CHUNK_ROWS;
	uint32		per_page = rtscan_packed_per_page(Max(frames->frames[chunk].bits, 1));

	return (RtscanFramePlace) {frames->pages[chunk] + row % RTSCAN_CHUNK_ROWS / per_page, row % RTSCAN_CHUNK_ROWS % per_page};
}

static inline int64
rtscan_frame_value(const RtscanFrame *frame, uint64 element)
{
	return (int64) ((uint64) frame->least + element);
}

/* The integer of all rows of a chunk that are alike. */
static inline int64
rtscan_frame_only_value(const RtscanFrame *frame)
{
	return frame->nulls > 0 ? rtscan_frame_marker(frame) : frame->least;
}

/* That of one row; false only for a soft reader. */
extern bool rtscan_get_frame_row(RtscanReader *reader, const RtscanFrames *frames, uint32 row, int64 *value);

/* It is going to be got soon. */
extern void rtscan_prefetch_frame_row(RtscanReader *reader, const RtscanFrames *frames, uint32 row);

/*
 * As those before: codes, which have 16 bits at most, or integers of some rows less a base, which have 24; what is NULL has one that
 * the caller names.
 */
extern void rtscan_get_frame_codes(RtscanReader *reader, const RtscanFrames *frames, uint32 chunk, uint32 null_code,
								   uint32 *codes);
extern void rtscan_get_frame_rows_codes(RtscanReader *reader, const RtscanFrames *frames, const uint32 *rows, uint32 n,
										int64 base, uint32 null_code, uint32 *codes);

#endif							/* RTSCAN_FRAMES_H */
