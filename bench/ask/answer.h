/* SPDX-License-Identifier: PostgreSQL */
/*
 * answer.h
 *		Answers to be compared: sets of rows, represented by the sum of their hashes and by their floating values.
 *
 * Numbers are equal if their values are, whatever their types and scales.  Columns that are floating in either system
 * may differ in their last digits.
 */
#ifndef ASK_ANSWER_H
#define ASK_ANSWER_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_COLUMNS	64

/* A column of the answer in both systems: postgres.c describes it first, then duckdb.c. */
typedef struct Column
{
	Oid			postgres;		/* its type in PostgreSQL */
	int			duckdb;			/* the type as which DuckDB stores it */
	int			scale;			/* scale of DuckDB's decimals */
	bool		floating;		/* floating in either system: compared with a tolerance */
} Column;

extern Column columns[MAX_COLUMNS];
extern int	n_columns;

/* A floating value of an answer. */
typedef struct Floating
{
	uint64_t	place;			/* hash of its column and of the other values in its row */
	double		value;
} Floating;

/* A set of rows, in any order. */
typedef struct Answer
{
	uint64_t	rows;
	uint64_t	sum;			/* sum of the rows' hashes, without floating values */
	Floating   *floating;
	size_t		n_floating;
	size_t		capacity;
} Answer;

/* The number digits / 10^scale. */
typedef struct Decimal
{
	__int128	digits;
	int			scale;
} Decimal;

static inline uint64_t
add_bytes(uint64_t hash, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char) bytes[i]) * UINT64_C(0x100000001B3);
	return hash ^ hash >> 29;
}

static inline uint64_t
add_integer(uint64_t hash, int64_t value)
{
	hash = (hash ^ (uint64_t) value) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 32;
}

static inline void
forget(Answer *answer)
{
	answer->rows = answer->sum = answer->n_floating = 0;
}

static inline void
add_row(Answer *answer, uint64_t hash)
{
	answer->rows++;
	answer->sum += hash;
}

extern uint64_t add_decimal(uint64_t hash, Decimal decimal);
extern double decimal_to_double(Decimal decimal);
extern void add_floating(Answer *answer, uint64_t row, int column, double value);
extern bool same(Answer *a, Answer *b);

/* postgres.c */
extern void *connect_postgres(const char *start);
extern void prepare_postgres(void *connection, const char *query);
extern void ask_postgres(void *connection, Answer *answer);

/* duckdb.c */
extern void *connect_duckdb(const char *library, const char *setup);
extern void prepare_duckdb(void *connection, const char *query);
extern void ask_duckdb(void *connection, Answer *answer);

#endif
