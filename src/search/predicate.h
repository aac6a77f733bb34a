/*
 * predicate.h
 *		The quals of a scan: what they mean for a segment, and for a single row.
 *
 * The operators of an rtscan operator class compare as its comparison function does, so
 * each qual is a set of intervals of a column's sorted values.  One family is not that
 * simple: a timestamp or date compared with a timestamptz passes through the session's time
 * zone, and around a clock change the order of local times is not that of instants.  There
 * the values within two days of the edge are compared one by one.
 */
#ifndef RTSCAN_PREDICATE_H
#define RTSCAN_PREDICATE_H

#include "rtscan.h"

#include "access/skey.h"
#include "row/schema.h"
#include "search/interval.h"
#include "segment/segment.h"

typedef enum RtscanConditionKind
{
	RTSCAN_CONDITION_COMPARE,	/* column op ANY (values) */
	RTSCAN_CONDITION_IS_NULL,
	RTSCAN_CONDITION_IS_NOT_NULL
} RtscanConditionKind;

/* One qual. */
typedef struct RtscanCondition
{
	RtscanConditionKind kind;
	int			column;			/* from 0 */
	StrategyNumber strategy;
	FmgrInfo   *operator;		/* as a sequential scan would call it */
	Oid			collation;
	FmgrInfo   *compare;		/* (column's type, values' type) */
	int			nvalues;
	Datum	   *values;			/* no NULLs; ascending if they are of the column's type */
	uint64	   *keys;			/* of the values, ascending; NULL if compared by function */
} RtscanCondition;

/* All quals of a scan; a conjunction. */
typedef struct RtscanPredicate
{
	const RtscanSchema *schema;
	bool		impossible;		/* some qual is never true */
	int			nconditions;
	RtscanCondition *conditions;
} RtscanPredicate;

/* A column of a region, and the intervals that its rows must be in. */
typedef struct RtscanRegionColumn
{
	int			column;
	uint32		rows;			/* in the intervals */
	RtscanIntervals intervals;
} RtscanRegionColumn;

/*
 * What a predicate means for one segment (RTScan, section 3.2): the conjunction of its
 * columns, the one with the fewest rows first.  Columns that exclude no row are left out.
 */
typedef struct RtscanRegion
{
	bool		empty;			/* no row matches */
	int			ncolumns;		/* 0: every row matches */
	RtscanRegionColumn *columns;
} RtscanRegion;

/*
 * Prepare quals.  Values that the scan keys point to are not copied.  Raises an error
 * where the operator family lacks a comparison function that btree would need as well.
 */
extern RtscanPredicate *rtscan_predicate(Relation index, const RtscanSchema *schema,
										 ScanKey keys, int nkeys);

/* Look the predicate up in a segment's dictionaries; false only for a soft reader. */
extern bool rtscan_predicate_region(const RtscanPredicate *predicate, RtscanReader *reader,
									RtscanRegion *region);

/* Does a row match? */
extern bool rtscan_predicate_matches(const RtscanPredicate *predicate,
									 const Datum *values, const bool *isnull);

#endif							/* RTSCAN_PREDICATE_H */
