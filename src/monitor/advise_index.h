/* SPDX-License-Identifier: PostgreSQL */
/*
 * advise_index.h
 *		Propose an index for the columns that queries use of a table.
 */
#ifndef RTSCAN_ADVISE_INDEX_H
#define RTSCAN_ADVISE_INDEX_H

#include "rtscan.h"

#include "plan/cost/hypothetical.h"

/* A proposed index. */
typedef struct RtscanProposal
{
	RtscanHypothetical index;	/* the index, as the planner knows it */
	char	   *definition;		/* the command that creates it */
	double		seconds;		/* estimated time of the build by one process */
	List	   *unneeded;		/* OIDs of btree indexes of the table that no query needs; set by the caller */
} RtscanProposal;

/*
 * Propose an index of a table for the columns "columns" (RtscanUsedColumn *), those of other tables left out.  Plans
 * name it by the OID "oid".  Returns NULL if the table has too few rows, if row-level security hides rows from the
 * user, or if no column can be a key.
 */
extern RtscanProposal *rtscan_propose_index(Oid table, List *columns, Oid oid);

/*
 * Return the btree indexes of a table that none of the indexes "used" is, and that nothing else is known to need: they
 * are not unique, of no exclusion constraint, identify no replica's rows, and support no foreign key.
 */
extern List *rtscan_unneeded_btrees(Oid table, const List *used);

#endif							/* RTSCAN_ADVISE_INDEX_H */
