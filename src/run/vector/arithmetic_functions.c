/* SPDX-License-Identifier: PostgreSQL */
/*
 * arithmetic_functions.c
 *		The functions of PostgreSQL that can be calculated for many rows, one on each line.
 */
#include "run/vector/arithmetic_parts.h"

#include "utils/fmgroids.h"

#define PLUS	1
#define MINUS	-1

static const RtscanFunction functions[] = {
	/* casts; the range of their type is checked, as for all results */
	{F_INT4_INT2, 1, NULL, 0},
	{F_INT8_INT2, 1, NULL, 0},
	{F_INT8_INT4, 1, NULL, 0},
	{F_INT2_INT4, 1, NULL, 0},
	{F_INT2_INT8, 1, NULL, 0},
	{F_INT4_INT8, 1, NULL, 0},
	{F_NUMERIC_INT2, 1, NULL, 0},
	{F_NUMERIC_INT4, 1, NULL, 0},
	{F_NUMERIC_INT8, 1, NULL, 0},
	{F_FLOAT8_FLOAT4, 1, NULL, 0},
	{F_INT4_BOOL, 1, NULL, 0},
	{F_INT2_NUMERIC, 1, rtscan_round_to_integers, 0},
	{F_INT4_NUMERIC, 1, rtscan_round_to_integers, 0},
	{F_INT8_NUMERIC, 1, rtscan_round_to_integers, 0},
	{F_FLOAT8_INT2, 1, rtscan_integers_to_doubles, 0},
	{F_FLOAT8_INT4, 1, rtscan_integers_to_doubles, 0},
	{F_FLOAT8_INT8, 1, rtscan_integers_to_doubles, 0},
	{F_FLOAT8_NUMERIC, 1, rtscan_integers_to_doubles, 0},
	{F_INT2_FLOAT8, 1, rtscan_doubles_to_integers, 0},
	{F_INT4_FLOAT8, 1, rtscan_doubles_to_integers, 0},
	{F_INT8_FLOAT8, 1, rtscan_doubles_to_integers, 0},
	{F_INT2_FLOAT4, 1, rtscan_doubles_to_integers, 0},
	{F_INT4_FLOAT4, 1, rtscan_doubles_to_integers, 0},
	{F_INT8_FLOAT4, 1, rtscan_doubles_to_integers, 0},
	{F_DATE_TIMESTAMP, 1, rtscan_timestamps_to_dates, 0},
	{F_TIME_TIMESTAMP, 1, rtscan_timestamps_to_times, 0},
	{F_TIMESTAMP_DATE, 1, rtscan_dates_to_timestamps, 0},

	/* signs */
	{F_INT2UP, 1, NULL, 0},
	{F_INT4UP, 1, NULL, 0},
	{F_INT8UP, 1, NULL, 0},
	{F_NUMERIC_UPLUS, 1, NULL, 0},
	{F_FLOAT8UP, 1, NULL, 0},
	{F_INT2UM, 1, rtscan_negate_integers, 0},
	{F_INT4UM, 1, rtscan_negate_integers, 0},
	{F_INT8UM, 1, rtscan_negate_integers, 0},
	{F_NUMERIC_UMINUS, 1, rtscan_negate_integers, 0},
	{F_FLOAT4UM, 1, rtscan_negate_doubles, 0},
	{F_FLOAT8UM, 1, rtscan_negate_doubles, 0},
	{F_INT2ABS, 1, rtscan_absolute_integers, 0},
	{F_INT4ABS, 1, rtscan_absolute_integers, 0},
	{F_INT8ABS, 1, rtscan_absolute_integers, 0},
	{F_NUMERIC_ABS, 1, rtscan_absolute_integers, 0},
	{F_ABS_INT2, 1, rtscan_absolute_integers, 0},
	{F_ABS_INT4, 1, rtscan_absolute_integers, 0},
	{F_ABS_INT8, 1, rtscan_absolute_integers, 0},
	{F_ABS_NUMERIC, 1, rtscan_absolute_integers, 0},
	{F_FLOAT4ABS, 1, rtscan_absolute_doubles, 0},
	{F_FLOAT8ABS, 1, rtscan_absolute_doubles, 0},
	{F_ABS_FLOAT4, 1, rtscan_absolute_doubles, 0},
	{F_ABS_FLOAT8, 1, rtscan_absolute_doubles, 0},

	/* sums and differences */
	{F_INT2PL, 2, rtscan_add_integers, PLUS},
	{F_INT4PL, 2, rtscan_add_integers, PLUS},
	{F_INT8PL, 2, rtscan_add_integers, PLUS},
	{F_INT24PL, 2, rtscan_add_integers, PLUS},
	{F_INT42PL, 2, rtscan_add_integers, PLUS},
	{F_INT28PL, 2, rtscan_add_integers, PLUS},
	{F_INT82PL, 2, rtscan_add_integers, PLUS},
	{F_INT48PL, 2, rtscan_add_integers, PLUS},
	{F_INT84PL, 2, rtscan_add_integers, PLUS},
	{F_NUMERIC_ADD, 2, rtscan_add_integers, PLUS},
	{F_INT2MI, 2, rtscan_add_integers, MINUS},
	{F_INT4MI, 2, rtscan_add_integers, MINUS},
	{F_INT8MI, 2, rtscan_add_integers, MINUS},
	{F_INT24MI, 2, rtscan_add_integers, MINUS},
	{F_INT42MI, 2, rtscan_add_integers, MINUS},
	{F_INT28MI, 2, rtscan_add_integers, MINUS},
	{F_INT82MI, 2, rtscan_add_integers, MINUS},
	{F_INT48MI, 2, rtscan_add_integers, MINUS},
	{F_INT84MI, 2, rtscan_add_integers, MINUS},
	{F_NUMERIC_SUB, 2, rtscan_add_integers, MINUS},
	{F_FLOAT8PL, 2, rtscan_add_doubles, PLUS},
	{F_FLOAT48PL, 2, rtscan_add_doubles, PLUS},
	{F_FLOAT84PL, 2, rtscan_add_doubles, PLUS},
	{F_FLOAT8MI, 2, rtscan_add_doubles, MINUS},
	{F_FLOAT48MI, 2, rtscan_add_doubles, MINUS},
	{F_FLOAT84MI, 2, rtscan_add_doubles, MINUS},
	{F_DATE_MI, 2, rtscan_subtract_dates, MINUS},
	{F_DATE_PLI, 2, rtscan_add_to_dates, PLUS},
	{F_DATE_MII, 2, rtscan_add_to_dates, MINUS},

	/* products and quotients */
	{F_INT2MUL, 2, rtscan_multiply_integers, 0},
	{F_INT4MUL, 2, rtscan_multiply_integers, 0},
	{F_INT8MUL, 2, rtscan_multiply_integers, 0},
	{F_INT24MUL, 2, rtscan_multiply_integers, 0},
	{F_INT42MUL, 2, rtscan_multiply_integers, 0},
	{F_INT28MUL, 2, rtscan_multiply_integers, 0},
	{F_INT82MUL, 2, rtscan_multiply_integers, 0},
	{F_INT48MUL, 2, rtscan_multiply_integers, 0},
	{F_INT84MUL, 2, rtscan_multiply_integers, 0},
	{F_NUMERIC_MUL, 2, rtscan_multiply_integers, 0},
	{F_FLOAT8MUL, 2, rtscan_multiply_doubles, 0},
	{F_FLOAT48MUL, 2, rtscan_multiply_doubles, 0},
	{F_FLOAT84MUL, 2, rtscan_multiply_doubles, 0},
	{F_FLOAT8DIV, 2, rtscan_divide_doubles, 0},
	{F_FLOAT48DIV, 2, rtscan_divide_doubles, 0},
	{F_FLOAT84DIV, 2, rtscan_divide_doubles, 0},
	{F_INT2DIV, 2, rtscan_divide_integers, RTSCAN_BY_CONSTANT},
	{F_INT4DIV, 2, rtscan_divide_integers, RTSCAN_BY_CONSTANT},
	{F_INT8DIV, 2, rtscan_divide_integers, RTSCAN_BY_CONSTANT},
	{F_INT24DIV, 2, rtscan_divide_integers, RTSCAN_BY_CONSTANT},
	{F_INT42DIV, 2, rtscan_divide_integers, RTSCAN_BY_CONSTANT},
	{F_INT28DIV, 2, rtscan_divide_integers, RTSCAN_BY_CONSTANT},
	{F_INT82DIV, 2, rtscan_divide_integers, RTSCAN_BY_CONSTANT},
	{F_INT48DIV, 2, rtscan_divide_integers, RTSCAN_BY_CONSTANT},
	{F_INT84DIV, 2, rtscan_divide_integers, RTSCAN_BY_CONSTANT},
	{F_INT2MOD, 2, rtscan_modulo_integers, RTSCAN_BY_CONSTANT},
	{F_INT4MOD, 2, rtscan_modulo_integers, RTSCAN_BY_CONSTANT},
	{F_INT8MOD, 2, rtscan_modulo_integers, RTSCAN_BY_CONSTANT},
	{F_MOD_INT2_INT2, 2, rtscan_modulo_integers, RTSCAN_BY_CONSTANT},
	{F_MOD_INT4_INT4, 2, rtscan_modulo_integers, RTSCAN_BY_CONSTANT},
	{F_MOD_INT8_INT8, 2, rtscan_modulo_integers, RTSCAN_BY_CONSTANT},

	/* roots */
	{F_DSQRT, 1, rtscan_root_doubles, 0},
	{F_SQRT_FLOAT8, 1, rtscan_root_doubles, 0},
};

const RtscanFunction *
rtscan_find_function(Oid function)
{
	for (Size i = 0; i < lengthof(functions); i++)
		if (functions[i].function == function)
			return &functions[i];
	return NULL;
}
