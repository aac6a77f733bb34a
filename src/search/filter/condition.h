/*
 * condition.h
 *		A condition on one column: what it asks, and its values.
 */
#ifndef RTSCAN_CONDITION_H
#define RTSCAN_CONDITION_H

#include "rtscan.h"

#include "access/stratnum.h"
#include "fmgr.h"
#include "row/schema.h"
#include "search/filter/trace.h"
#include "segment/members.h"

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

/* What a condition accepts of exact integers that are the keys of values: once made it is good for all segments. */
typedef struct RtscanAccepted
{
	MemoryContext context;
	RtscanIntegerSet set;
	RtscanMembers *members;		/* NULL: keys are no such integers */
	bool		counted;		/* by device_members.c: */
	bool		few;			/* RtscanDeviceMembers */
	bool		lacks;
} RtscanAccepted;

/* Which values of a condition have codes in a segment, and which; others have none. */
typedef struct RtscanFoundCodes
{
	const Datum *values;
	uint32		n;
	uint32	   *numbers;		/* among the values, */
	uint32	   *codes;			/* and the code of each of these: they ascend */
} RtscanFoundCodes;

#endif							/* RTSCAN_CONDITION_H */
