/* SPDX-License-Identifier: PostgreSQL */
/*
 * tally.c
 *		Create tallies: make columns digits of the cell's number, or values to aggregate.
 */
#include "search/exec/tally_parts.h"

#include "segment/typed.h"

RtscanTally *
rtscan_create_tally(const RtscanSegment *segment)
{
	RtscanTally *tally = palloc0(sizeof(RtscanTally));

	tally->segment = segment;
	return tally;
}

/* ---------------------------------------------------------------- digits */

bool
rtscan_tally_digit(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column)
{
	if (tally->ndigits == DEVICE_MAX_DIGITS ||
		!rtscan_find_digit_column(tally, reader, schema, column, &tally->digits[tally->ndigits]))
		return false;
	tally->ndigits++;
	return true;
}

/* Add a digit whose numbers are the same in all segments. */
static bool
add_common_digit(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column,
				 RtscanTallyDigit digit)
{
	if (tally->ndigits == DEVICE_MAX_DIGITS || !rtscan_find_measured_column(reader, schema, column, &digit.of))
		return false;
	tally->digits[tally->ndigits++] = digit;
	return true;
}

bool
rtscan_tally_mapped_digit(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column,
						  const RtscanTallyMap *map)
{
	return add_common_digit(tally, reader, schema, column, (RtscanTallyDigit) {.map = map});
}

bool
rtscan_tally_binned_digit(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column,
						  const RtscanTallyBins *bins)
{
	return add_common_digit(tally, reader, schema, column, (RtscanTallyDigit) {.bins = bins});
}

/* Does a digit say which value a column has? */
static bool
is_digit_of(const RtscanTallyDigit *digit, int column)
{
	return !rtscan_is_common_digit(digit) && digit->of.own.number == column;
}

/* Return the number plus one of a column's digit; 0 if there is none. */
static int
find_digit(const RtscanTally *tally, int column)
{
	for (int i = 0; i < tally->ndigits; i++)
		if (is_digit_of(&tally->digits[i], column))
			return i + 1;
	return 0;
}

/* The same, after adding a digit unless there is one.  Returns 0 if that is not possible. */
static int
find_or_add_digit(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column)
{
	int			found = find_digit(tally, column);

	if (found == 0 && rtscan_tally_digit(tally, reader, schema, column))
		found = tally->ndigits;
	return found;
}

/* ---------------------------------------------------------------- values */

/*
 * Have a digit say a value.  A digit that is there already will do.  A new one is only added if its codes are few, or
 * its integers close to each other.
 */
static bool
set_digit(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column, RtscanTallyValue *value)
{
	int			ndigits = tally->ndigits;
	const RtscanTallyDigit *digit;
	bool		fits;

	value->digit = find_or_add_digit(tally, reader, schema, column);
	if (value->digit == 0)
		return false;
	digit = &tally->digits[value->digit - 1];
	if (digit->coded)
		fits = rtscan_find_integers_of_codes(reader, schema, column, &digit->of, value);
	else
	{
		value->of = digit->of;
		fits = value->digit <= ndigits || rtscan_are_dense(&digit->of, FEW_CODES);
	}
	if (!fits)
		tally->ndigits = ndigits;
	return fits;
}

/* Add a value that is a digit. */
static bool
add_digit_value(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column,
				RtscanTotalKind kind)
{
	RtscanTallyValue value = {.kind = kind};

	if (!set_digit(tally, reader, schema, column, &value))
		return false;
	tally->values[tally->nvalues++] = value;
	return true;
}

/* Add a value that is measured. */
static bool
add_measured_value(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column,
				   RtscanTotalKind kind)
{
	RtscanTallyValue value = {.kind = kind};
	int			number;

	if (!rtscan_find_measured_column(reader, schema, column, &value.of))
		return false;
	number = value.of.own.number;
	value.nulls = rtscan_column_has_nulls(tally->segment, rtscan_open_values(reader, schema, number), number);
	tally->values[tally->nvalues++] = value;
	return true;
}

bool
rtscan_tally_value(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column,
				   RtscanTotalKind kind)
{
	if (tally->nvalues == DEVICE_MAX_MEASURES)
		return false;
	/* A column of GROUP BY is a digit already, and need not be measured. */
	return (find_digit(tally, column) > 0 && add_digit_value(tally, reader, schema, column, kind)) ||
		add_measured_value(tally, reader, schema, column, kind) ||
		add_digit_value(tally, reader, schema, column, kind);
}

bool
rtscan_tally_factor(RtscanTally *tally, RtscanReader *reader, const RtscanSchema *schema, int column)
{
	RtscanTallyValue value = {.kind = RTSCAN_TOTAL_SUM};

	if (tally->nvalues == DEVICE_MAX_MEASURES || !set_digit(tally, reader, schema, column, &value))
		return false;
	tally->values[tally->nvalues++] = value;
	return true;
}
