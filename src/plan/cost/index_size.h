/* SPDX-License-Identifier: PostgreSQL */
/*
 * index_size.h
 *		Measures an index: its rows, and the pages and values of its columns.
 */
#ifndef RTSCAN_INDEX_SIZE_H
#define RTSCAN_INDEX_SIZE_H

#include "rtscan.h"

#include "plan/cost/segment_sample.h"

/* Sizes of a column, summed over all segments. */
typedef struct RtscanColumnSize
{
	double		value_pages;	/* pages of codes, or of values in row order */
	double		dictionary_pages;	/* pages of the dictionaries */
	double		dictionary_values;	/* values in the dictionaries */
	double		distinct;		/* largest number of distinct values of a key column in a segment */
	double		ranked_values;	/* values in the dictionaries of segments in which the column is in heap order */
	double		framed_rows;	/* an INCLUDEd column's rows that are stored as integers in frames */
} RtscanColumnSize;

/* Sizes of all segments of an index; those of columns are estimated from a sample of the segments. */
typedef struct RtscanIndexSize
{
	double		segments;		/* number of segments */
	double		rows;			/* rows in all segments */
	double		largest;		/* rows of the largest segment */
	double		heap_blocks;	/* heap blocks up to the last one with a row; 0: not known */
	double		remembered;		/* fraction of the heap's blocks, of those that are not all-visible, whose rows are
								 * remembered (search/visible/page_memory.h) */
	int			ncolumns;		/* columns of the index */
	RtscanColumnSize columns[INDEX_MAX_KEYS];	/* sizes by column; memory is allocated for ncolumns only */
} RtscanIndexSize;

/*
 * Return the sizes of column number "column", from 0; all sizes are 0 for columns after the index's own, which belong
 * to dimensions (star.h).
 */
static inline const RtscanColumnSize *
rtscan_column_size(const RtscanIndexSize *size, int column)
{
	static const RtscanColumnSize nothing;

	return column < size->ncolumns ? &size->columns[column] : &nothing;
}

/*
 * Measure an index by a sample of the live segments of its image.  The result is in the current memory context.  NULL
 * if the index has no segments, or if a segment of the sample cannot be read.
 */
extern RtscanIndexSize *rtscan_measure_index(Relation index, const RtscanImage *image, const RtscanLiveSegments *live);

#endif							/* RTSCAN_INDEX_SIZE_H */
