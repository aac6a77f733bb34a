/* SPDX-License-Identifier: PostgreSQL */
/*
 * node.h
 *		Implements what RtscanScan and RtscanAggregate share: table, index, filter, passes, parallel queries, EXPLAIN.
 *
 * A node reads its plan (node_plan.h) when it begins.  For each answer, that is for the first execution and after each
 * rescan, it evaluates the plan's arguments and makes a filter of them.  Then it searches one image of the index.
 *
 * If rows of dimensions are read in ranges (dimension.h), an answer consists of several searches, its *passes*: one for
 * each combination of the dimensions' ranges.  Each pass has its own filter, and no fact row is found in two passes.
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
struct RtscanNode;

/* Free a node's current answer, if an answer has begun.  RtscanScan and RtscanAggregate use different functions. */
typedef void (*RtscanEndAnswer) (struct RtscanNode *node);

/* The first part of the state of an RtscanScan, and of an RtscanAggregate. */
typedef struct RtscanNode
{
	CustomScanState custom;
	RtscanEndAnswer end_answer;
	bool		done;			/* all results have been returned */
	Relation	heap;
	Relation	checked_heap;	/* heap that tells which rows the snapshot sees; NULL: rows are checked when fetched */
	Relation	index;
	RtscanSchema *schema;
	RtscanNodePlan *plan;
	List	   *arguments;		/* ExprState *: WHERE's arguments, then FILTERs' */
	struct RtscanSubquery *subqueries;	/* by argument: the value of an argument that is a subquery */
	int			ndimensions;
	MemoryContext context;		/* memory context of the current answer; NULL: no answer has begun */
	RtscanArguments values;		/* the current answer's arguments */
	MemoryContext pass_context; /* memory context of the current pass */
	RtscanFilter filter;		/* the current pass's filter */
	RtscanClaim claim;			/* this process's part of a shared search, the same in all passes of an answer */
	RtscanQuestion question;
	RtscanVisibility visibility;	/* which rows the snapshot sees; set by a scan, or by a parallel query's leader */
	const RtscanImage *image;	/* image that is kept for rescans, or in the leader until it is shared; else NULL */
	struct RtscanShared *shared;	/* memory that the processes of a parallel query share; or NULL */
	RtscanTotals totals;		/* counts for EXPLAIN */
} RtscanNode;

/* Create the state of a node: "size" bytes, which begin with an RtscanNode. */
extern Node *rtscan_create_node(Size size, const CustomExecMethods *methods, RtscanEndAnswer end_answer);

/* Read the plan and open the relations.  The table may be open already. */
extern void rtscan_begin_node(RtscanNode *node, int eflags);

/*
 * Raise an error if the user may not call a function or aggregate, as PostgreSQL's executor does when it initializes
 * a call.
 */
extern void rtscan_check_permission(Oid function, ObjectType type);

/* Close what rtscan_begin_node() opened, after the answer has ended. */
extern void rtscan_end_node(RtscanNode *node);

/*
 * End the answer, and prepare for a rescan.  Dimensions keep their rows, unless their plans depend on changed
 * parameters.
 */
extern void rtscan_rescan_node(RtscanNode *node);

/*
 * rtscan_begin_answer() begins an answer in a memory context of its own, with the current values of parameters.
 * rtscan_end_answer() deletes this context, if an answer has begun.
 */
extern void rtscan_begin_answer(RtscanNode *node);
extern void rtscan_end_answer(RtscanNode *node);

/*
 * Go on to the next pass, or return to the first pass.  rtscan_next_pass() returns false if no pass is left.  Both
 * functions replace the question's filter, so the caller must have closed the search that uses this filter.
 */
extern bool rtscan_next_pass(RtscanNode *node);
extern void rtscan_first_pass(RtscanNode *node);

/* Evaluate the plan's arguments first .. end - 1, and store their values in node->values. */
extern void rtscan_evaluate_arguments(RtscanNode *node, int first, int end);

/* Return the image that a scan searches, allocated in "context".  If "keep" is true, rescans use the same image. */
extern const RtscanImage *rtscan_find_image(RtscanNode *node, MemoryContext context, bool keep);

/* Return the number of rows that OFFSET skips. */
extern uint64 rtscan_find_skip(RtscanNode *node);

/* CustomExecMethods of parallel queries. */
extern Size rtscan_estimate_shared(CustomScanState *custom, ParallelContext *context);
extern void rtscan_initialize_shared(CustomScanState *custom, ParallelContext *context, void *memory);
extern void rtscan_reinitialize_shared(CustomScanState *custom, ParallelContext *context, void *memory);
extern void rtscan_initialize_worker(CustomScanState *custom, shm_toc *toc, void *memory);

/* End the answer, and copy the counts for EXPLAIN from shared memory, which is about to be released. */
extern void rtscan_shut_down_node(CustomScanState *custom);

/* ---------------------------------------------------------------- EXPLAIN: explain.c */

/* Show the table of a node that does not scan it in the eyes of PostgreSQL. */
extern void rtscan_explain_relation(RtscanNode *node, ExplainState *es);

/* Show the index, its quals, the dimensions, the implied ranges and the quals that are evaluated on rows. */
extern void rtscan_explain_search(RtscanNode *node, const RtscanShown *shown, List *ancestors,
								  struct ExplainState *es);

/* Show the conjunction of quals under a label; show nothing if "quals" is NIL. */
extern void rtscan_explain_quals(RtscanNode *node, List *quals, const char *label, List *ancestors,
								 struct ExplainState *es);

/* Show the keys of GROUP BY, by grouping set if there are several. */
extern void rtscan_explain_keys(RtscanNode *node, List *keys, List *ancestors, struct ExplainState *es);

/* Show the order of the rows, and whether a bounded heap sorts them. */
extern void rtscan_explain_order(const RtscanNode *node, struct ExplainState *es);

/* Show the counts of the node. */
extern void rtscan_explain_totals(const RtscanNode *node, struct ExplainState *es);

/* Return an expression as text. */
extern char *rtscan_deparse(RtscanNode *node, Node *expression, List *ancestors, struct ExplainState *es);

/* ---------------------------------------------------------------- dimensions: explain_dimensions.c */

/* Show the dimensions and their counts. */
extern void rtscan_explain_dimensions(RtscanNode *node, List *joins, List *ancestors, struct ExplainState *es);

/* Begin to trace a pass's dimensions, if EXPLAIN ANALYZE is to show their counts. */
extern void rtscan_trace_pass(RtscanNode *node);

/* ---------------------------------------------------------------- the two nodes: aggregate_node.c, scan_node.c */

extern const CustomScanMethods rtscan_aggregate_scan_methods;
extern const CustomScanMethods rtscan_rows_scan_methods;

#endif							/* RTSCAN_NODE_H */
