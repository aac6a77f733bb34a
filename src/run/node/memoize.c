/* SPDX-License-Identifier: PostgreSQL */
/*
 * memoize.c
 *		Memoizes results of an RtscanAggregate by parameters.
 */
#include "run/node/memoize.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* A parameter of the node's expressions. */
typedef struct Parameter
{
	int			id;
	int16		typlen;
	bool		typbyval;
} Parameter;

/* An entry of the hash table: values of the parameters, and the result for them. */
typedef struct MemoizedResult
{
	uint32		hash;
	char		status;
	const NullableDatum *parameters;
	const NullableDatum *values;	/* the columns of the result */
} MemoizedResult;

struct results_hash;

struct RtscanMemoize
{
	const EState *estate;		/* state of the query, which has the values of parameters */
	Bitmapset  *ids;			/* IDs of parameters in the expressions that the result depends on */
	Bitmapset  *others;			/* IDs of parameters in expressions on the result; results do not depend on them */
	int			nparameters;	/* number of parameters in ids */
	Parameter  *parameters;		/* the parameters in ids, with their types */
	NullableDatum *current;		/* current values of the parameters, set by read_parameters() */
	TupleDesc	result;
	MemoryContext context;		/* memory context of the hash table and its contents */
	struct results_hash *results;	/* NULL: nothing is memoized */
	uint64		hits;			/* number of results found in the cache */
};

static bool are_same_values(const RtscanMemoize *memoize, const NullableDatum *one, const NullableDatum *other);
static uint32 hash_values(const RtscanMemoize *memoize, const NullableDatum *values);

#define SH_PREFIX results
#define SH_ELEMENT_TYPE MemoizedResult
#define SH_KEY_TYPE const NullableDatum *
#define SH_KEY parameters
#define SH_HASH_KEY(table, key) hash_values((table)->private_data, key)
#define SH_EQUAL(table, a, b) are_same_values((table)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(table, entry) (entry)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static bool
are_same_values(const RtscanMemoize *memoize, const NullableDatum *one, const NullableDatum *other)
{
	for (int i = 0; i < memoize->nparameters; i++)
	{
		const Parameter *parameter = &memoize->parameters[i];

		if (one[i].isnull != other[i].isnull ||
			(!one[i].isnull && !datum_image_eq(one[i].value, other[i].value, parameter->typbyval, parameter->typlen)))
			return false;
	}
	return true;
}

static uint32
hash_values(const RtscanMemoize *memoize, const NullableDatum *values)
{
	uint32		hash = 0;

	for (int i = 0; i < memoize->nparameters; i++)
	{
		const Parameter *parameter = &memoize->parameters[i];

		hash = hash_combine(hash, values[i].isnull ? 0 :
							datum_image_hash(values[i].value, parameter->typbyval, parameter->typlen));
	}
	return hash;
}

/* ---------------------------------------------------------------- parameters */

static void
add_parameter(RtscanMemoize *memoize, const Param *param)
{
	Parameter  *parameter;

	if (bms_is_member(param->paramid, memoize->ids))
		return;
	memoize->ids = bms_add_member(memoize->ids, param->paramid);
	memoize->parameters = memoize->parameters == NULL ? palloc(sizeof(Parameter)) :
		repalloc(memoize->parameters, (memoize->nparameters + 1) * sizeof(Parameter));
	parameter = &memoize->parameters[memoize->nparameters++];
	parameter->id = param->paramid;
	get_typlenbyval(param->paramtype, &parameter->typlen, &parameter->typbyval);
}

static bool
collect_parameters(Node *node, RtscanMemoize *memoize)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((const Param *) node)->paramkind == PARAM_EXEC)
		add_parameter(memoize, (const Param *) node);
	return expression_tree_walker(node, collect_parameters, memoize);
}

static bool
collect_others(Node *node, Bitmapset **others)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((const Param *) node)->paramkind == PARAM_EXEC)
		*others = bms_add_member(*others, ((const Param *) node)->paramid);
	return expression_tree_walker(node, collect_others, others);
}

RtscanMemoize *
rtscan_create_memoize(const EState *estate, List *expressions, List *of_results, TupleDesc result)
{
	RtscanMemoize *memoize = palloc0(sizeof(RtscanMemoize));

	memoize->estate = estate;
	memoize->result = result;
	collect_parameters((Node *) expressions, memoize);
	collect_others((Node *) of_results, &memoize->others);
	memoize->current = palloc(Max(memoize->nparameters, 1) * sizeof(NullableDatum));
	memoize->context = AllocSetContextCreate(CurrentMemoryContext, "rtscan remembered results",
											 ALLOCSET_DEFAULT_SIZES);
	return memoize;
}

/* Read the parameters' current values.  Return false if one is the result of a subquery that is not executed yet. */
static bool
read_parameters(RtscanMemoize *memoize)
{
	for (int i = 0; i < memoize->nparameters; i++)
	{
		const ParamExecData *param = &memoize->estate->es_param_exec_vals[memoize->parameters[i].id];

		if (param->execPlan != NULL)
			return false;
		memoize->current[i] = (NullableDatum) {.value = param->value, .isnull = param->isnull};
	}
	return true;
}

/* ---------------------------------------------------------------- results */

static void
forget_results(RtscanMemoize *memoize)
{
	MemoryContextReset(memoize->context);
	memoize->results = NULL;
}

void
rtscan_memoize_change_parameters(RtscanMemoize *memoize, const Bitmapset *changed)
{
	int			id = -1;

	while ((id = bms_next_member(changed, id)) >= 0)
		if (!bms_is_member(id, memoize->ids) && !bms_is_member(id, memoize->others))
		{
			forget_results(memoize);
			return;
		}
}

bool
rtscan_memoize_lookup(RtscanMemoize *memoize, Datum *values, bool *isnull)
{
	const MemoizedResult *result;

	if (memoize->results == NULL || !read_parameters(memoize))
		return false;
	result = results_lookup(memoize->results, memoize->current);
	if (result == NULL)
		return false;
	for (int i = 0; i < memoize->result->natts; i++)
	{
		values[i] = result->values[i].value;
		isnull[i] = result->values[i].isnull;
	}
	memoize->hits++;
	return true;
}

static NullableDatum
copy_to_memoize(Datum value, bool isnull, bool typbyval, int16 typlen)
{
	return (NullableDatum) {.value = isnull ? (Datum) 0 : datumCopy(value, typbyval, typlen), .isnull = isnull};
}

static const NullableDatum *
copy_parameters(const RtscanMemoize *memoize)
{
	NullableDatum *copies = palloc(Max(memoize->nparameters, 1) * sizeof(NullableDatum));

	for (int i = 0; i < memoize->nparameters; i++)
		copies[i] = copy_to_memoize(memoize->current[i].value, memoize->current[i].isnull,
									memoize->parameters[i].typbyval, memoize->parameters[i].typlen);
	return copies;
}

static const NullableDatum *
copy_all_to_memoize(const RtscanMemoize *memoize, const Datum *values, const bool *isnull)
{
	NullableDatum *copies = palloc(memoize->result->natts * sizeof(NullableDatum));

	for (int i = 0; i < memoize->result->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(memoize->result, i);

		copies[i] = copy_to_memoize(values[i], isnull[i], attribute->attbyval, attribute->attlen);
	}
	return copies;
}

void
rtscan_memoize_store(RtscanMemoize *memoize, const Datum *values, const bool *isnull)
{
	MemoryContext old;
	const NullableDatum *copy;
	bool		found;

	if (!read_parameters(memoize))
		return;
	if (MemoryContextMemAllocated(memoize->context, true) > get_hash_memory_limit())
		forget_results(memoize);
	old = MemoryContextSwitchTo(memoize->context);
	if (memoize->results == NULL)
		memoize->results = results_create(memoize->context, 64, memoize);
	copy = copy_all_to_memoize(memoize, values, isnull);
	results_insert(memoize->results, copy_parameters(memoize), &found)->values = copy;
	MemoryContextSwitchTo(old);
}

uint64
rtscan_memoize_hits(const RtscanMemoize *memoize)
{
	return memoize->hits;
}
