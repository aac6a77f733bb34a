/* SPDX-License-Identifier: PostgreSQL */
/*
 * advice.h
 *		Differences between PostgreSQL's versions: advice against paths, from PostgreSQL 19 on.
 *
 * Only compat.h includes this file, after PostgreSQL's headers.
 */
#ifndef RTSCAN_COMPAT_ADVICE_H
#define RTSCAN_COMPAT_ADVICE_H

/*
 * Does the mask of a relation or join lack strategies because of advice?
 *
 * PostgreSQL 19 has a mask of allowed strategies for each relation and join, from which extensions such as
 * pg_plan_advice remove those that they advise against.  Initially it is the planner's default mask, which follows
 * from the settings enable_...  These settings concern only PostgreSQL's paths; rtscan's paths have settings of their
 * own.  So a missing strategy is advice only if the default mask has it.
 */
#if PG_VERSION_NUM >= 190000
#define RTSCAN_COMPAT_LACKS(root, mask, strategies) (((root)->glob->default_pgs_mask & ~(mask) & (strategies)) != 0)
#endif

/*
 * Does advice demand a scan of the table that does not use "index", an index of rtscan?  Advice for index scans
 * allows rtscan's scans, even though PostgreSQL itself has no plain index scan with this index.  A mask without any
 * strategy of PGS_SCAN_ANY does not count here: it demands an Append instead of a scan.
 */
static inline bool
rtscan_compat_advises_other_scan(const PlannerInfo *root, const IndexOptInfo *index)
{
#if PG_VERSION_NUM >= 190000
	uint64		mask = index->rel->pgs_mask;

	return index->disabled ||
		((mask & PGS_SCAN_ANY) != 0 && RTSCAN_COMPAT_LACKS(root, mask, PGS_SCAN_ANY) &&
		 (mask & (PGS_INDEXSCAN | PGS_INDEXONLYSCAN)) == 0);
#else
	return false;
#endif
}

/* Does advice demand that two relations be joined by one of PostgreSQL's methods, or not be joined at all? */
static inline bool
rtscan_compat_advises_other_join(const PlannerInfo *root, const JoinPathExtraData *extra)
{
#if PG_VERSION_NUM >= 190000
	return RTSCAN_COMPAT_LACKS(root, extra->pgs_mask, PGS_JOIN_ANY);
#else
	return false;
#endif
}

/* Does advice demand an Append for a join?  If so, it forbids all methods for the join, for every pair of relations. */
static inline bool
rtscan_compat_advises_append(const PlannerInfo *root, const RelOptInfo *joinrel)
{
#if PG_VERSION_NUM >= 190000
	return (joinrel->pgs_mask & PGS_JOIN_ANY) == 0 && RTSCAN_COMPAT_LACKS(root, joinrel->pgs_mask, PGS_JOIN_ANY);
#else
	return false;
#endif
}

/* Does advice demand that a relation's rows be gathered from parallel processes? */
static inline bool
rtscan_compat_advises_gather(const PlannerInfo *root, const RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 190000
	return RTSCAN_COMPAT_LACKS(root, rel->pgs_mask, PGS_CONSIDER_NONPARTIAL);
#else
	return false;
#endif
}

/* Does advice forbid that a relation's rows be gathered from parallel processes? */
static inline bool
rtscan_compat_advises_no_gather(const PlannerInfo *root, const RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 190000
	return RTSCAN_COMPAT_LACKS(root, rel->pgs_mask, PGS_GATHER);
#else
	return false;
#endif
}

#endif							/* RTSCAN_COMPAT_ADVICE_H */
