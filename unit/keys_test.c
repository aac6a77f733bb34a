/* SPDX-License-Identifier: PostgreSQL */
/*
 * keys_test.c
 *		Test keys of each kind: they sort as their values do, and can be converted back.
 */
#include "unit.h"

#include "keys.h"

#include <math.h>

#include "storage/itemptr.h"
#include "utils/inet.h"

#define ROUNDS	100000

/* A kind of keys, with functions that return random values and compare them. */
typedef struct Kind
{
	RtscanKeyKind kind;
	Datum		(*value) (void);
	int			(*compare) (Datum a, Datum b);
	Size		size;			/* of values passed by reference; else 0 */
} Kind;

#define COMPARE(a, b)	((a) < (b) ? -1 : (a) > (b))

/* Signed and unsigned integers: small ones, the largest ones, and others. */
#define INTEGERS(name, type, bits, to_datum, from_datum) \
static Datum \
name##_value(void) \
{ \
	type		value = (type) unit_bits(bits); \
	\
	return to_datum(unit_one_in(2) ? (type) ~value : value); \
} \
\
static int \
name##_compare(Datum a, Datum b) \
{ \
	return COMPARE(from_datum(a), from_datum(b)); \
}

#define FLAG_DATUM(x)	BoolGetDatum((x) & 1)
#define CHAR_DATUM(x)	CharGetDatum((char) (x))
#define BYTE_OF(x)		((uint8) DatumGetChar(x))
INTEGERS(bool, uint8, 8, FLAG_DATUM, DatumGetBool)
INTEGERS(char, uint8, 8, CHAR_DATUM, BYTE_OF)
INTEGERS(int16, int16, 16, Int16GetDatum, DatumGetInt16)
INTEGERS(int32, int32, 32, Int32GetDatum, DatumGetInt32)
INTEGERS(int64, int64, 64, Int64GetDatum, DatumGetInt64)
INTEGERS(uint32, uint32, 32, UInt32GetDatum, DatumGetUInt32)
INTEGERS(uint64, uint64, 64, UInt64GetDatum, DatumGetUInt64)

/* Compare as PostgreSQL: NaNs are equal, and greater than all others. */
static int
compare_floats(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) ? !isnan(b) : -1;
	return COMPARE(a, b);
}

/* Return random bits, which are always a float, or one of some special values. */
#define FLOATS(name, type, integer, to_datum, from_datum) \
static Datum \
name##_value(void) \
{ \
	static const type some[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, -NAN}; \
	integer		bits = unit_random(); \
	type		value; \
	\
	memcpy(&value, &bits, sizeof(value)); \
	if (unit_one_in(4)) \
		value = some[unit_below(lengthof(some))]; \
	return to_datum(value); \
} \
\
static int \
name##_compare(Datum a, Datum b) \
{ \
	return compare_floats(from_datum(a), from_datum(b)); \
}

FLOATS(float4, float4, uint32, Float4GetDatum, DatumGetFloat4)
FLOATS(float8, float8, uint64, Float8GetDatum, DatumGetFloat8)

static Datum
random_bytes(Size size)
{
	uint8	   *bytes = palloc(size);

	for (Size i = 0; i < size; i++)
		bytes[i] = unit_bits(8);
	return PointerGetDatum(bytes);
}

static Datum
macaddr_value(void)
{
	return random_bytes(sizeof(macaddr));
}

static int
macaddr_compare(Datum a, Datum b)
{
	return memcmp(DatumGetPointer(a), DatumGetPointer(b), sizeof(macaddr));
}

static Datum
macaddr8_value(void)
{
	return random_bytes(sizeof(macaddr8));
}

static int
macaddr8_compare(Datum a, Datum b)
{
	return memcmp(DatumGetPointer(a), DatumGetPointer(b), sizeof(macaddr8));
}

static Datum
tid_value(void)
{
	ItemPointer tid = palloc(sizeof(ItemPointerData));

	ItemPointerSet(tid, (BlockNumber) unit_bits(32), (OffsetNumber) unit_bits(16));
	return PointerGetDatum(tid);
}

static int
tid_compare(Datum a, Datum b)
{
	ItemPointer x = (ItemPointer) DatumGetPointer(a),
				y = (ItemPointer) DatumGetPointer(b);
	int			order = COMPARE(ItemPointerGetBlockNumberNoCheck(x), ItemPointerGetBlockNumberNoCheck(y));

	return order != 0 ? order : COMPARE(ItemPointerGetOffsetNumberNoCheck(x), ItemPointerGetOffsetNumberNoCheck(y));
}

static const Kind kinds[] = {
	{RTSCAN_KEY_BOOL, bool_value, bool_compare, 0},
	{RTSCAN_KEY_CHAR, char_value, char_compare, 0},
	{RTSCAN_KEY_INT16, int16_value, int16_compare, 0},
	{RTSCAN_KEY_INT32, int32_value, int32_compare, 0},
	{RTSCAN_KEY_INT64, int64_value, int64_compare, 0},
	{RTSCAN_KEY_UINT32, uint32_value, uint32_compare, 0},
	{RTSCAN_KEY_UINT64, uint64_value, uint64_compare, 0},
	{RTSCAN_KEY_FLOAT4, float4_value, float4_compare, 0},
	{RTSCAN_KEY_FLOAT8, float8_value, float8_compare, 0},
	{RTSCAN_KEY_MACADDR, macaddr_value, macaddr_compare, sizeof(macaddr)},
	{RTSCAN_KEY_MACADDR8, macaddr8_value, macaddr8_compare, sizeof(macaddr8)},
	{RTSCAN_KEY_TID, tid_value, tid_compare, sizeof(ItemPointerData)},
};

static bool
same_image(const Kind *kind, Datum a, Datum b)
{
	return kind->size > 0 ? memcmp(DatumGetPointer(a), DatumGetPointer(b), kind->size) == 0 : a == b;
}

/* Encode a value and decode it.  The result must be equal, and for most kinds have the same image. */
static uint64
check_value(const Kind *kind, Datum value)
{
	uint64		key = rtscan_key_encode(kind->kind, value);
	Datum		decoded = rtscan_key_decode(kind->kind, key);

	assert_int_equal(kind->compare(decoded, value), 0);
	if (rtscan_key_tells_image(kind->kind))
		assert_true(same_image(kind, decoded, value));
	assert_int_equal(rtscan_key_encode(kind->kind, decoded), key);
	if (kind->size > 0)
		pfree(DatumGetPointer(decoded));
	return key;
}

static void
test_order(void **unused)
{
	for (int round = 0; round < ROUNDS; round++)
	{
		const Kind *kind = &kinds[unit_below(lengthof(kinds))];
		Datum		a = kind->value(),
					b = unit_one_in(8) ? a : kind->value();
		uint64		x = check_value(kind, a),
					y = check_value(kind, b);
		int			order = kind->compare(a, b);

		assert_int_equal(COMPARE(x, y), COMPARE(order, 0));
	}
}

static void
encode_none(void *arg)
{
	(void) rtscan_key_encode(RTSCAN_KEY_NONE, 0);
}

static void
test_no_kind(void **unused)
{
	assert_non_null(unit_error(encode_none, NULL));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_no_kind),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
