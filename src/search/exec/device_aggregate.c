/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_aggregate.c
 *		Create device aggregates: make columns digits of the cell's number, or values to aggregate.
 */
#include "search/exec/device_aggregate_parts.h"

#include "segment/typed.h"

RtscanDeviceAgg *
rtscan_create_device_agg(const RtscanSegment *segment)
{
	RtscanDeviceAgg *agg = palloc0(sizeof(RtscanDeviceAgg));

	agg->segment = segment;
	return agg;
}

/* ---------------------------------------------------------------- digits */

bool
rtscan_add_device_agg_digit(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema, int column)
{
	if (agg->ndigits == DEVICE_MAX_DIGITS ||
		!rtscan_find_digit_column(agg, reader, schema, column, &agg->digits[agg->ndigits]))
		return false;
	agg->ndigits++;
	return true;
}

/* Add a digit whose numbers are the same in all segments. */
static bool
add_common_digit(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema, int column,
				 RtscanDeviceAggDigit digit)
{
	if (agg->ndigits == DEVICE_MAX_DIGITS || !rtscan_find_measured_column(reader, schema, column, &digit.of))
		return false;
	agg->digits[agg->ndigits++] = digit;
	return true;
}

bool
rtscan_add_device_agg_mapped_digit(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema, int column,
								   const RtscanDeviceAggMap *map)
{
	return add_common_digit(agg, reader, schema, column, (RtscanDeviceAggDigit) {.map = map});
}

bool
rtscan_add_device_agg_binned_digit(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema, int column,
								   const RtscanDeviceAggBins *bins)
{
	return add_common_digit(agg, reader, schema, column, (RtscanDeviceAggDigit) {.bins = bins});
}

/* Does a digit tell the value of a column? */
static bool
is_digit_of(const RtscanDeviceAggDigit *digit, int column)
{
	return !rtscan_is_common_digit(digit) && digit->of.own.number == column;
}

/* Return the number plus one of a column's digit; 0 if there is none. */
static int
find_digit(const RtscanDeviceAgg *agg, int column)
{
	for (int i = 0; i < agg->ndigits; i++)
		if (is_digit_of(&agg->digits[i], column))
			return i + 1;
	return 0;
}

/* Return the number plus one of a column's digit, which is added if there is none; 0 if it cannot be added. */
static int
find_or_add_digit(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema, int column)
{
	int			found = find_digit(agg, column);

	if (found == 0 && rtscan_add_device_agg_digit(agg, reader, schema, column))
		found = agg->ndigits;
	return found;
}

/* ---------------------------------------------------------------- values */

/*
 * Set value->digit to a digit that tells the value: the column's digit or, if there is none, a new one.  Returns false
 * if the digit is made of codes that are many or represent no integers, or if a new digit is made of integers that are
 * not close to each other.
 */
static bool
set_digit(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema, int column,
		  RtscanDeviceAggValue *value)
{
	int			ndigits = agg->ndigits;
	const RtscanDeviceAggDigit *digit;
	bool		fits;

	value->digit = find_or_add_digit(agg, reader, schema, column);
	if (value->digit == 0)
		return false;
	digit = &agg->digits[value->digit - 1];
	if (digit->coded)
		fits = rtscan_find_integers_of_codes(reader, schema, column, &digit->of, value);
	else
	{
		value->of = digit->of;
		fits = value->digit <= ndigits || rtscan_are_dense(&digit->of, FEW_CODES);
	}
	if (!fits)
		agg->ndigits = ndigits;
	return fits;
}

/* Add a value that is a digit. */
static bool
add_digit_value(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema, int column,
				RtscanTotalKind kind)
{
	RtscanDeviceAggValue value = {.kind = kind};

	if (!set_digit(agg, reader, schema, column, &value))
		return false;
	agg->values[agg->nvalues++] = value;
	return true;
}

/* Add a value that is measured. */
static bool
add_measured_value(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema, int column,
				   RtscanTotalKind kind)
{
	RtscanDeviceAggValue value = {.kind = kind};
	int			number;

	if (!rtscan_find_measured_column(reader, schema, column, &value.of))
		return false;
	number = value.of.own.number;
	value.nulls = rtscan_column_has_nulls(agg->segment, rtscan_open_values(reader, schema, number), number);
	agg->values[agg->nvalues++] = value;
	return true;
}

bool
rtscan_add_device_agg_value(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema, int column,
							RtscanTotalKind kind)
{
	if (agg->nvalues == DEVICE_MAX_MEASURES)
		return false;
	/* A column of GROUP BY is a digit already, and need not be measured. */
	return (find_digit(agg, column) > 0 && add_digit_value(agg, reader, schema, column, kind)) ||
		add_measured_value(agg, reader, schema, column, kind) ||
		add_digit_value(agg, reader, schema, column, kind);
}

bool
rtscan_add_device_agg_factor(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanSchema *schema, int column)
{
	RtscanDeviceAggValue value = {.kind = RTSCAN_TOTAL_SUM};

	if (agg->nvalues == DEVICE_MAX_MEASURES || !set_digit(agg, reader, schema, column, &value))
		return false;
	agg->values[agg->nvalues++] = value;
	return true;
}
