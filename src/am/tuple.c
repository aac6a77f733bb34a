/*
 * tuple.c
 *		Index Scans and Index Only Scans: TIDs one by one, in TID order in each segment.
 *
 * An Index Only Scan gets rows that its snapshot sees, so that it needs no pin that would keep
 * vacuum away: PostgreSQL looks into the visibility map once more, and in the heap where that
 * says so, which does no harm.  An Index Scan looks into the heap anyway; a TID that vacuum has
 * freed meanwhile leads to no row, or to one that is too young for the snapshot.
 */
#include "am/am.h"

#include "access/nbtree.h"
#include "access/relscan.h"
#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "pgstat.h"
#include "row/keys.h"
#include "search/cursor.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

struct RtscanTuples
{
	const RtscanSchema *schema;
	MemoryContext context;		/* of all of this, */
	MemoryContext tuple_context;	/* and of one tuple */
	RtscanFilter filter;
	RtscanCursor *cursor;
	uint32		n;				/* rows at hand, */
	uint32		next;			/* and the next of them to be returned */
	ItemPointerData tids[RTSCAN_CURSOR_ROWS];
	Datum	  **values;			/* [column][row]; NULL for columns that cannot be returned */
	bool	  **isnull;
	IndexTuple	fixed;			/* where all columns have a width, and none is NULL; or NULL */
	Size	   *offsets;		/* of its columns */
};

/* ---------------------------------------------------------------- what can be returned */

/* Is a value all that its key tells?  Of floats there are -0, and NaNs with a payload. */
static bool
key_tells_value(Relation index, int key)
{
	RtscanKeyKind kind = rtscan_key_kind(index_getprocid(index, key + 1, RTSCAN_COMPARE_PROC));

	return kind != RTSCAN_KEY_NONE && kind != RTSCAN_KEY_FLOAT4 && kind != RTSCAN_KEY_FLOAT8;
}

/*
 * Do equal values look alike, as btree's class of the type knows, for deduplication?  Of bpchars,
 * which may have more or fewer blanks at the end, some releases believe it.
 */
static bool
equal_is_identical(Relation index, int key)
{
	Oid			type = index->rd_opcintype[key];
	TypeCacheEntry *cache = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	Oid			equal_image;

	if (!OidIsValid(cache->btree_opf) || type == BPCHAROID ||
		get_opfamily_proc(cache->btree_opf, cache->btree_opintype, cache->btree_opintype, BTORDER_PROC) !=
		index_getprocid(index, key + 1, RTSCAN_COMPARE_PROC))
		return false;
	equal_image = get_opfamily_proc(cache->btree_opf, cache->btree_opintype, cache->btree_opintype, BTEQUALIMAGE_PROC);
	return OidIsValid(equal_image) &&
		DatumGetBool(OidFunctionCall1Coll(equal_image, index->rd_indcollation[key], ObjectIdGetDatum(type)));
}

/* Numerics of one scale look alike if they are equal, and bpchars of one length: a type modifier makes them so. */
static bool
modifier_makes_identical(Relation index, int key)
{
	Oid			compare = index_getprocid(index, key + 1, RTSCAN_COMPARE_PROC);

	if (TupleDescAttr(RelationGetDescr(index), key)->atttypmod < (int32) VARHDRSZ)
		return false;
	return compare == F_NUMERIC_CMP ||
		(compare == F_BPCHARCMP && get_collation_isdeterministic(index->rd_indcollation[key]));
}

bool
rtscan_can_return(Relation index, int attno)
{
	int			key = attno - 1;

	if (key >= IndexRelationGetNumberOfKeyAttributes(index))
		return true;
	return key_tells_value(index, key) || equal_is_identical(index, key) || modifier_makes_identical(index, key);
}

/* ---------------------------------------------------------------- tuples */

/* Room for the values of the columns that can be returned. */
static void
make_room(RtscanTuples *tuples, Relation index)
{
	tuples->values = palloc(tuples->schema->ncolumns * sizeof(Datum *));
	tuples->isnull = palloc(tuples->schema->ncolumns * sizeof(bool *));
	for (int i = 0; i < tuples->schema->ncolumns; i++)
	{
		bool		returned = rtscan_can_return(index, i + 1);

		tuples->values[i] = returned ? palloc(RTSCAN_CURSOR_ROWS * sizeof(Datum)) : NULL;
		tuples->isnull[i] = returned ? palloc(RTSCAN_CURSOR_ROWS * sizeof(bool)) : NULL;
	}
}

/* Lay out a tuple whose columns all have a width, and none is NULL: then only values have to be put into it. */
static void
lay_out_fixed(RtscanTuples *tuples)
{
	Size		end = IndexInfoFindDataOffset(0);

	tuples->fixed = NULL;
	tuples->offsets = palloc(tuples->schema->ncolumns * sizeof(Size));
	for (int i = 0; i < tuples->schema->ncolumns; i++)
	{
		const RtscanColumn *column = &tuples->schema->columns[i];

		if (tuples->values[i] == NULL || column->typlen <= 0)
			return;
		tuples->offsets[i] = att_align_nominal(end, column->typalign);
		end = tuples->offsets[i] + column->typlen;
	}
	if (MAXALIGN(end) > INDEX_SIZE_MASK)
		return;
	tuples->fixed = palloc0(MAXALIGN(end));
	tuples->fixed->t_info = MAXALIGN(end);
}

static void
open_cursor(RtscanTuples *tuples, IndexScanDesc scan)
{
	Relation	index = scan->indexRelation;
	Relation	heap = scan->heapRelation;

	tuples->filter = rtscan_key_filter(index, tuples->schema, scan->keyData, scan->numberOfKeys);
	if (scan->xs_want_itup)
	{
		make_room(tuples, index);
		lay_out_fixed(tuples);
	}
	if (!scan->xs_want_itup || !rtscan_is_heap(heap))
		heap = NULL;
	tuples->cursor = rtscan_open_cursor(heap, index, scan->xs_snapshot, tuples->schema, &tuples->filter);
}

RtscanTuples *
rtscan_begin_tuples(IndexScanDesc scan, const RtscanSchema *schema)
{
	MemoryContext context;
	MemoryContext old;
	RtscanTuples *tuples;

	if (!IsMVCCSnapshot(scan->xs_snapshot))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("rtscan index \"%s\" can only be scanned with an MVCC snapshot",
						RelationGetRelationName(scan->indexRelation))));
	pgstat_count_index_scan(scan->indexRelation);
	rtscan_compat_count_search(scan);
	context = AllocSetContextCreate(GetMemoryChunkContext(scan), "rtscan tuples", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	tuples = palloc0(sizeof(RtscanTuples));
	tuples->schema = schema;
	tuples->context = context;
	tuples->tuple_context = AllocSetContextCreate(context, "rtscan tuple", ALLOCSET_SMALL_SIZES);
	open_cursor(tuples, scan);
	MemoryContextSwitchTo(old);
	return tuples;
}

void
rtscan_end_tuples(RtscanTuples *tuples)
{
	rtscan_close_cursor(tuples->cursor);
	MemoryContextDelete(tuples->context);
}

static bool
next_batch(RtscanTuples *tuples, bool want_values)
{
	tuples->next = 0;
	tuples->n = rtscan_next_rows(tuples->cursor);
	if (tuples->n == 0)
		return false;
	rtscan_cursor_tids(tuples->cursor, tuples->tids);
	for (int i = 0; want_values && i < tuples->schema->ncolumns; i++)
		if (tuples->values[i])
			rtscan_cursor_values(tuples->cursor, i, tuples->values[i], tuples->isnull[i]);
	return true;
}

/* The tuple of a row in the layout for it, or NULL. */
static IndexTuple
fill_fixed(RtscanTuples *tuples, uint32 row)
{
	if (tuples->fixed == NULL)
		return NULL;
	for (int i = 0; i < tuples->schema->ncolumns; i++)
	{
		const RtscanColumn *column = &tuples->schema->columns[i];

		if (tuples->isnull[i][row])
			return NULL;
		rtscan_store_value(column, (char *) tuples->fixed + tuples->offsets[i], tuples->values[i][row], column->typlen);
	}
	tuples->fixed->t_tid = tuples->tids[row];
	return tuples->fixed;
}

/* The index tuple of a row in any layout; NULL stands for what cannot be returned. */
static IndexTuple
form_any(RtscanTuples *tuples, uint32 row)
{
	MemoryContext old;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	IndexTuple	tuple;

	for (int i = 0; i < tuples->schema->ncolumns; i++)
	{
		isnull[i] = tuples->values[i] == NULL || tuples->isnull[i][row];
		values[i] = isnull[i] ? (Datum) 0 : tuples->values[i][row];
	}
	MemoryContextReset(tuples->tuple_context);
	old = MemoryContextSwitchTo(tuples->tuple_context);
	tuple = index_form_tuple(tuples->schema->tupdesc, values, isnull);
	tuple->t_tid = tuples->tids[row];
	MemoryContextSwitchTo(old);
	return tuple;
}

static IndexTuple
form_tuple(RtscanTuples *tuples, uint32 row)
{
	IndexTuple	fixed = fill_fixed(tuples, row);

	return fixed ? fixed : form_any(tuples, row);
}

bool
rtscan_next_tuple(RtscanTuples *tuples, IndexScanDesc scan)
{
	if (tuples->next == tuples->n && !next_batch(tuples, scan->xs_want_itup))
		return false;
	scan->xs_heaptid = tuples->tids[tuples->next];
	scan->xs_recheck = false;
	if (scan->xs_want_itup)
		scan->xs_itup = form_tuple(tuples, tuples->next);
	tuples->next++;
	return true;
}
