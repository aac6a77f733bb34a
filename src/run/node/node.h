/*
 * node.h
 *		What RtscanScan and RtscanAggregate have in common: the table, the index, the filter, and who shares the work.
 *
 * A node reads its plan (node_plan.h) when it begins.  For each answer, that is at first and after a rescan, it evaluates
 * the plan's arguments and makes a filter of them.  What the filter is asked of is one image of the index.
 *
 * Where dimensions come in ranges (dimension.h) an answer is several searches, its *passes*: one for each range of each, with those of the
 * others.  A pass has a filter of its own, and no row of the fact is found in two of them.
 */
#ifndef RTSCAN_NODE_H
#define RTSCAN_NODE_H

#include "rtscan.h"

#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "run/answer/question.h"
#include "run/node/filter.h"
#include "run/plan/node_plan.h"
#include "search/scan/search.h"
#include "search/visible/visibility.h"

struct ExplainState;

/* A node; what is its own comes behind it. */
typedef struct RtscanNode
{
	CustomScanState custom;
	Relation	heap;
	Relation	checked_heap;	/* where it is found out which rows the snapshot sees; NULL: who takes the rows does */
	Relation	index;
	RtscanSchema *schema;
	RtscanNodePlan *plan;
	List	   *arguments;		/* of ExprState: WHERE's, then FILTERs' */
	struct RtscanSubquery *subqueries;	/* what those that are subqueries have come to, by argument */
	int			ndimensions;
	MemoryContext context;		/* of the answer at hand, or NULL: */
	RtscanArguments values;
	MemoryContext pass_context; /* of the pass at hand: */
	RtscanFilter filter;
	RtscanClaim claim;			/* by it and those before, of what processes share */
	RtscanQuestion question;
	RtscanVisibility visibility;	/* a scan's; or the leader's, of a parallel query, */
	const RtscanImage *image;	/* with the image, */
	struct RtscanShared *shared;	/* and what all its processes share */
	RtscanTotals totals;
} RtscanNode;

/* Read the plan and open the relations; the table may be open already.  And the end. */
extern void rtscan_begin_node(RtscanNode *node, int eflags);

/* May the user call a function or an aggregate?  As the executor asks where it initializes calls. */
extern void rtscan_check_permission(Oid function, ObjectType type);
extern void rtscan_end_node(RtscanNode *node);

/* It is going to be scanned again. */
extern void rtscan_rescan_node(RtscanNode *node);

/* Begin an answer, in a context of its own, with parameters as they are now; and give back what it took. */
extern void rtscan_begin_answer(RtscanNode *node);
extern void rtscan_end_answer(RtscanNode *node);

/*
 * Go on to the next pass, when what the one before has found has been given back; false if there is none.  Or begin with the first one
 * again.  The question's filter is another then.
 */
extern bool rtscan_next_pass(RtscanNode *node);
extern void rtscan_first_pass(RtscanNode *node);
extern void rtscan_evaluate_arguments(RtscanNode *node, int first, int end);

/* The image that a scan searches, in a memory context; and is it kept for when the node is scanned again?  How many rows it skips. */
extern const RtscanImage *rtscan_find_image(RtscanNode *node, MemoryContext context, bool keep);
extern uint64 rtscan_find_skip(RtscanNode *node);

/* CustomExecMethods of parallel queries.  Before shared memory is released a node keeps what EXPLAIN shows. */
extern Size rtscan_estimate_shared(CustomScanState *custom, ParallelContext *context);
extern void rtscan_initialize_shared(CustomScanState *custom, ParallelContext *context, void *memory);
extern void rtscan_reinitialize_shared(CustomScanState *custom, ParallelContext *context, void *memory);
extern void rtscan_initialize_worker(CustomScanState *custom, shm_toc *toc, void *memory);
extern void rtscan_leave_shared(RtscanNode *node);

/* EXPLAIN: expressions under a label, if there are any; what the node did. */
extern void rtscan_explain_quals(RtscanNode *node, List *quals, const char *label, List *ancestors,
								 struct ExplainState *es);
extern void rtscan_explain_columns(RtscanNode *node, List *columns, const char *label, List *ancestors,
								   struct ExplainState *es);
extern void rtscan_explain_keys(RtscanNode *node, List *keys, List *ancestors, struct ExplainState *es);
extern void rtscan_explain_order(const RtscanNode *node, struct ExplainState *es);
extern char *rtscan_deparse(RtscanNode *node, Node *expression, List *ancestors, struct ExplainState *es);
extern void rtscan_explain_totals(const RtscanNode *node, struct ExplainState *es);

/* explain_dimensions.c: what dimensions are, and did; what the pass that begins does is traced, if that is to be shown. */
extern void rtscan_explain_dimensions(RtscanNode *node, List *joins, List *ancestors, struct ExplainState *es);
extern void rtscan_trace_pass(RtscanNode *node);

/* aggregate_node.c, scan_node.c */
extern const CustomScanMethods rtscan_aggregate_scan_methods;
extern const CustomScanMethods rtscan_rows_scan_methods;

#endif							/* RTSCAN_NODE_H */
