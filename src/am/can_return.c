/*
 * can_return.c
 *		Which columns an index can give back: amcanreturn, which tells nobody but RtscanScan and RtscanAggregate.
 */
#include "am/am.h"

#include "access/nbtree.h"
#include "catalog/pg_type.h"
#include "row/keys.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

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
