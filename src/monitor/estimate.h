/* SPDX-License-Identifier: PostgreSQL */
/*
 * estimate.h
 *		Estimate the size of an index from its table's statistics, before it is built.
 */
#ifndef RTSCAN_ESTIMATE_H
#define RTSCAN_ESTIMATE_H

#include "rtscan.h"

#include "monitor/estimate_column.h"

/* The columns of a planned index, keys first. */
typedef struct RtscanPlannedColumns
{
	int			nkeys;			/* number of key columns */
	int			n;				/* number of columns */
	RtscanColumnStatistics statistics[INDEX_MAX_KEYS];
} RtscanPlannedColumns;

/* The estimate of a planned index. */
typedef struct RtscanIndexEstimate
{
	double		segments;		/* segments that one process writes with this session's maintenance_work_mem */
	double		segment_rows;	/* rows of a segment */
	double		bytes;			/* size of the index */
	double		build_memory;	/* bytes of memory that the build takes */
} RtscanIndexEstimate;

/* Estimate an index with the default sieve, or with the given one, of a table with so many rows and blocks. */
extern RtscanIndexEstimate rtscan_estimate_index(const RtscanPlannedColumns *columns, double rows, double blocks,
												 int bins, int components);

#endif							/* RTSCAN_ESTIMATE_H */
