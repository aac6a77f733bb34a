/* SPDX-License-Identifier: PostgreSQL */
/*
 * am.h
 *		The callbacks of the access method, by the file that defines them.
 */
#ifndef RTSCAN_AM_H
#define RTSCAN_AM_H

#include "rtscan.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "nodes/execnodes.h"
#include "row/schema.h"

/* build.c */
extern IndexBuildResult *rtscan_build(Relation heap, Relation index, IndexInfo *info);
extern void rtscan_build_empty(Relation index);
extern char *rtscan_build_phase_name(int64 phase);

/* insert.c */
extern bool rtscan_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
						  Relation heap, IndexUniqueCheck check_unique,
						  bool index_unchanged, IndexInfo *info);

/* vacuum.c */
extern IndexBulkDeleteResult *rtscan_bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
												 IndexBulkDeleteCallback callback, void *state);
extern IndexBulkDeleteResult *rtscan_vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats);

/* scan.c */
extern IndexScanDesc rtscan_begin_scan(Relation index, int nkeys, int norderbys);
extern void rtscan_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
						  ScanKey orderbys, int norderbys);
extern int64 rtscan_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void rtscan_end_scan(IndexScanDesc scan);

/*
 * Count the rows that rtscan_get_bitmap() would return, without their TIDs.  If "want_bits" is false, does only what
 * counting needs, and makes row bits only where counting needs them.  Sets *executor to the name of the executor, and
 * *device_time to the device's time in milliseconds.  For benchmarks.
 */
extern uint64 rtscan_count_bits(IndexScanDesc scan, bool want_bits, const char **executor,
								double *device_time);

/*
 * fallback.c: raise a NOTICE for each key column that a btree would compare as another type, if the user has not chosen
 * its class.  Does nothing in REINDEX, and for partitions after the first.
 */
extern void rtscan_tell_of_fallbacks(Relation index);

/* can_return.c */
extern bool rtscan_can_return(Relation index, int attno);

/* validate.c */
extern bool rtscan_validate(Oid opclass);
extern void rtscan_adjust_members(Oid opfamily, Oid opclass, List *operators, List *functions);

#endif							/* RTSCAN_AM_H */
