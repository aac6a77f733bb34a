/*
 * restrictions.c
 *		A table's conditions as quals of its indexes, matched once in a planning run.
 */
#include "plan/quals/restrictions.h"

#include "optimizer/restrictinfo.h"
#include "plan/quals/planning_run.h"
#include "plan/quals/volatile.h"

/* A condition, as an index answers it. */
typedef struct Matched
{
	const RestrictInfo *info;
	RtscanQual *qual;			/* NULL: it does not, */
	bool		may_ask;		/* or not before others */
} Matched;

/* A planning run's memory of an index. */
typedef struct MatchedIndex
{
	const IndexOptInfo *index;	/* hash key */
	List	   *matched;		/* Matched * */
} MatchedIndex;

/* All that is remembered of a planning run: MatchedIndex by IndexOptInfo, and */
typedef struct Memory
{
	RtscanPlanningRun run;
	MatchedIndex *last;			/* the one that was asked for last, or NULL */
} Memory;

static RtscanPlanningRun *memory;

static Matched
match(PlannerInfo *root, IndexOptInfo *index, RestrictInfo *info)
{
	RtscanQual *qual = rtscan_match_qual(index, info->clause);

	return (Matched) {
		.info = info,
		.qual = qual,
		.may_ask = qual && restriction_is_securely_promotable(info, index->rel) && !rtscan_is_volatile(root, info->clause),
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

/* In the memory of the planning run. */
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

/* Indexes and conditions that are made for joins may be given back before the planning run ends. */
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
