/* SPDX-License-Identifier: PostgreSQL */
/*
 * plan.c
 *		Lists of experiments.
 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "../../device/context.h"
#include "layout.h"

/* Numbers of lookups and keys in most figures, as powers of two. */
#define LOOKUPS		24
#define KEYS		26

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

static void
add(Plan *plan, Experiment experiment)
{
	plan->experiments = realloc(plan->experiments, (plan->count + 1) * sizeof(Experiment));
	if (plan->experiments == NULL)
		fail("out of memory");
	plan->experiments[plan->count++] = experiment;
}

static Shape
sparse(uint32_t log_rows, uint32_t log_duplicates, uint32_t key_bits)
{
	return (Shape) {log_rows, log_duplicates, key_bits, false, X_BITS, Y_BITS};
}

static Shape
dense(uint32_t log_rows, uint32_t x_bits, uint32_t y_bits)
{
	return (Shape) {log_rows, 0, 32, true, x_bits, y_bits};
}

/* Add lookups that find every key, unsorted and sorted. */
static void
add_both(Plan *plan, const Shape *shape, uint32_t log_lookups)
{
	add(plan, (Experiment) {*shape, {1, 0}, log_lookups, .sorted = false});
	add(plan, (Experiment) {*shape, {1, 0}, log_lookups, .sorted = true});
}

static void
add_hit_rates(Plan *plan, const Shape *shape, bool sorted)
{
	static const double rates[] = {0, 0.1, 0.5, 0.9};

	for (size_t i = 0; i < LENGTH(rates); i++)
		add(plan, (Experiment) {*shape, {rates[i], 0}, LOOKUPS, .sorted = sorted});
}

/* Add batches, hit rates and sizes of buckets for the same keys. */
static void
add_base(Plan *plan)
{
	const Shape shape = sparse(KEYS, 0, 32);

	for (uint32_t log_lookups = 10; log_lookups < LOOKUPS; log_lookups += 2)
		add_both(plan, &shape, log_lookups);
	add(plan, (Experiment) {shape, {1, 0}, LOOKUPS, .sorted = false, .variants = true});
	add(plan, (Experiment) {shape, {1, 0}, LOOKUPS, .sorted = true, .variants = true});
	add_hit_rates(plan, &shape, false);
	add_hit_rates(plan, &shape, true);
}

static void
add_duplicates(Plan *plan)
{
	static const uint32_t duplicates[] = {1, 2, 3, 5, 7};

	for (size_t i = 0; i < LENGTH(duplicates); i++)
	{
		const Shape shape = sparse(KEYS, duplicates[i], 32);

		add_both(plan, &shape, 20);
	}
}

static void
add_ranges(Plan *plan)
{
	static const uint32_t hits[] = {4, 16, 64, 256, 1024};
	const Shape shape = dense(KEYS, X_BITS, Y_BITS);

	add_both(plan, &shape, LOOKUPS);
	add(plan, (Experiment) {shape, {1, 0}, 18, .sorted = false});
	for (size_t i = 0; i < LENGTH(hits); i++)
		add(plan, (Experiment) {shape, {1, hits[i]}, 18, .sorted = false, .variants = true});
}

/* Add other divisions of a key into x, y and z. */
static void
add_places(Plan *plan)
{
	static const uint32_t bits[][2] = {{18, 8}, {13, 13}, {9, 9}};

	for (size_t i = 0; i < LENGTH(bits); i++)
	{
		const Shape shape = dense(KEYS, bits[i][0], bits[i][1]);

		add(plan, (Experiment) {shape, {1, 0}, LOOKUPS, .rays_only = true});
		add(plan, (Experiment) {shape, {1, 64}, 18, .rays_only = true});
	}
}

Plan
plan_paper(void)
{
	static const uint32_t keys[] = {20, 22, 24, 25, 27};
	Plan		plan = {0};

	add_base(&plan);
	add_ranges(&plan);
	for (uint32_t i = 0; i < LENGTH(keys); i++)
	{
		const Shape narrow = sparse(keys[i], 0, 32);

		add_both(&plan, &narrow, LOOKUPS);
	}
	for (uint32_t log_rows = 22; log_rows <= KEYS; log_rows += 2)
	{
		const Shape wide = sparse(log_rows, 0, 64);

		add_both(&plan, &wide, LOOKUPS);
		add(&plan, (Experiment) {wide, {0.5, 0}, LOOKUPS, .sorted = false});
	}
	add_duplicates(&plan);
	add_places(&plan);
	return plan;
}

static void
add_checks(Plan *plan, const Shape *shape, uint32_t hits)
{
	add(plan, (Experiment) {*shape, {1, 0}, 8, .sorted = true, .variants = true});
	add(plan, (Experiment) {*shape, {0.5, 0}, 11, .variants = true});
	add(plan, (Experiment) {*shape, {1, 2}, 8, .variants = true});
	add(plan, (Experiment) {*shape, {1, hits}, 8, .sorted = true, .variants = true});
}

Plan
plan_check(void)
{
	/* One row; rows of 2^7 and planes of 2^9 keys; many rows, many planes; 64 bits in all coordinates. */
	const Shape shapes[] = {
		dense(12, X_BITS, Y_BITS), dense(13, 7, 2), dense(9, X_BITS, Y_BITS), sparse(12, 0, 32), sparse(12, 3, 32),
		{10, 1, 32, false, 14, 10}, sparse(12, 0, 64), sparse(13, 2, 64)};
	Plan		plan = {0};

	for (size_t i = 0; i < LENGTH(shapes); i++)
		add_checks(&plan, &shapes[i], 30);
	return plan;
}

bool
plan_same_column(const Experiment *left, const Experiment *right)
{
	const Shape *a = &left->shape;
	const Shape *b = &right->shape;

	return a->log_rows == b->log_rows && a->log_duplicates == b->log_duplicates && a->key_bits == b->key_bits &&
		a->dense == b->dense && a->x_bits == b->x_bits && a->y_bits == b->y_bits;
}
