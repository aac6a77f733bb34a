/* SPDX-License-Identifier: PostgreSQL */
/*
 * offer.c
 *		Offers the planner paths in which indexes compute aggregates.
 *
 * A table's rows are aggregated by one node, or by processes that share the work:
 *
 *	RtscanAggregate			Finalize Aggregate				Finalize Aggregate
 *							  Gather						  Append
 *							    RtscanAggregate, partial	    RtscanAggregate, partial, for each partition
 *
 * A table with partitions or children is aggregated by one node for each leaf, below an Append.  In parallel, it is a
 * Parallel Append below a Gather, and each node is executed by one process.
 *
 * The Append path's parent is the partitioned table, and the parents of the paths below it are the partitions, as in a
 * scan of the table.  So the planner gives the Append the data by which PostgreSQL's executor prunes partitions, at its
 * start and for the parameters of a nested loop.
 */
#include "plan/aggregate/path.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "plan/cost/indexes.h"
#include "plan/cost/leaves.h"
#include "plan/offers/offers.h"
#include "plan/star/advice.h"
#include "run/node/node.h"
#include "settings.h"
#include "utils/typcache.h"

static create_upper_paths_hook_type previous_hook;

/* ---------------------------------------------------------------- requests */

/* An aggregation that a query needs, by GROUP BY or DISTINCT.  Requests are made from it (RtscanRequest). */
typedef struct Asked
{
	RelOptInfo *output;			/* the upper relation that gets the paths */
	PathTarget *target;			/* the target that the paths compute */
	List	   *clauses;		/* the clauses of GROUP BY or DISTINCT: SortGroupClause */
	List	   *targets;		/* the TargetEntries that "clauses" refer to */
	List	   *sets;			/* GROUPING SETS, as lists of references */
	List	   *having;			/* the clauses of HAVING */
	bool		distinct;		/* the aggregation is DISTINCT, not GROUP BY */
} Asked;

/* Collects the aggregates and GROUPING()s that occur in expressions above an aggregation, each only once. */
typedef struct Collection
{
	const List *keys;			/* the grouping keys */
	List	   *aggrefs;		/* the aggregates found */
	List	   *groupings;		/* the GROUPING()s found */
	List	   *others;			/* the columns found outside of keys, aggregates and GROUPING()s (Var *) */
	bool		failed;			/* a window function or PlaceHolderVar is outside of them */
} Collection;

static bool
collect(Node *node, Collection *collection)
{
	if (node == NULL || collection->failed || list_member(collection->keys, node))
		return false;
	if (IsA(node, Aggref))
	{
		collection->aggrefs = list_append_unique(collection->aggrefs, node);
		return false;
	}
	if (IsA(node, GroupingFunc))
	{
		collection->groupings = list_append_unique(collection->groupings, node);
		return false;
	}
	if (IsA(node, Var))
		collection->others = list_append_unique(collection->others, node);
	collection->failed = IsA(node, WindowFunc) || IsA(node, PlaceHolderVar);
	return expression_tree_walker(node, collect, collection);
}

static bool
is_parallel_safe_request(const RtscanRequest *request)
{
	PlannerInfo *root = request->root;

	return request->table->consider_parallel && is_parallel_safe(root, (Node *) request->keys) &&
		is_parallel_safe(root, (Node *) request->aggrefs);
}

int
rtscan_number_of_key(const RtscanRequest *request, Index reference)
{
	for (int i = 0; i < list_length(request->group_clauses); i++)
		if (list_nth_node(SortGroupClause, request->group_clauses, i)->tleSortGroupRef == reference)
			return i;
	elog(ERROR, "GROUP BY has no reference %u", reference);
}

/* Return the numbers of the keys that have these references (SortGroupClause.tleSortGroupRef). */
static Bitmapset *
numbers_of_keys(const RtscanRequest *request, const List *references)
{
	Bitmapset  *numbers = NULL;
	ListCell   *cell;

	foreach(cell, references)
		numbers = bms_add_member(numbers, rtscan_number_of_key(request, lfirst_int(cell)));
	return numbers;
}

static void
add_sets(RtscanRequest *request, const List *sets)
{
	Bitmapset  *all = NULL;
	ListCell   *cell;

	foreach(cell, sets)
		request->sets = lappend(request->sets, numbers_of_keys(request, lfirst(cell)));
	if (list_length(request->keys) > 0)
		all = bms_add_range(NULL, 0, list_length(request->keys) - 1);
	if (request->sets == NIL)
		request->sets = list_make1(all);
}

/*
 * Grouping sets make some keys NULL in results.  Does the planner find each key of the query in the results?  It
 * searches for equal expressions, so it would find only the first of several equal keys, and it never replaces
 * constants.
 */
static bool
can_be_null(const List *keys)
{
	for (int i = 0; i < list_length(keys); i++)
	{
		Node	   *key = list_nth(keys, i);

		if (IsA(key, Const) || list_member(list_copy_tail(keys, i + 1), key))
			return false;
	}
	return true;
}

/* Describe GROUP BY. */
static Asked
asked_by_group(RelOptInfo *output, GroupPathExtraData *group, const Query *query)
{
	return (Asked) {output, output->reltarget, query->groupClause, group->targetList, query->groupingSets,
		(List *) group->havingQual, false};
}

/* Describe DISTINCT, which is GROUP BY of everything that is selected, without aggregates. */
static Asked
asked_by_distinct(PlannerInfo *root, RelOptInfo *output)
{
	return (Asked) {output, root->upper_targets[UPPERREL_DISTINCT], root->parse->distinctClause,
		root->processed_tlist, .distinct = true};
}

/* Note why no request is made for a table; returns false. */
static bool
refuse(PlannerInfo *root, const RelOptInfo *table, const char *reason)
{
	rtscan_note_refusals(root, table, RTSCAN_OFFER_AGGREGATE, reason);
	return false;
}

/* Return a clause that groups by an expression, without a reference to it; NULL if its type cannot be hashed. */
static SortGroupClause *
make_group_clause(Node *expression)
{
	SortGroupClause *clause = makeNode(SortGroupClause);
	const TypeCacheEntry *type = lookup_type_cache(exprType(expression), TYPECACHE_EQ_OPR | TYPECACHE_HASH_PROC);

	clause->eqop = type->eq_opr;
	clause->hashable = OidIsValid(type->eq_opr) && OidIsValid(type->hash_proc);
	return clause->hashable ? clause : NULL;
}

/*
 * Make keys of the columns outside of GROUP BY.  SQL allows these columns only if the primary key of their table is in
 * GROUP BY, and PostgreSQL itself removes them from GROUP BY then.  They do not change the groups.  False if that is
 * impossible.
 */
static bool
add_dependent_keys(RtscanRequest *request, List *columns)
{
	int			nkeys = list_length(request->output_keys);
	ListCell   *cell;

	if (columns == NIL)
		return true;
	if (nkeys == 0 || request->distinct || list_length(request->sets) != 1)
		return false;
	request->group_clauses = list_copy(request->group_clauses);
	foreach(cell, columns)
	{
		SortGroupClause *clause = make_group_clause(lfirst(cell));

		if (clause == NULL)
			return false;
		request->group_clauses = lappend(request->group_clauses, clause);
		request->dependent = bms_add_member(request->dependent, nkeys + foreach_current_index(cell));
	}
	request->keys = list_concat_copy(request->keys, rtscan_expressions_of_rows(request->root, columns));
	request->output_keys = list_concat_copy(request->output_keys, columns);
	request->sets = list_make1(bms_add_range(bms_copy(linitial(request->sets)), nkeys, list_length(request->keys) - 1));
	return true;
}

/* Make the request for one table; false if only PostgreSQL's executor can compute the aggregation. */
static bool
make_request(RtscanRequest *request, PlannerInfo *root, RelOptInfo *table, const Asked *asked)
{
	Collection	collection;

	*request = (RtscanRequest) {.root = root, .table = table, .input = table, .output = asked->output,
		.target = asked->target};
	if (!grouping_is_hashable(asked->clauses))
		return refuse(root, table, "a type of GROUP BY has no hash function");
	request->distinct = asked->distinct;
	request->group_clauses = asked->clauses;
	request->output_keys = get_sortgrouplist_exprs(asked->clauses, asked->targets);
	if (asked->sets != NIL && !can_be_null(request->output_keys))
		return refuse(root, table, "grouping sets have constants or equal expressions");
	request->keys = rtscan_expressions_of_rows(root, rtscan_compat_below_grouping(root, request->output_keys));
	add_sets(request, asked->sets);
	request->having = asked->having;
	collection = (Collection) {.keys = request->output_keys};
	collect((Node *) list_make2(asked->target->exprs, request->having), &collection);
	request->aggrefs = collection.aggrefs;
	request->groupings = collection.groupings;
	request->parallel_safe = is_parallel_safe_request(request);

	/*
	 * The planner may have folded all aggregates to constants.  If there are no keys either, there is nothing to
	 * compute.
	 */
	if (collection.failed || !add_dependent_keys(request, collection.others))
		return refuse(root, table, "a selected column is neither in GROUP BY nor in an aggregate");
	return rtscan_is_grouped(request) || request->aggrefs != NIL;
}

/* ---------------------------------------------------------------- partial aggregation */

/* Can the aggregates be split into partial and final ones?  For grouping sets, PostgreSQL has no final aggregation. */
static bool
can_be_parted(const PlannerInfo *root)
{
	return !root->hasNonPartialAggs && !root->hasNonSerialAggs && root->parse->groupingSets == NIL;
}

/* Make the partial aggregates. */
static List *
make_partial_aggrefs(List *aggrefs)
{
	List	   *partial = NIL;
	ListCell   *cell;

	foreach(cell, aggrefs)
	{
		Aggref	   *aggref = makeNode(Aggref);

		memcpy(aggref, lfirst(cell), sizeof(Aggref));
		mark_partial_aggref(aggref, AGGSPLIT_INITIAL_SERIAL);
		partial = lappend(partial, aggref);
	}
	return partial;
}

/*
 * Make the target of a partial aggregation: the keys, labelled with the references by which the final aggregation finds
 * them, and the partial aggregates.
 */
static PathTarget *
make_partial_target(const RtscanRequest *request)
{
	PathTarget *target = create_empty_pathtarget();
	ListCell   *key,
			   *clause;

	forboth(key, request->output_keys, clause, request->group_clauses)
		add_column_to_pathtarget(target, lfirst(key), lfirst_node(SortGroupClause, clause)->tleSortGroupRef);
	add_new_columns_to_pathtarget(target, request->aggrefs);
	return set_pathtarget_cost_width(request->root, target);
}

static RtscanRequest *
make_partial_request(const RtscanRequest *request)
{
	RtscanRequest *partial = palloc(sizeof(RtscanRequest));

	*partial = *request;
	partial->partial = true;
	partial->having = NIL;
	partial->groupings = NIL;
	partial->aggrefs = make_partial_aggrefs(request->aggrefs);
	partial->target = make_partial_target(partial);
	partial->output = request->distinct ? fetch_upper_rel(request->root, UPPERREL_PARTIAL_DISTINCT, NULL) :
		fetch_upper_rel(request->root, UPPERREL_PARTIAL_GROUP_AGG, request->input->relids);
	return partial;
}

/* Return the clauses of GROUP BY or DISTINCT themselves, without those of dependent keys, which are the last ones. */
static List *
independent_clauses(const RtscanRequest *request)
{
	return list_truncate(list_copy(request->group_clauses),
						 list_length(request->group_clauses) - bms_num_members(request->dependent));
}

/*
 * Add a path that finalizes the results of a partial path.  For DISTINCT, which has no aggregates, the path removes
 * duplicates a second time.
 */
static void
add_final_path(const RtscanRequest *request, Path *partial)
{
	PlannerInfo *root = request->root;
	List	   *clauses = independent_clauses(request);
	AggClauseCosts costs;
	double		groups = 1;

	MemSet(&costs, 0, sizeof(costs));
	get_agg_clause_costs(root, AGGSPLIT_FINAL_DESERIAL, &costs);
	if (rtscan_is_grouped(request))
		groups = rtscan_estimate_groups(root, list_truncate(list_copy(request->keys), list_length(clauses)), NIL,
										Max(partial->rows, 1));
	add_path(request->output, (Path *)
			 create_agg_path(root, request->output, partial, request->target,
							 rtscan_is_grouped(request) ? AGG_HASHED : AGG_PLAIN,
							 request->distinct ? AGGSPLIT_SIMPLE : AGGSPLIT_FINAL_DESERIAL,
							 clauses, request->having, &costs, groups));
}

/* ---------------------------------------------------------------- several processes */

/* Gather the results of parallel processes; "rows" is the number of results of all processes together. */
static Path *
gather(const RtscanRequest *partial, Path *path, double rows)
{
	Path	   *gather = (Path *) create_gather_path(partial->root, partial->output, path, partial->target, NULL,
													 &rows);

	rtscan_count_disabled_gather(partial->root, gather, partial->star ? partial->star->rel : partial->table);
	return gather;
}

/*
 * Does rtscan.executor name the executor that adds up the rows on a device?  Then no parallel path is offered, since
 * its processes would use the CPU.
 */
static bool
is_left_to_executor(const Path *path)
{
	return path && rtscan_executor != RTSCAN_EXECUTOR_AUTO && ((const RtscanPath *) path)->on_device;
}

/* Offer a parallel path.  "cost" and "groups" are the cost and the number of groups of the path by one process. */
static void
offer_parallel(const RtscanRequest *request, Cost cost, double groups)
{
	int			workers = rtscan_workers(request->table, cost, groups);
	RtscanRequest *partial;
	Path	   *path;

	if (workers <= 0 || !request->parallel_safe || !can_be_parted(request->root))
		return;
	partial = make_partial_request(request);
	partial->workers = workers;
	partial->in_worker = true;
	path = rtscan_cheapest_path(partial);
	if (path)
		add_final_path(request, gather(partial, path, path->rows * (workers + 1)));
}

/* ---------------------------------------------------------------- partitions and children */

/*
 * Translate a table's partial request to one for its descendant "child".  The target has the keys, then the aggregates.
 */
static RtscanRequest *
translate_request(const RtscanRequest *request, RelOptInfo *child)
{
	RtscanRequest *translated = palloc(sizeof(RtscanRequest));
	int			nkeys = list_length(request->output_keys);
	bool		same = request->keys == request->output_keys;
	List	   *all = (List *)
		adjust_appendrel_attrs_multilevel(request->root,
										  (Node *) list_make2(request->target->exprs, same ? NIL : request->keys),
										  child, request->table);

	*translated = *request;
	translated->table = child;
	translated->output = child;
	translated->parallel_safe = request->parallel_safe && child->consider_parallel;
	translated->target = copy_pathtarget(request->target);
	translated->target->exprs = linitial(all);
	translated->keys = same ? list_truncate(list_copy(translated->target->exprs), nkeys) : lsecond(all);
	translated->output_keys = translated->keys;
	translated->aggrefs = list_copy_tail(translated->target->exprs, nkeys);
	return translated;
}

/*
 * Return the cheapest path of a leaf, or NULL.  If "stars" is not NIL, it is a path of one of the stars whose fact is
 * the leaf.
 */
static Path *
leaf_path(const RtscanRequest *request, RelOptInfo *leaf, List *stars)
{
	RtscanRequest *translated = translate_request(request, leaf);
	Path	   *cheapest = NULL;
	ListCell   *cell;

	if (stars == NIL)
		return rtscan_can_answer(request->root, leaf) ? rtscan_cheapest_path(translated) : NULL;
	foreach(cell, stars)
	{
		const RtscanStar *star = lfirst(cell);
		RtscanRequest *of_star;
		Path	   *path;

		if (star->index->rel != leaf)
			continue;
		of_star = palloc(sizeof(RtscanRequest));
		*of_star = *translated;
		of_star->star = star;
		path = rtscan_cheapest_path(of_star);
		if (path && rtscan_compat_is_cheaper(path, cheapest))
			cheapest = path;
	}
	return cheapest;
}

/*
 * Append paths of all leaves.  NULL if there are no leaves, if a leaf has no path, or if workers are to execute the
 * Append but none may be used.
 */
static Path *
append_leaves(const RtscanRequest *request, List *stars)
{
	List	   *paths = NIL;
	ListCell   *cell;

	foreach(cell, rtscan_leaves_of(request->root, request->table))
	{
		Path	   *path = leaf_path(request, lfirst(cell), stars);

		if (path == NULL)
			return NULL;
		paths = lappend(paths, path);
	}
	if (paths == NIL || (request->in_worker && rtscan_workers_for_leaves(paths) == 0))
		return NULL;
	return rtscan_append_leaves(request->root, request->table, request->target, paths, request->in_worker);
}

static void
offer_leaves(const RtscanRequest *request, List *stars)
{
	RtscanRequest *partial = make_partial_request(request);
	Path	   *append = append_leaves(partial, stars);

	if (append == NULL)
		return;
	add_final_path(request, append);
	partial->in_worker = true;
	append = request->parallel_safe ? append_leaves(partial, stars) : NULL;
	if (append && append->parallel_safe)
		add_final_path(request, gather(partial, append, append->rows));
}

/* ---------------------------------------------------------------- the hook */

static void
offer(const RtscanRequest *request)
{
	Path	   *path = rtscan_cheapest_path(request);
	Cost		cost = path ? ((RtscanPath *) path)->cpu_cost : 0;
	double		groups = path ? path->rows : 0;
	bool		left = is_left_to_executor(path);

	if (path)
		add_path(request->output, path);
	if (!left)
		offer_parallel(request, cost, groups);
}

/* Offer paths of a star or, if star is NULL, of the stars of the fact's leaves. */
static void
offer_star(PlannerInfo *root, RelOptInfo *input, const Asked *asked, const RtscanStar *star, RelOptInfo *fact)
{
	RtscanRequest *request = palloc(sizeof(RtscanRequest));

	if (!make_request(request, root, fact, asked))
		return;
	request->input = input;
	request->star = star;
	request->parallel_safe &= input->consider_parallel;
	if (star)
		offer(request);
	else if (can_be_parted(root))
		offer_leaves(request, rtscan_stars_of(root, input));
}

/* Offer paths of all stars of a join relation: those of whole facts, and those of each fact's leaves. */
static void
offer_stars(PlannerInfo *root, RelOptInfo *input, const Asked *asked)
{
	ListCell   *cell;

	foreach(cell, rtscan_stars_of(root, input))
		if (((RtscanStar *) lfirst(cell))->table == NULL)
			offer_star(root, input, asked, lfirst(cell), ((RtscanStar *) lfirst(cell))->index->rel);
	foreach(cell, rtscan_facts_of_leaves(root, input))
		offer_star(root, input, asked, NULL, lfirst(cell));
}

/* Note why indexes of the input's tables have no paths, unless they have been offered as facts of stars. */
static void
note_refusals(PlannerInfo *root, const RelOptInfo *input, const char *reason)
{
	int			relid = -1;

	while (rtscan_records_offers() && (relid = bms_next_member(input->relids, relid)) >= 0)
		if (root->simple_rel_array[relid])
			refuse(root, root->simple_rel_array[relid], reason);
}

static void
offer_answers(PlannerInfo *root, RelOptInfo *input, const Asked *asked)
{
	RtscanRequest *request;
	bool		whole;

	offer_stars(root, input, asked);
	whole = rtscan_can_answer(root, input);
	if (!whole && (!rtscan_has_leaves(root, input) || !can_be_parted(root)))
	{
		note_refusals(root, input, bms_membership(input->relids) == BMS_MULTIPLE ?
					  "the join is not a star with the table as its fact" :
					  "not all rows are in one table that the index can answer for");
		return;
	}
	request = palloc(sizeof(RtscanRequest));
	if (!make_request(request, root, input, asked))
		return;
	if (whole)
		offer(request);
	else
		offer_leaves(request, NIL);
}

/*
 * Are all selected values known to be constant, so that DISTINCT leaves one row?  PostgreSQL then takes the first row.
 * (Keys that cannot be sorted have no path keys either, so the absence of path keys alone does not tell.)
 */
static bool
has_one_row(const PlannerInfo *root)
{
	return root->distinct_pathkeys == NIL && grouping_is_sortable(root->parse->distinctClause);
}

/*
 * Is the query a SELECT DISTINCT of the rows of a table or a join, which compares all selected values?  After GROUP BY
 * or window functions, the rows are those of another relation, which has no index.
 */
static bool
is_plain_distinct(PlannerInfo *root)
{
	const Query *query = root->parse;

	return query->distinctClause != NIL && !query->hasDistinctOn && !query->hasTargetSRFs && !query->hasAggs &&
		query->groupClause == NIL && query->groupingSets == NIL && !query->hasWindowFuncs && !has_one_row(root);
}

static void
consider_aggregates(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input, RelOptInfo *output, void *extra)
{
	Asked		asked;

	if (previous_hook)
		previous_hook(root, stage, input, output, extra);
	if (!rtscan_enable_aggregate)
	{
		if (stage == UPPERREL_GROUP_AGG || stage == UPPERREL_DISTINCT)
			note_refusals(root, input, "rtscan.enable_aggregate is off");
		return;
	}
	if (stage == UPPERREL_GROUP_AGG)
		asked = asked_by_group(output, (GroupPathExtraData *) extra, root->parse);
	else if (stage == UPPERREL_DISTINCT && is_plain_distinct(root))
		asked = asked_by_distinct(root, output);
	else
		return;
	offer_answers(root, input, &asked);
}

void
rtscan_init_aggregate(void)
{
	RegisterCustomScanMethods(&rtscan_aggregate_scan_methods);
	previous_hook = create_upper_paths_hook;
	create_upper_paths_hook = consider_aggregates;
}
