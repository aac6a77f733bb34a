/* SPDX-License-Identifier: PostgreSQL */
/*
 * condition.h
 *		A condition on one column: its operator and its values.
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
	RTSCAN_CONDITION_NONE,		/* column <> value, column <> ALL (values); the operator is =, and must hold for no
								 * value */
	RTSCAN_CONDITION_DISTINCT,	/* column IS DISTINCT FROM value; the operator is = */
	RTSCAN_CONDITION_NOT_DISTINCT,
	RTSCAN_CONDITION_IS_NULL,
	RTSCAN_CONDITION_IS_NOT_NULL
} RtscanConditionKind;

/* A condition without its value, as the plan of a node or a scan key states it. */
typedef struct RtscanAsked
{
	RtscanConditionKind kind;	/* how the operator applies to the values */
	int			column;			/* number of the column, from 0 */
	bool		array;			/* the value is an array; the column is compared with its elements */
	StrategyNumber strategy;	/* btree's strategy number of the operator */
	Oid			subtype;		/* type of the values; InvalidOid: the column's type */
	Oid			collation;		/* collation of the comparison */
	Oid			function;		/* the operator's function; InvalidOid if the condition has no operator */
	Oid			family;			/* btree's operator family that the operator belongs to, if the column is an INCLUDE
								 * column; else InvalidOid */
	Oid			lefttype;		/* type that the operator expects of the column, if that is an INCLUDE column; else
								 * InvalidOid */
} RtscanAsked;

/* A condition with its values, prepared to be looked up or evaluated. */
typedef struct RtscanCondition
{
	RtscanConditionKind kind;	/* never NOT_DISTINCT, which becomes ANY or IS_NULL */
	int			column;			/* number of the column, from 0 */
	const RtscanSchema *schema; /* schema of the index */
	const RtscanColumn *type;	/* the column's type; for an INCLUDE column, with the comparison and the kind of keys
								 * of the operator's family (RtscanAsked) */
	StrategyNumber strategy;	/* btree's strategy number of the operator */
	FmgrInfo   *operator;		/* the operator's function, as a sequential scan would call it; NULL if there is no
								 * operator */
	Oid			collation;		/* collation of the comparison */
	FmgrInfo   *compare;		/* function that compares the column's type with the values' type */
	int			nvalues;		/* number of values */
	Datum	   *values;			/* the values, without NULLs */
	bool		sorted;			/* the values ascend */
	const uint64 *keys;			/* 64-bit keys (row/keys.h) of the values, ascending; keys compare with the keys of
								 * the column's values as the values do; NULL: values are compared by function */
	uint64		low;			/* least key that the operator can accept, if there are keys and values */
	uint64		high;			/* greatest key that the operator can accept; if less than low, it accepts no key */
	bool		is_range;		/* the operator accepts every key from low to high */
	struct RtscanValueSet *value_set;	/* the exact integers that the condition accepts in all segments
										 * (value_set.h); used only if there are keys */
	double		stands_for;		/* how many elements of an array each value represents; more than 1 only if the
								 * planner looks up a sample */
	bool		implied;		/* the condition follows from a comparison, which the caller evaluates on the rows
								 * that pass */
	bool		notes_codes;	/* lookups return the codes of the values that they find (RtscanFoundCodes) */
	struct RtscanSegmentBlooms *blooms; /* Bloom filters of segments (segment_blooms.h), if a nested loop looks up
										 * one value after another; or NULL */
	RtscanTrace *trace;			/* statistics for EXPLAIN; NULL if none are shown */
} RtscanCondition;

/* The result of a condition, as far as its values alone decide it. */
typedef enum RtscanOutcome
{
	RTSCAN_NEVER,				/* false or NULL for every row */
	RTSCAN_ALWAYS,				/* true for every row */
	RTSCAN_DEPENDS				/* depends on the row */
} RtscanOutcome;

/* Is the condition on an INCLUDE column? */
static inline bool
rtscan_is_included(const RtscanCondition *condition)
{
	return condition->column >= condition->schema->nkeys;
}

/*
 * Set *low and *high to the range of keys that the operator can accept, both ends included.  The range is empty if
 * *high is less than *low.  Returns whether the operator accepts every key in the range.  The condition must have keys
 * and values.
 */
static inline bool
rtscan_key_range(const RtscanCondition *condition, uint64 *low, uint64 *high)
{
	*low = condition->low;
	*high = condition->high;
	return condition->is_range;
}

/*
 * The exact integers that a condition accepts, as keys of its column.  They are found once, and used for all
 * segments.
 */
typedef struct RtscanValueSet
{
	MemoryContext context;		/* memory context of the set and of members */
	RtscanIntegerSet set;		/* the integers; valid if "members" is not NULL */
	RtscanMembers *members;		/* the set, prepared for tests; NULL until it is first needed */
	bool		counted;		/* "few" and "lacks" are known; device_members.c sets them */
	bool		few;			/* as in RtscanDeviceMembers */
	bool		lacks;			/* as in RtscanDeviceMembers */
} RtscanValueSet;

/* The values of a condition that occur in a segment, and their codes. */
typedef struct RtscanFoundCodes
{
	const Datum *values;		/* all values of the condition */
	uint32		n;				/* number of values that occur in the segment */
	uint32	   *numbers;		/* positions in values[] of the values that occur */
	uint32	   *codes;			/* codes of the values that occur, in the order of numbers[]; they ascend */
} RtscanFoundCodes;

#endif							/* RTSCAN_CONDITION_H */
