/* SPDX-License-Identifier: PostgreSQL */
/*
 * postgres.c
 *		Run queries in PostgreSQL, through libpq: prepared statements, with rows in binary.
 */
#include "answer.h"

#include <endian.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

#define INT8OID			20
#define INT2OID			21
#define INT4OID			23
#define FLOAT8OID		701
#define INT4ARRAYOID	1007
#define DATEOID			1082
#define NUMERICOID		1700

#define UNIX_EPOCH		10957	/* days from the Unix epoch to PostgreSQL's */

#define NUMERIC_NEGATIVE	0x4000
#define NUMERIC_SPECIAL		0x8000	/* NaN and infinities */
#define NUMERIC_MAX_DIGITS	9	/* base-10000 digits that fit in a Decimal */

static PGresult *
check_result(PGconn *connection, PGresult *result)
{
	if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
		errx(EXIT_FAILURE, "PostgreSQL: %s", PQerrorMessage(connection));
	return result;
}

static int
int2_at(const char *value)
{
	uint16_t	two;

	memcpy(&two, value, sizeof(two));
	return (int16_t) be16toh(two);
}

static int32_t
int4_at(const char *value)
{
	uint32_t	four;

	memcpy(&four, value, sizeof(four));
	return (int32_t) be32toh(four);
}

static int64_t
int8_at(const char *value)
{
	uint64_t	eight;

	memcpy(&eight, value, sizeof(eight));
	return (int64_t) be64toh(eight);
}

static double
float8_at(const char *value)
{
	int64_t		bits = int8_at(value);
	double		result;

	memcpy(&result, &bits, sizeof(result));
	return result;
}

/* Read a numeric: number of digits, weight of the first one, sign, display scale, then digits of base 10,000. */
static Decimal
numeric_at(const char *value)
{
	int			n = int2_at(value);
	int			after_point = n - 1 - int2_at(value + 2);
	int			sign = int2_at(value + 4) & 0xFFFF;
	Decimal		result = {0, 0};

	if (n - after_point > NUMERIC_MAX_DIGITS || n > NUMERIC_MAX_DIGITS || (sign & NUMERIC_SPECIAL))
		errx(EXIT_FAILURE, "PostgreSQL: there is a numeric without end, or too long");
	for (int i = 0; i < n; i++)
		result.digits = result.digits * 10000 + int2_at(value + 8 + 2 * i);
	for (; after_point < 0; after_point++)
		result.digits *= 10000;
	if (sign == NUMERIC_NEGATIVE)
		result.digits = -result.digits;
	result.scale = 4 * after_point;
	return result;
}

/*
 * Hash an array of one dimension without NULLs: a header of 20 bytes, with the length at 12; then each element
 * with its length before it.
 */
static uint64_t
add_array(uint64_t hash, const char *value)
{
	int			n = int4_at(value + 12);

	hash = add_integer(hash, n);
	for (int i = 0; i < n; i++)
		hash = add_integer(hash, int4_at(value + 20 + 8 * i + 4));
	return hash;
}

static uint64_t
add_value(uint64_t hash, const PGresult *result, int row, int column)
{
	const char *value = PQgetvalue(result, row, column);

	if (PQgetisnull(result, row, column))
		return add_bytes(hash, "NULL", 4);
	if (columns[column].floating)
		return hash;
	switch (columns[column].postgres)
	{
		case INT2OID:
			return add_integer(hash, int2_at(value));
		case INT4OID:
			return add_integer(hash, int4_at(value));
		case DATEOID:
			return add_integer(hash, int4_at(value) + UNIX_EPOCH);
		case INT8OID:
			return add_integer(hash, int8_at(value));
		case NUMERICOID:
			return add_decimal(hash, numeric_at(value));
		case INT4ARRAYOID:
			return add_array(hash, value);
		default:
			return add_bytes(hash, value, (size_t) PQgetlength(result, row, column));
	}
}

static double
floating_at(const PGresult *result, int row, int column)
{
	const char *value = PQgetvalue(result, row, column);

	switch (columns[column].postgres)
	{
		case FLOAT8OID:
			return float8_at(value);
		case NUMERICOID:
			return decimal_to_double(numeric_at(value));
		default:
			errx(EXIT_FAILURE, "PostgreSQL: a floating column has the type %u", columns[column].postgres);
	}
}

static void
add_result_row(Answer *answer, const PGresult *result, int row)
{
	uint64_t	hash = 0;

	for (int column = 0; column < n_columns; column++)
		hash = add_value(hash, result, row, column);
	for (int column = 0; column < n_columns; column++)
		if (columns[column].floating && !PQgetisnull(result, row, column))
			add_floating(answer, hash, column, floating_at(result, row, column));
	add_row(answer, hash);
}

/* Describe the columns' types in PostgreSQL. */
static void
describe(PGconn *connection)
{
	PGresult   *result = check_result(connection, PQdescribePrepared(connection, "q"));

	n_columns = PQnfields(result);
	if (n_columns > MAX_COLUMNS)
		errx(EXIT_FAILURE, "there are more than %d columns", MAX_COLUMNS);
	for (int column = 0; column < n_columns; column++)
	{
		columns[column].postgres = PQftype(result, column);
		columns[column].floating = columns[column].postgres == FLOAT8OID;
	}
	PQclear(result);
}

/* Connect and execute these statements. */
void *
connect_postgres(const char *start)
{
	PGconn	   *connection = PQconnectdb("");

	if (PQstatus(connection) != CONNECTION_OK)
		errx(EXIT_FAILURE, "PostgreSQL: %s", PQerrorMessage(connection));
	if (*start != '\0')
		PQclear(check_result(connection, PQexec(connection, start)));
	return connection;
}

void
prepare_postgres(void *connection, const char *query)
{
	PQclear(check_result(connection, PQexec(connection, "DEALLOCATE ALL")));
	PQclear(check_result(connection, PQprepare(connection, "q", query, 0, NULL)));
	describe(connection);
}

void
ask_postgres(void *connection, Answer *answer)
{
	PGresult   *result = check_result(connection, PQexecPrepared(connection, "q", 0, NULL, NULL, NULL, 1));

	for (int row = 0; row < PQntuples(result); row++)
		add_result_row(answer, result, row);
	PQclear(result);
}
