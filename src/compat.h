/* SPDX-License-Identifier: PostgreSQL */
/*
 * compat.h
 *		Differences between PostgreSQL's versions.  No other file tests for the version.
 *
 * The sources are written for the newest version.  This file, and those of compat/ that it includes, define its names
 * with what older versions have, or omit what they lack.  A difference that no name can hide is a function there,
 * rtscan_compat_...().  Other files include only this one.
 *
 *	compat/access.h			access methods, heap pages, WAL records
 *	compat/storage.h		files, buffers, locks, waits
 *	compat/privileges.h		checks of privileges, and the search path
 *	compat/planner.h		relations, joins, paths, operators
 *	compat/advice.h			advice against paths
 *	compat/executor.h		nodes at run time, aggregates, sorting, EXPLAIN
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
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/appendinfo.h"
#include "optimizer/geqo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/placeholder.h"
#include "pgstat.h"
#include "rewrite/rewriteManip.h"
#include "storage/buf_internals.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/smgr.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
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

#if PG_VERSION_NUM >= 190000
#include "optimizer/extendplan.h"
#endif

#if PG_VERSION_NUM >= 180000
/* 18 moved these out of commands/explain.h. */
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

#if PG_VERSION_NUM < 180000
/* 18 writes it before the declaration, as C11 does. */
#define pg_noreturn pg_attribute_noreturn()
#endif

#if PG_VERSION_NUM < 190000
/* 19 uses an attribute in place of a comment. */
#define pg_fallthrough __attribute__((fallthrough))
#endif

/* These come after PostgreSQL's headers, since their macros rename what those declare. */
#include "compat/access.h"
#include "compat/advice.h"
#include "compat/executor.h"
#include "compat/planner.h"
#include "compat/privileges.h"
#include "compat/storage.h"

#endif							/* RTSCAN_COMPAT_H */
