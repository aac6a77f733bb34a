/* SPDX-License-Identifier: PostgreSQL */
/*
 * offers.h
 *		Records what indexes offer for a query, and why they do not offer more.
 *
 * Offers are recorded only on request (explain_choice.c, monitor/explain_choice.c): those of the first query that is
 * planned between rtscan_begin_offers() and rtscan_end_offers().  Queries of functions that are called while this query
 * is planned or executed do not count: they may be other users' secrets.
 *
 * The planner's hooks note for each index and each node whether a path was offered, and at what cost; or why none was
 * offered.  When the plan has been made, offers also tell whether it has the node.
 */
#ifndef RTSCAN_OFFERS_H
#define RTSCAN_OFFERS_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* The nodes that an index may offer; a later one does more. */
typedef enum RtscanOfferNode
{
	RTSCAN_OFFER_SCAN,
	RTSCAN_OFFER_AGGREGATE
} RtscanOfferNode;

extern const char *const rtscan_offer_nodes[];

/* A node that an index offers for a table in a query, or why it does not offer the node. */
typedef struct RtscanOffer
{
	Oid			table;
	Oid			index;
	RtscanOfferNode node;
	bool		offered;		/* was a path offered? */
	bool		taken;			/* does the plan use the index in this way? */
	bool		in_loops;		/* were paths offered only for the inner side of nested loops? */
	Cost		cost;			/* total cost of the cheapest other path offered */
	const char *reason;			/* why no path was offered; NULL if one was */
	Cost		plan_cost;		/* total cost of the plan; 0: there is none yet */
} RtscanOffer;

/* Offers that were recorded. */
typedef struct RtscanOffers
{
	List	   *offers;			/* RtscanOffer * */
	MemoryContext context;		/* memory context of the offers */
	bool		planned;		/* has the query been planned, or is it being planned? */
	struct RtscanOffers *outer; /* recorded before this recording began, and after it ends; NULL: none */
} RtscanOffers;

/* Install the planner hook, which notes what plans have. */
extern void rtscan_init_offers(void);

/* Begin to record offers, in the current memory context. */
extern RtscanOffers *rtscan_begin_offers(void);

/* Stop recording these offers, also if an error has ended the recording. */
extern void rtscan_end_offers(const RtscanOffers *offers);

/* Are offers being recorded, and is their query being planned? */
extern bool rtscan_records_offers(void);

/* Note that a path by an index has been offered. */
extern void rtscan_note_offer(PlannerInfo *root, const IndexOptInfo *index, RtscanOfferNode node, const Path *path);

/* Note why no path by an index is offered.  The reason is copied.  It is dropped if a path has been offered. */
extern void rtscan_note_refusal(PlannerInfo *root, const IndexOptInfo *index, RtscanOfferNode node,
								const char *reason);

/* Note why no index of a relation offers a path. */
extern void rtscan_note_refusals(PlannerInfo *root, const RelOptInfo *rel, RtscanOfferNode node, const char *reason);

/* Return why an index cannot compute an expression: which columns it lacks. */
extern char *rtscan_why_not_computed(PlannerInfo *root, IndexOptInfo *index, const Node *expression);

/* Return what a user should read of an offer that was not taken, or of a refusal; with "costs", also costs. */
extern char *rtscan_offer_text(const RtscanOffer *offer, bool costs);

/*
 * Return the offers that were not taken, and refusals (RtscanOffer *).  A scan of an index is left out if the plan has
 * an aggregate of the same index.
 */
extern List *rtscan_offers_not_taken(const RtscanOffers *offers);

/* Return the OIDs of all indexes that a plan uses, of any access method. */
extern List *rtscan_indexes_of_plan(const PlannedStmt *statement);

/* explain_choice.c: install the hooks of EXPLAIN. */
extern void rtscan_init_explain_choice(void);

#endif							/* RTSCAN_OFFERS_H */
