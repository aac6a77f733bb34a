/* SPDX-License-Identifier: PostgreSQL */
/*
 * schema.c
 *		Describe the columns of an index; form and deform its rows.
 */
#include "row/schema.h"

#include "access/genam.h"
#include "access/transam.h"
#include "access/tupmacs.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

RtscanSchema *
rtscan_schema(Relation index)
{
	TupleDesc	tupdesc = RelationGetDescr(index);
	RtscanSchema *schema = palloc0(offsetof(RtscanSchema, columns) +
								   tupdesc->natts * sizeof(RtscanColumn));
	Size		largest = IndexInfoFindDataOffset(INDEX_NULL_MASK);

	schema->tupdesc = tupdesc;
	schema->nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	schema->ncolumns = tupdesc->natts;
	for (int i = 0; i < schema->ncolumns; i++)
	{
		RtscanColumn *column = &schema->columns[i];
		Form_pg_attribute attribute = TupleDescAttr(tupdesc, i);
		Oid			type;

		column->typlen = attribute->attlen;
		column->typbyval = attribute->attbyval;
		column->typalign = attribute->attalign;
		/* Pinned types are not domains.  Most columns have pinned types, which need no look-up of the base type. */
		type = attribute->atttypid < FirstUnpinnedObjectId ? attribute->atttypid : getBaseType(attribute->atttypid);
		column->numeric = type == NUMERICOID;
		column->exact = rtscan_exact_kind(type, column->typlen, column->typbyval, &column->exact_sorts);
		largest += column->typlen < 0 ? RTSCAN_MAX_TUPLE_SIZE : MAXALIGN(column->typlen);
		if (i < schema->nkeys)
		{
			column->collation = index->rd_indcollation[i];
			column->compare = index_getprocinfo(index, i + 1, RTSCAN_COMPARE_PROC);
			column->key_kind = rtscan_key_kind(column->compare->fn_oid);
		}
	}
	schema->plain = largest <= RTSCAN_MAX_TUPLE_SIZE;
	return schema;
}

Size
rtscan_value_size(const RtscanColumn *column, Datum value)
{
	if (column->typlen > 0)
		return column->typlen;
	if (column->typlen == -1)
		return VARSIZE_ANY(DatumGetPointer(value));
	return strlen(DatumGetCString(value)) + 1;
}

void
rtscan_store_value(const RtscanColumn *column, char *place, Datum value, Size size)
{
	if (column->typbyval)
		store_att_byval(place, value, column->typlen);
	else
		memcpy(place, DatumGetPointer(value), size);
}

void
rtscan_check_comparable(const RtscanSchema *schema, const Datum *values, const bool *isnull)
{
	for (int i = 0; i < schema->nkeys; i++)
		if (schema->columns[i].key_kind == RTSCAN_KEY_NONE && !isnull[i])
			(void) FunctionCall2Coll(schema->columns[i].compare, schema->columns[i].collation,
									 values[i], values[i]);
}

IndexTuple
rtscan_form_tuple(Relation index, const RtscanSchema *schema,
				  Datum *values, bool *isnull, ItemPointer tid)
{
	IndexTuple	tuple = index_form_tuple(schema->tupdesc, values, isnull);

	if (MAXALIGN(IndexTupleSize(tuple)) > RTSCAN_MAX_TUPLE_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("index row size %zu exceeds rtscan maximum %zu for index \"%s\"",
						IndexTupleSize(tuple), (Size) RTSCAN_MAX_TUPLE_SIZE,
						RelationGetRelationName(index)),
				 errdetail("Index row references tuple (%u,%u).",
						   ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid)),
				 errhint("Consider an expression index on a prefix or a hash of the large values, or index fewer columns.")));
	tuple->t_tid = *tid;
	return tuple;
}

bool
rtscan_fetch_value(const RtscanColumn *column, const char *place,
				   const char *limit, Datum *value, Size *size)
{
	if (place >= limit)
		return false;
	if (column->typlen > 0)
		*size = column->typlen;
	else if (column->typlen == -1)
	{
		if (VARATT_IS_1B_E(place) ||
			(!VARATT_IS_1B(place) && place + VARHDRSZ > limit))
			return false;
		*size = VARSIZE_ANY(place);
		if (*size < (VARATT_IS_1B(place) ? VARHDRSZ_SHORT : VARHDRSZ) ||
			(VARATT_IS_4B_C(place) && *size < VARHDRSZ_COMPRESSED))
			return false;
	}
	else
		*size = strnlen(place, limit - place) + 1;
	if (*size > (Size) (limit - place))
		return false;
	*value = fetch_att(place, column->typbyval, column->typlen);
	return true;
}

bool
rtscan_deform_tuple(const RtscanSchema *schema, IndexTuple tuple, Datum *values, bool *isnull)
{
	bool		has_nulls = IndexTupleHasNulls(tuple);
	uint8	   *nulls = (uint8 *) ((char *) tuple + sizeof(IndexTupleData));
	const char *limit = (char *) tuple + IndexTupleSize(tuple);
	const char *data = (char *) tuple + IndexInfoFindDataOffset(tuple->t_info);
	Size		offset = 0;

	if (data > limit)
		return false;
	for (int i = 0; i < schema->ncolumns; i++)
	{
		const RtscanColumn *column = &schema->columns[i];
		Size		size;

		isnull[i] = has_nulls && att_isnull(i, nulls);
		values[i] = (Datum) 0;
		if (isnull[i])
			continue;
		if (offset >= (Size) (limit - data))
			return false;
		offset = att_align_pointer(offset, column->typalign, column->typlen, data + offset);
		if (!rtscan_fetch_value(column, data + offset, limit, &values[i], &size))
			return false;
		offset += size;
	}
	return true;
}
