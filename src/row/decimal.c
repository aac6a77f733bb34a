/* SPDX-License-Identifier: PostgreSQL */
/*
 * decimal.c
 *		Convert numerics to integers with a scale, and these integers back to numerics.
 */
#include "row/decimal.h"

#include "compat.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "port/pg_bswap.h"
#include "utils/fmgrprotos.h"

#define BASE			10000
#define BASE_DIGITS		4

/* Bits of a numeric's header, of 16 bits if it is short, else of 32 (numeric.c). */
#define HEADER_KIND		0xC000
#define HEADER_SHORT	0x8000
#define HEADER_NEGATIVE	0x4000
#define HEADER_SPECIAL	0xC000
#define SHORT_NEGATIVE	0x2000
#define SHORT_SCALE		0x1F80
#define SHORT_SCALE_SHIFT	7
#define SHORT_WEIGHT_SIGN	0x0040
#define SHORT_WEIGHT	0x003F
#define LONG_SCALE		0x3FFF

/* The sign of a number in what numeric_send() writes. */
#define SENT_POSITIVE	0x0000
#define SENT_NEGATIVE	0x4000

/* A numeric's parts. */
typedef struct Parts
{
	bool		negative;
	int			scale;			/* display scale */
	int			weight;			/* exponent of the first digit, to the base BASE */
	int			ndigits;
	const char *digits;			/* digits in base BASE, of 16 bits, which may not be aligned */
	bool		swapped;		/* are the digits in network byte order? */
} Parts;

static const int32 powers[BASE_DIGITS] = {1, 10, 100, 1000};

/* Append a digit to a value that is negative or zero: value = value * base - digit.  Returns false on overflow. */
static bool
append_digit(int64 *value, int32 base, int32 digit)
{
	return !pg_mul_s64_overflow(*value, base, value) && !pg_sub_s64_overflow(*value, digit, value);
}

/* Return digit i, from 0; 0 if there is none. */
static inline int32
digit_of(const Parts *parts, int i)
{
	uint16		digit;

	if (i < 0 || i >= parts->ndigits)
		return 0;
	memcpy(&digit, parts->digits + i * sizeof(uint16), sizeof(uint16));
	return parts->swapped ? pg_ntoh16(digit) : digit;
}

/*
 * Set *value to the digits up to the display scale, as a negative integer: an int64 can represent one more negative
 * integer than positive ones.  Returns false if the digits do not fit, or if the numeric has digits beyond the display
 * scale.
 */
static bool
read_digits(const Parts *parts, int64 *value)
{
	int			whole = parts->weight + 1 + parts->scale / BASE_DIGITS;
	int32		power = powers[parts->scale % BASE_DIGITS];
	int32		part = BASE / power;

	*value = 0;
	for (int i = 0; i < whole; i++)
		if (!append_digit(value, BASE, digit_of(parts, i)))
			return false;
	return digit_of(parts, whole) % part == 0 && parts->ndigits <= Max(whole, 0) + 1 &&
		append_digit(value, power, digit_of(parts, whole) / part);
}

/* Convert a number's parts. */
static bool
convert(const Parts *parts, RtscanDecimal *decimal)
{
	decimal->scale = parts->scale;
	return parts->scale <= RTSCAN_MAX_SCALE && read_digits(parts, &decimal->digits) &&
		(parts->negative || !pg_sub_s64_overflow(0, decimal->digits, &decimal->digits));
}

/* Convert a numeric by what numeric_send() writes, whose format is public. */
static bool
convert_sent(Datum numeric, RtscanDecimal *decimal)
{
	bytea	   *sent = DatumGetByteaP(DirectFunctionCall1(numeric_send, numeric));
	uint16		head[4];		/* number of digits, weight, sign, scale */
	Parts		parts;
	bool		fits;

	memcpy(head, VARDATA(sent), sizeof(head));
	parts = (Parts) {
		.negative = pg_ntoh16(head[2]) == SENT_NEGATIVE,
		.scale = pg_ntoh16(head[3]),
		.weight = (int16) pg_ntoh16(head[1]),
		.ndigits = pg_ntoh16(head[0]),
		.digits = VARDATA(sent) + sizeof(head),
		.swapped = true,
	};
	fits = (parts.negative || pg_ntoh16(head[2]) == SENT_POSITIVE) && convert(&parts, decimal);
	pfree(sent);
	return fits;
}

/* Convert a numeric that is not toasted by its own format. */
static bool
convert_stored(const struct varlena *numeric, RtscanDecimal *decimal)
{
	const char *data = VARDATA_ANY(numeric);
	int			bytes = VARSIZE_ANY_EXHDR(numeric);
	uint16		header;
	int16		weight;
	Parts		parts;

	if (bytes < (int) sizeof(header))
		return false;
	memcpy(&header, data, sizeof(header));
	if ((header & HEADER_KIND) == HEADER_SPECIAL)
		return false;
	if ((header & HEADER_KIND) == HEADER_SHORT)
		parts = (Parts) {
			.negative = header & SHORT_NEGATIVE,
			.scale = (header & SHORT_SCALE) >> SHORT_SCALE_SHIFT,
			.weight = (header & SHORT_WEIGHT_SIGN ? ~SHORT_WEIGHT : 0) | (header & SHORT_WEIGHT),
			.digits = data + sizeof(header),
		};
	else if (bytes < (int) (sizeof(header) + sizeof(weight)))
		return false;
	else
	{
		memcpy(&weight, data + sizeof(header), sizeof(weight));
		parts = (Parts) {
			.negative = header & HEADER_NEGATIVE,
			.scale = header & LONG_SCALE,
			.weight = weight,
			.digits = data + sizeof(header) + sizeof(weight),
		};
	}
	parts.ndigits = (bytes - (parts.digits - data)) / sizeof(uint16);
	return convert(&parts, decimal);
}

/*
 * Is the format of numerics the one that convert_stored() reads?  It is private to numeric.c, although no version can
 * change it in old tables, so some numerics are tried.
 */
static bool
format_is_known(void)
{
	static const char *const samples[] = {"0", "1", "-1.5", "0.0001", "-12345678.90", "922337203685477.5807", "1e30",
	"NaN", "1e-400", "-0.00000000000000000001"};

	for (Size i = 0; i < lengthof(samples); i++)
	{
		Datum		numeric = DirectFunctionCall3(numeric_in, CStringGetDatum(samples[i]), ObjectIdGetDatum(InvalidOid),
												  Int32GetDatum(-1));
		RtscanDecimal sent,
					stored;
		bool		fits = convert_sent(numeric, &sent);

		if (convert_stored((struct varlena *) DatumGetPointer(numeric), &stored) != fits ||
			(fits && (sent.digits != stored.digits || sent.scale != stored.scale)))
			return false;
		pfree(DatumGetPointer(numeric));
	}
	return true;
}

bool
rtscan_decimal_from_numeric(Datum numeric, RtscanDecimal *decimal)
{
	static enum {NOT_TRIED, KNOWN, UNKNOWN} format = NOT_TRIED;
	struct varlena *plain;
	bool		fits;

	if (unlikely(format == NOT_TRIED))
		format = format_is_known() ? KNOWN : UNKNOWN;
	if (format == UNKNOWN)
		return convert_sent(numeric, decimal);
	plain = PG_DETOAST_DATUM_PACKED(numeric);
	fits = convert_stored(plain, decimal);
	if ((Pointer) plain != DatumGetPointer(numeric))
		pfree(plain);
	return fits;
}

bool
rtscan_decimal_from_datum(Oid type, Datum value, RtscanDecimal *decimal)
{
	if (type == NUMERICOID)
		return rtscan_decimal_from_numeric(value, decimal);
	decimal->scale = 0;
	decimal->digits = type == INT2OID ? DatumGetInt16(value) : type == INT4OID ? DatumGetInt32(value)
		: DatumGetInt64(value);
	return true;
}

Datum
rtscan_numeric_from_decimal(RtscanDecimal decimal)
{
	return NumericGetDatum(int64_div_fast_to_numeric(decimal.digits, decimal.scale));
}
