/* SPDX-License-Identifier: PostgreSQL */
/*
 * answer.c
 *		Compare answers.
 */
#include "answer.h"

#include <err.h>
#include <math.h>
#include <stdlib.h>

#define TOLERANCE	1e-9

Column		columns[MAX_COLUMNS];
int			n_columns;

/* Hash a number.  Equal numbers have equal hashes, whatever their scales, also if one of them is an integer. */
uint64_t
add_decimal(uint64_t hash, Decimal decimal)
{
	for (; decimal.scale > 0 && decimal.digits % 10 == 0; decimal.scale--)
		decimal.digits /= 10;
	if (decimal.scale == 0 && decimal.digits == (int64_t) decimal.digits)
		return add_integer(hash, (int64_t) decimal.digits);
	hash = add_integer(hash, (int64_t) decimal.digits);
	hash = add_integer(hash, (int64_t) (decimal.digits >> 64));
	return add_integer(hash, decimal.scale);
}

double
decimal_to_double(Decimal decimal)
{
	return (double) decimal.digits / pow(10, decimal.scale);
}

void
add_floating(Answer *answer, uint64_t row, int column, double value)
{
	if (answer->n_floating == answer->capacity)
	{
		answer->capacity = 2 * answer->capacity + 16;
		answer->floating = realloc(answer->floating, answer->capacity * sizeof(Floating));
	}
	answer->floating[answer->n_floating++] = (Floating) {add_integer(row, column), value};
}

static int
compare_floating(const void *a, const void *b)
{
	const Floating *left = a;
	const Floating *right = b;

	if (left->place != right->place)
		return left->place < right->place ? -1 : 1;
	return (left->value > right->value) - (left->value < right->value);
}

static void
sort_floating(Answer *answer)
{
	if (answer->n_floating > 0)
		qsort(answer->floating, answer->n_floating, sizeof(Floating), compare_floating);
}

static bool
same_floating(Floating a, Floating b)
{
	return a.place == b.place && fabs(a.value - b.value) <= TOLERANCE * fmax(fabs(a.value), fabs(b.value));
}

bool
same(Answer *a, Answer *b)
{
	bool		same = a->rows == b->rows && a->sum == b->sum && a->n_floating == b->n_floating;

	sort_floating(a);
	sort_floating(b);
	for (size_t i = 0; same && i < a->n_floating; i++)
		same = same_floating(a->floating[i], b->floating[i]);
	return same;
}
