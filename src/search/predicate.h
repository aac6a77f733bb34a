/*
 * predicate.h
 *		Conditions on one column, a key or an INCLUDEd one: what they mean for a segment, and for a single row.
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
#include "search/trace.h"
#include "segment/segment.h"
#include "storage/metapage.h"

typedef enum RtscanConditionKind
{
	RTSCAN_CONDITION_ANY,		/* column op value, column op ANY (values) */
	RTSCAN_CONDITION_ALL,		/* column op ALL (values) */
	RTSCAN_CONDITION_NONE,		/* column <> value, column <> ALL (values): op is the equality, and true of none */
	RTSCAN_CONDITION_DISTINCT,	/* column IS DISTINCT FROM value: op is the equality */
	RTSCAN_CONDITION_NOT_DISTINCT,
	RTSCAN_CONDITION_IS_NULL,
	RTSCAN_CONDITION_IS_NOT_NULL
} RtscanConditionKind;

/* What is asked of a column, but for the value. */
typedef struct RtscanAsked
{
	RtscanConditionKind kind;
	int			column;			/* from 0 */
	bool		array;			/* there is an array of values */
	StrategyNumber strategy;
	Oid			subtype;		/* the values' type; InvalidOid: the column's */
	Oid			collation;
	Oid			function;		/* the operator's */
	Oid			family;			/* of an INCLUDEd column: btree's, of the operator, */
	Oid			lefttype;		/* and the type that it takes the column for; else InvalidOid */
} RtscanAsked;

/* The same with its values. */
typedef struct RtscanCondition
{
	RtscanConditionKind kind;	/* NOT_DISTINCT has become another */
	int			column;			/* from 0 */
	const RtscanSchema *schema;
	const RtscanColumn *type;	/* of an INCLUDEd column, with its comparison and kind of keys */
	StrategyNumber strategy;
	FmgrInfo   *operator;		/* as a sequential scan would call it */
	Oid			collation;
	FmgrInfo   *compare;		/* (column's type, values' type) */
	int			nvalues;
	Datum	   *values;			/* no NULLs */
	bool		sorted;			/* they ascend */
	const uint64 *keys;			/* of the values, as those of equal values of the column, ascending; NULL if compared by function */
	uint64		low;			/* of values with keys: */
	uint64		high;
	bool		is_range;		/* rtscan_key_range() */
	struct RtscanAccepted *accepted;	/* of values with keys: what they are in all segments (accepted.h) */
	double		stands_for;		/* as many rows: the planner looks some of an array's elements up; 1 else */
	bool		implied;		/* rows that pass are asked the comparison that it follows from */
	bool		notes_codes;	/* somebody wants to know which values have which codes */
	struct RtscanAbsent *absent;	/* one like it is asked again and again: which segments lack what it asks for (absent.h); or NULL */
	RtscanTrace *trace;			/* of one that is to be explained; or NULL */
} RtscanCondition;

/* What a condition comes to whatever a row has. */
typedef enum RtscanOutcome
{
	RTSCAN_NEVER,
	RTSCAN_ALWAYS,
	RTSCAN_DEPENDS
} RtscanOutcome;

/*
 * Prepare a condition.  Values that are passed by reference are not copied.  Raises an error
 * where the operator family lacks a comparison function that btree would need as well.
 */
extern RtscanOutcome rtscan_condition(Relation index, const RtscanSchema *schema, const RtscanAsked *asked,
									  Datum value, bool isnull, RtscanCondition *condition);

/* The same of any of some values that are sorted, and of their keys or NULL, which are not copied; DISTINCT: from all of them. */
extern RtscanOutcome rtscan_values_condition(Relation index, const RtscanSchema *schema, const RtscanAsked *asked,
											 Datum *values, const uint64 *keys, int nvalues,
											 RtscanCondition *condition);

/* The same of a scan key, which must stay where it is. */
extern RtscanOutcome rtscan_key_condition(Relation index, const RtscanSchema *schema, ScanKey key, RtscanCondition *condition);

/* Which values of a condition have codes in a segment, and which; others have none. */
typedef struct RtscanFoundCodes
{
	const Datum *values;
	uint32		n;
	uint32	   *numbers;		/* among the values, */
	uint32	   *codes;			/* and the code of each of these: they ascend */
} RtscanFoundCodes;

/*
 * lookup.c: look it up in a segment's dictionary: a normalized set.  What codes are found is noted where that is wanted, and known; else
 * it stays NULL.  False only for a soft reader.
 */
extern bool rtscan_condition_intervals(const RtscanCondition *condition, RtscanReader *reader, RtscanIntervals *set,
									   RtscanFoundCodes **found);

/* Note in its trace, if it has one, which values a segment has of a long one on codes. */
extern void rtscan_trace_values(const RtscanCondition *condition, RtscanReader *reader);

/*
 * What it takes to look a condition's values up, for all that they stand for, or to test a segment's rows for them, of which so many are
 * left: whichever is less.  Is it the latter?  (The planner, which has a soft reader, looks up what there is.)
 */
#define RTSCAN_LONG		16		/* of fewer values it is not */
extern double rtscan_list_nanoseconds(const RtscanCondition *condition, const RtscanReader *reader, double rows);
extern bool rtscan_condition_is_long(const RtscanCondition *condition, const RtscanReader *reader, double rows);

/* Before that, in each of several segments step by step: bring what it needs into the processor's cache, if that can be foreseen. */
extern void rtscan_condition_approach(const RtscanCondition *condition, RtscanReader *reader, int step);

static inline bool
rtscan_is_included(const RtscanCondition *condition)
{
	return condition->column >= condition->schema->nkeys;
}

/*
 * What keys the operator accepts, if there are keys: none outside of the range, both ends included, which is empty if low > high.
 * Returns whether it accepts all in it.
 */
static inline bool
rtscan_key_range(const RtscanCondition *condition, uint64 *low, uint64 *high)
{
	*low = condition->low;
	*high = condition->high;
	return condition->is_range;
}

/*
 * May it be true of a row of a segment whose key column has such bounds?  Only what compares by keys, and accepts no NULL, can be told; or
 * else what was looked up there before.
 */
extern bool rtscan_condition_may_match(const RtscanCondition *condition, const RtscanEntry *segment, const RtscanKeyBounds *bounds);

/* Does a row match? */
extern bool rtscan_condition_matches(const RtscanCondition *condition, Datum value, bool isnull);

/* Do its comparisons pass through the session's time zone? */
extern bool rtscan_depends_on_clock(const RtscanCondition *condition);

#endif							/* RTSCAN_PREDICATE_H */
