/* SPDX-License-Identifier: PostgreSQL */
/*
 * composite.c
 *		Numbers the combinations of several attributes of a dimension.
 */
#include "run/star/composite.h"

#include "access/nbtree.h"
#include "bits/key_hash.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* A pair of numbers, and the number of the pair. */
typedef struct NumberedPair
{
	uint64		pair;
	uint32		number;
	char		status;			/* for simplehash */
} NumberedPair;

#define SH_PREFIX pairs
#define SH_ELEMENT_TYPE NumberedPair
#define SH_KEY_TYPE uint64
#define SH_KEY pair
#define SH_HASH_KEY(table, key) rtscan_hash_key(key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* The initial size of the hash table. */
#define TABLE_SIZE		1024

RtscanComposite *
rtscan_create_composite(RtscanDimension *dimension, RtscanAttribute **attributes, int n)
{
	RtscanComposite *composite = palloc0(sizeof(RtscanComposite));

	composite->dimension = dimension;
	composite->n = n;
	composite->attributes = palloc(n * sizeof(RtscanAttribute *));
	memcpy(composite->attributes, attributes, n * sizeof(RtscanAttribute *));
	return composite;
}

/*
 * Replace numbers[], which has a number for each row, by the numbers of the pairs of these numbers and those of an
 * attribute.  Returns how many pairs there are.
 */
static uint32
number_pairs(RtscanDimension *dimension, uint32 *numbers, RtscanAttribute *attribute)
{
	pairs_hash *table = pairs_create(CurrentMemoryContext, TABLE_SIZE, NULL);
	uint32		count = 0;

	rtscan_number_attribute(dimension, attribute);
	for (uint32 row = 0; row <= dimension->nrows; row++)
	{
		bool		found;
		NumberedPair *pair = pairs_insert(table, (uint64) numbers[row] << 32 | attribute->numbers[row], &found);

		if (!found)
			pair->number = count++;
		numbers[row] = pair->number;
		if (row % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	pairs_destroy(table);
	return count;
}

void
rtscan_number_composite(RtscanComposite *composite)
{
	RtscanDimension *dimension = composite->dimension;
	RtscanAttribute *first = composite->attributes[0];
	Size		rows = dimension->nrows + 1;

	if (composite->numbers && composite->loads == dimension->loads)
		return;
	rtscan_number_attribute(dimension, first);
	composite->loads = dimension->loads;
	composite->count = first->count;
	composite->numbers = first->numbers;
	if (composite->n > 1)
	{
		uint32	   *numbers = MemoryContextAllocHuge(dimension->context, rows * sizeof(uint32));

		memcpy(numbers, first->numbers, rows * sizeof(uint32));
		for (int i = 1; i < composite->n; i++)
			composite->count = number_pairs(dimension, numbers, composite->attributes[i]);
		composite->numbers = numbers;
	}
	composite->rows = MemoryContextAllocHuge(dimension->context, composite->count * sizeof(uint32));
	for (uint32 row = 0; row < rows; row++)
		composite->rows[composite->numbers[row]] = row;
}

/* Have all values of an attribute the same length?  The attribute's type has a variable length. */
static bool
have_one_length(const RtscanDimension *dimension, const RtscanAttribute *attribute)
{
	Size		length = 0;

	for (uint32 row = 0; row < dimension->nrows; row++)
	{
		Size		own = attribute->isnull[row] ? length : VARSIZE_ANY(DatumGetPointer(attribute->values[row]));

		if (length > 0 && own != length)
			return false;
		length = own;
	}
	return true;
}

bool
rtscan_attribute_is_image(const RtscanDimension *dimension, const RtscanAttribute *attribute, Oid type, Oid operator,
						  Oid collation)
{
	const TypeCacheEntry *found = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_BTREE_OPFAMILY);
	Oid			function;

	if (found->eq_opr != operator || !OidIsValid(found->btree_opf))
		return false;
	/* Blanks at the end do not count in a char(n), and its values may have any number of them, if it has no n. */
	if (getBaseType(type) == BPCHAROID)
		return get_collation_isdeterministic(collation) && have_one_length(dimension, attribute);
	function = get_opfamily_proc(found->btree_opf, found->btree_opintype, found->btree_opintype, BTEQUALIMAGE_PROC);
	return OidIsValid(function) &&
		DatumGetBool(OidFunctionCall1Coll(function, collation, ObjectIdGetDatum(found->btree_opintype)));
}
