/* SPDX-License-Identifier: PostgreSQL */
/*
 * restrictions.c
 *		Matches a table's restriction clauses with its indexes, once in a planning run.
 */
#include "plan/quals/restrictions.h"

#include "optimizer/restrictinfo.h"
#include "plan/quals/planning_run.h"
#include "plan/quals/volatile.h"

/* A restriction that has been matched with an index. */
typedef struct Matched
{
	const RestrictInfo *info;
	RtscanQual *qual;			/* how the index answers the restriction; NULL: it does not */
	bool		may_ask;		/* the index may evaluate the restriction before the table's other quals */
} Matched;

/* The matched restrictions of an index. */
typedef struct MatchedIndex
{
	const IndexOptInfo *index;	/* hash key */
	List	   *matched;		/* Matched * */
} MatchedIndex;

/* The data of a planning run; its entries are MatchedIndex, by IndexOptInfo. */
typedef struct Memory
{
	RtscanPlanningRun run;
	MatchedIndex *last;			/* the last entry that was used, or NULL */
} Memory;

static RtscanPlanningRun *memory;

static Matched
match(PlannerInfo *root, IndexOptInfo *index, RestrictInfo *info)
{
	RtscanQual *qual = rtscan_match_qual(index, info->clause);

	return (Matched) {
		.info = info,
		.qual = qual,
		.may_ask = qual && restriction_is_securely_promotable(info, index->rel) &&
		!rtscan_is_volatile(root, info->clause),
	};
}

static MatchedIndex *
remembered(PlannerInfo *root, const IndexOptInfo *index)
{
	Memory	   *run = (Memory *) rtscan_planning_run(root, &memory, sizeof(Memory), sizeof(MatchedIndex));
	bool		found;

	if (run->last && run->last->index == index)
		return run->last;
	run->last = hash_search(run->run.entries, &index, HASH_ENTER, &found);
	if (!found)
		run->last->matched = NIL;
	return run->last;
}

/* Match a restriction, and remember it in the memory of the planning run. */
static const Matched *
remember(PlannerInfo *root, MatchedIndex *of_index, IndexOptInfo *index, RestrictInfo *info)
{
	MemoryContext old = MemoryContextSwitchTo(memory->context);
	Matched    *matched = palloc(sizeof(Matched));

	*matched = match(root, index, info);
	of_index->matched = lappend(of_index->matched, matched);
	MemoryContextSwitchTo(old);
	return matched;
}

/*
 * Do an index and a restriction live as long as the planning run?  An index or a restriction that is made for a join
 * may be freed earlier.
 */
static bool
stays(const IndexOptInfo *index, const RestrictInfo *info)
{
	return list_member_ptr(index->rel->indexlist, index) && list_member_ptr(index->indrestrictinfo, info);
}

static Matched
recall(PlannerInfo *root, IndexOptInfo *index, RestrictInfo *info)
{
	MatchedIndex *of_index;
	ListCell   *cell;

	if (!stays(index, info))
		return match(root, index, info);
	of_index = remembered(root, index);
	foreach(cell, of_index->matched)
		if (((Matched *) lfirst(cell))->info == info)
			return *(Matched *) lfirst(cell);
	return *remember(root, of_index, index, info);
}

RtscanQual *
rtscan_match_restriction(PlannerInfo *root, IndexOptInfo *index, RestrictInfo *info)
{
	return recall(root, index, info).qual;
}

bool
rtscan_quals_add_restriction(RtscanQuals *quals, PlannerInfo *root, IndexOptInfo *index, RestrictInfo *info)
{
	Matched		matched = recall(root, index, info);

	if (matched.may_ask)
		rtscan_quals_add_qual(quals, matched.qual);
	return matched.may_ask;
}

bool
rtscan_has_pseudoconstant(const List *restrictions)
{
	ListCell   *cell;

	foreach(cell, restrictions)
		if (lfirst_node(RestrictInfo, cell)->pseudoconstant)
			return true;
	return false;
}
