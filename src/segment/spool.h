/* SPDX-License-Identifier: PostgreSQL */
/*
 * spool.h
 *		Collect the rows of a segment: in memory while there is room, then in temporary files, one for each column.
 *
 * A segment is made one column at a time.  Memory need not have room for all columns of its rows, but first for the
 * rows' TIDs, and then for one column and the sort of it:
 *
 *	rows of the table ──> batch in memory ──> a file for each column ──> one column in memory ──> segment
 *
 * So the number of columns does not limit the number of rows.  If the rows take a small part of the memory with all
 * their columns, no file is written.
 */
#ifndef RTSCAN_SPOOL_H
#define RTSCAN_SPOOL_H

#include "rtscan.h"

#include "row/schema.h"
#include "segment/rows.h"

typedef struct RtscanSpool RtscanSpool;

/*
 * Create an empty spool in the current memory context.  The spool, and the segment that is made of its rows, take at
 * most memory_kb, or the memory of MIN_LIMIT rows (rows.c) if that is more.
 */
extern RtscanSpool *rtscan_spool_create(const RtscanSchema *schema, int memory_kb);

/* Return how many rows a spool can have if their values are passed by value, and have keys. */
extern uint32 rtscan_spool_limit(int memory_kb);

/* Return the number of rows. */
extern uint32 rtscan_spool_count(const RtscanSpool *spool);

/*
 * Has the spool no room for "more" rows?  The limit is estimated from the rows that the spool has: they tell how large
 * values are, and how many of them differ.
 */
extern bool rtscan_spool_is_full(const RtscanSpool *spool, uint32 more);

/* Append a row, and copy values that are passed by reference. */
extern void rtscan_spool_add(RtscanSpool *spool, ItemPointer tid, const Datum *values, const bool *isnull);

/*
 * Call this when all rows of a heap block have been added: sorts the rows that were added since the last call by their
 * TIDs, and may write rows to the files.  Blocks must be added in order.
 */
extern void rtscan_spool_end_block(RtscanSpool *spool);

/* Return the rows, for rtscan_write_segment().  They are valid until rtscan_spool_reset(). */
extern RtscanRows *rtscan_spool_rows(RtscanSpool *spool);

/* Remove all rows. */
extern void rtscan_spool_reset(RtscanSpool *spool);

#endif							/* RTSCAN_SPOOL_H */
