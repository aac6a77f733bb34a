/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_aggregate_totals.c
 *		Read the totals of values from the entries of a device aggregate that an executor has made.
 */
#include "search/exec/device_aggregate.h"

/* Copy the integers that a value's codes represent. */
static int64 *
copy_integers_of_codes(const RtscanDeviceAgg *agg, const RtscanDeviceAggValue *value)
{
	const RtscanDeviceAggDigit *digit = &agg->digits[value->digit - 1];
	Size		size = digit->null * sizeof(int64);

	return memcpy(palloc(size), value->integers, size);
}

RtscanDeviceAgg *
rtscan_copy_device_agg(const RtscanDeviceAgg *agg)
{
	RtscanDeviceAgg *copy = memcpy(palloc(sizeof(RtscanDeviceAgg)), agg, sizeof(RtscanDeviceAgg));
	Size		size = (rtscan_device_agg_words(agg, agg->n) - 1) * sizeof(uint64);

	copy->segment = NULL;
	copy->head = copy;
	memset(&copy->certain, 0, sizeof(copy->certain));
	copy->words = memcpy(palloc(size), agg->words, size);
	for (int i = 0; i < agg->ndigits; i++)
		Assert(agg->digits[i].map == NULL && agg->digits[i].bins == NULL);
	for (int i = 0; i < agg->nvalues; i++)
		copy->values[i].integers = agg->values[i].digit > 0 && agg->values[i].integers ?
			copy_integers_of_codes(agg, &agg->values[i]) : NULL;
	return copy;
}

/*
 * Return a word of an entry: the measure whose number plus one is "measure", or the number of rows if "measure" is 0.
 */
static uint64
measured_word(const RtscanDeviceAgg *agg, int measure, uint32 entry)
{
	return rtscan_device_agg_entry(agg, entry)[1 + measure];
}

/* Sums of 32-bit halves, over all rows of the segments that are searched together, do not overflow. */
StaticAssertDecl((uint64) RTSCAN_MAX_DEVICES * RTSCAN_ROUND_SEGMENTS * RTSCAN_SEGMENT_ROWS < UINT64CONST(1) << 31,
				 "sums of a device aggregate may overflow");

static void
set_sums(const RtscanDeviceAgg *agg, const RtscanDeviceAggValue *value, uint32 first, uint32 n, RtscanTotal *totals)
{
	for (uint32 i = 0; i < n; i++)
	{
		int64		count = (int64) totals[i].count;

		totals[i].upper = (value->of.least >> 32) * count +
			(value->upper > 0 ? (int64) measured_word(agg, value->upper, first + i) : 0);
		totals[i].lower = (uint64) (uint32) value->of.least * count + measured_word(agg, value->lower, first + i);
	}
}

/* The words of minima are complements, so that the device can find minima and maxima as greatest words. */
static void
set_outermost(const RtscanDeviceAgg *agg, const RtscanDeviceAggValue *value, uint32 first, uint32 n,
			  RtscanTotal *totals)
{
	uint64		flip = value->kind == RTSCAN_TOTAL_LEAST ? PG_UINT64_MAX : 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint64		distance = measured_word(agg, value->outermost, first + i) ^ flip;

		totals[i].outermost = (int64) ((uint64) value->of.least + distance);
	}
}

/* Return the total of a value that is a digit: all rows of an entry have the same value, or NULL. */
static RtscanTotal
total_of_digit(const RtscanDeviceAgg *agg, const RtscanDeviceAggValue *value, uint32 entry)
{
	const RtscanDeviceAggDigit *digit = &agg->digits[value->digit - 1];
	uint32		number = rtscan_device_agg_number(agg, digit, entry);
	int64		rows = (int64) rtscan_device_agg_rows(agg, entry);
	int64		integer;

	if (number == digit->null)
		return (RtscanTotal) {0};
	integer = digit->coded ? value->integers[number] : digit->of.least + number;
	return (RtscanTotal) {
		.count = rows,
		.upper = (integer >> 32) * rows,
		.lower = (uint64) (uint32) integer * rows,
		.outermost = integer,
	};
}

void
rtscan_device_agg_totals(const RtscanDeviceAgg *agg, int number, uint32 first, uint32 n, RtscanTotal *totals)
{
	const RtscanDeviceAggValue *value = &agg->values[number];

	for (uint32 i = 0; i < n; i++)
		totals[i] = value->digit > 0 ? total_of_digit(agg, value, first + i) :
			(RtscanTotal) {.count = measured_word(agg, value->count, first + i)};
	if (value->digit > 0)
		return;
	if (value->kind == RTSCAN_TOTAL_SUM)
		set_sums(agg, value, first, n, totals);
	else if (value->kind == RTSCAN_TOTAL_LEAST || value->kind == RTSCAN_TOTAL_GREATEST)
		set_outermost(agg, value, first, n, totals);
}
