/* SPDX-License-Identifier: PostgreSQL */
/*
 * hints.c
 *		A library that replaces the paths of a table, as pg_hint_plan does if a scan is hinted.
 *
 * It deletes all existing paths, and adds a sequential scan.
 */
#include "postgres.h"

#include "fmgr.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

static set_rel_pathlist_hook_type previous_hook;

static void
make_others(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (previous_hook)
		previous_hook(root, rel, rti, rte);
	if (rte->rtekind != RTE_RELATION)
		return;
	list_free_deep(rel->pathlist);
	rel->pathlist = NIL;
	rel->partial_pathlist = NIL;
	add_path(rel, create_seqscan_path(root, rel, NULL, 0));
}

void
_PG_init(void)
{
	previous_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = make_others;
}
