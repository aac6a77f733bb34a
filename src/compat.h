/* SPDX-License-Identifier: PostgreSQL */
/*
 * compat.h
 *		Differences between PostgreSQL's versions.  No other file tests for the version.
 *
 * The sources use the names of the newest version.  For older versions, this file and the files of compat/ that it
 * includes define these names by what the older version has, or as nothing if it has no equivalent.  A difference that
 * a definition of a name cannot hide is hidden by a function in compat/, rtscan_compat_...().  Other files include
 * compat.h, but no file of compat/.
 *
 *	compat/access.h			access methods, heap pages, WAL records
 *	compat/storage.h		files, buffers, locks, waits
 *	compat/privileges.h		checks of privileges, and the search path
 *	compat/planner.h		relations, joins, paths, operators
 *	compat/advice.h			advice against paths
 *	compat/executor.h		nodes at run time, aggregates, sorting, EXPLAIN
 *	compat/time.h			time zones
 */
#ifndef RTSCAN_COMPAT_H
#define RTSCAN_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 200000
#error "rtscan supports PostgreSQL 15 to 19"
#endif

#ifdef WORDS_BIGENDIAN
#error "rtscan's packed arrays are little-endian"
#endif

#include "access/amapi.h"
#include "access/heapam.h"
#include "access/nbtxlog.h"
#include "access/relscan.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/geqo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/placeholder.h"
#include "optimizer/plancat.h"
#include "pgstat.h"
#include "rewrite/rewriteManip.h"
#include "storage/buf_internals.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/smgr.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"
#include "utils/tuplesort.h"

/* Before 19, pg_locale.h includes ICU's headers, which rtscan does not need, and which may not be installed. */
#pragma push_macro("USE_ICU")
#undef USE_ICU
#include "utils/pg_locale.h"
#pragma pop_macro("USE_ICU")

#if PG_VERSION_NUM >= 160000
/* 16 moved the macros for variable-length types out of postgres.h. */
#include "varatt.h"
#endif

#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif

#if PG_VERSION_NUM >= 190000
#include "optimizer/extendplan.h"
#endif

#if PG_VERSION_NUM >= 180000
/* 18 moved the contents of both headers out of commands/explain.h. */
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

#if PG_VERSION_NUM < 180000
/* 18 has pg_noreturn, which is written before the declaration, as in C11. */
#define pg_noreturn pg_attribute_noreturn()
#endif

#if PG_VERSION_NUM < 190000
/* 19 marks a fall-through by this attribute, older versions by a comment. */
#define pg_fallthrough __attribute__((fallthrough))
#endif

/* The headers of compat/ come after PostgreSQL's, because their macros rename what PostgreSQL's headers declare. */
#include "compat/access.h"
#include "compat/advice.h"
#include "compat/executor.h"
#include "compat/explain.h"
#include "compat/planner.h"
#include "compat/privileges.h"
#include "compat/storage.h"
#include "compat/time.h"

#endif							/* RTSCAN_COMPAT_H */
