/*
 * remembered.c
 *		Remembers results of an RtscanAggregate by parameters.
 */
#include "run/node/remembered.h"

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
typedef struct RememberedResult
{
	uint32		hash;
	char		status;
	const NullableDatum *parameters;
	const NullableDatum *values;	/* the columns of the result */
} RememberedResult;

struct results_hash;

struct RtscanRemembered
{
	const EState *estate;		/* the state that has the values of parameters */
	Bitmapset  *ids;			/* parameters in the expressions that the result depends on */
	Bitmapset  *others;			/* parameters in expressions on the result, which do not matter */
	int			nparameters;	/* number of parameters in ids */
	Parameter  *parameters;		/* the parameters in ids, with their types */
	NullableDatum *current;		/* current values of the parameters, set by read_parameters() */
	TupleDesc	result;
	MemoryContext context;		/* context of the hash table and its contents */
	struct results_hash *results;	/* NULL: nothing is remembered */
	uint64		recalled;		/* number of results recalled */
};

static bool are_identical(const RtscanRemembered *remembered, const NullableDatum *one, const NullableDatum *other);
static uint32 hash_values(const RtscanRemembered *remembered, const NullableDatum *values);

#define SH_PREFIX results
#define SH_ELEMENT_TYPE RememberedResult
#define SH_KEY_TYPE const NullableDatum *
#define SH_KEY parameters
#define SH_HASH_KEY(table, key) hash_values((table)->private_data, key)
#define SH_EQUAL(table, a, b) are_identical((table)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(table, entry) (entry)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static bool
are_identical(const RtscanRemembered *remembered, const NullableDatum *one, const NullableDatum *other)
{
	for (int i = 0; i < remembered->nparameters; i++)
	{
		const Parameter *parameter = &remembered->parameters[i];

		if (one[i].isnull != other[i].isnull ||
			(!one[i].isnull && !datum_image_eq(one[i].value, other[i].value, parameter->typbyval, parameter->typlen)))
			return false;
	}
	return true;
}

static uint32
hash_values(const RtscanRemembered *remembered, const NullableDatum *values)
{
	uint32		hash = 0;

	for (int i = 0; i < remembered->nparameters; i++)
	{
		const Parameter *parameter = &remembered->parameters[i];

		hash = hash_combine(hash, values[i].isnull ? 0 :
							datum_image_hash(values[i].value, parameter->typbyval, parameter->typlen));
	}
	return hash;
}

/* ---------------------------------------------------------------- parameters */

static void
add_parameter(RtscanRemembered *remembered, const Param *param)
{
	Parameter  *parameter;

	if (bms_is_member(param->paramid, remembered->ids))
		return;
	remembered->ids = bms_add_member(remembered->ids, param->paramid);
	remembered->parameters = remembered->parameters == NULL ? palloc(sizeof(Parameter)) :
		repalloc(remembered->parameters, (remembered->nparameters + 1) * sizeof(Parameter));
	parameter = &remembered->parameters[remembered->nparameters++];
	parameter->id = param->paramid;
	get_typlenbyval(param->paramtype, &parameter->typlen, &parameter->typbyval);
}

static bool
collect_parameters(Node *node, RtscanRemembered *remembered)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((const Param *) node)->paramkind == PARAM_EXEC)
		add_parameter(remembered, (const Param *) node);
	return expression_tree_walker(node, collect_parameters, remembered);
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

RtscanRemembered *
rtscan_create_remembered(const EState *estate, List *expressions, List *of_results, TupleDesc result)
{
	RtscanRemembered *remembered = palloc0(sizeof(RtscanRemembered));

	remembered->estate = estate;
	remembered->result = result;
	collect_parameters((Node *) expressions, remembered);
	collect_others((Node *) of_results, &remembered->others);
	remembered->current = palloc(Max(remembered->nparameters, 1) * sizeof(NullableDatum));
	remembered->context = AllocSetContextCreate(CurrentMemoryContext, "rtscan remembered results",
												ALLOCSET_DEFAULT_SIZES);
	return remembered;
}

/* Read the parameters' current values.  False if one belongs to a subquery that has not been executed. */
static bool
read_parameters(RtscanRemembered *remembered)
{
	for (int i = 0; i < remembered->nparameters; i++)
	{
		const ParamExecData *param = &remembered->estate->es_param_exec_vals[remembered->parameters[i].id];

		if (param->execPlan != NULL)
			return false;
		remembered->current[i] = (NullableDatum) {.value = param->value, .isnull = param->isnull};
	}
	return true;
}

/* ---------------------------------------------------------------- results */

static void
forget(RtscanRemembered *remembered)
{
	MemoryContextReset(remembered->context);
	remembered->results = NULL;
}

void
rtscan_change_parameters(RtscanRemembered *remembered, const Bitmapset *changed)
{
	int			id = -1;

	while ((id = bms_next_member(changed, id)) >= 0)
		if (!bms_is_member(id, remembered->ids) && !bms_is_member(id, remembered->others))
		{
			forget(remembered);
			return;
		}
}

bool
rtscan_recall(RtscanRemembered *remembered, Datum *values, bool *isnull)
{
	const RememberedResult *result;

	if (remembered->results == NULL || !read_parameters(remembered))
		return false;
	result = results_lookup(remembered->results, remembered->current);
	if (result == NULL)
		return false;
	for (int i = 0; i < remembered->result->natts; i++)
	{
		values[i] = result->values[i].value;
		isnull[i] = result->values[i].isnull;
	}
	remembered->recalled++;
	return true;
}

static NullableDatum
copy_value(Datum value, bool isnull, bool typbyval, int16 typlen)
{
	return (NullableDatum) {.value = isnull ? (Datum) 0 : datumCopy(value, typbyval, typlen), .isnull = isnull};
}

static const NullableDatum *
copy_parameters(const RtscanRemembered *remembered)
{
	NullableDatum *copies = palloc(Max(remembered->nparameters, 1) * sizeof(NullableDatum));

	for (int i = 0; i < remembered->nparameters; i++)
		copies[i] = copy_value(remembered->current[i].value, remembered->current[i].isnull,
							   remembered->parameters[i].typbyval, remembered->parameters[i].typlen);
	return copies;
}

static const NullableDatum *
copy_values(const RtscanRemembered *remembered, const Datum *values, const bool *isnull)
{
	NullableDatum *copies = palloc(remembered->result->natts * sizeof(NullableDatum));

	for (int i = 0; i < remembered->result->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(remembered->result, i);

		copies[i] = copy_value(values[i], isnull[i], attribute->attbyval, attribute->attlen);
	}
	return copies;
}

void
rtscan_remember(RtscanRemembered *remembered, const Datum *values, const bool *isnull)
{
	MemoryContext old;
	const NullableDatum *copy;
	bool		found;

	if (!read_parameters(remembered))
		return;
	if (MemoryContextMemAllocated(remembered->context, true) > get_hash_memory_limit())
		forget(remembered);
	old = MemoryContextSwitchTo(remembered->context);
	if (remembered->results == NULL)
		remembered->results = results_create(remembered->context, 64, remembered);
	copy = copy_values(remembered, values, isnull);
	results_insert(remembered->results, copy_parameters(remembered), &found)->values = copy;
	MemoryContextSwitchTo(old);
}

uint64
rtscan_recalled(const RtscanRemembered *remembered)
{
	return remembered->recalled;
}
