/* SPDX-License-Identifier: PostgreSQL */
/*
 * duckdb.c
 *		Run queries in DuckDB, through its C API.
 *
 * The API is declared here as far as it is used, since DuckDB's packages come without the header.
 */
#define _GNU_SOURCE
#include "answer.h"

#include <dlfcn.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
	DUCKDB_SMALLINT = 3,
	DUCKDB_INTEGER = 4,
	DUCKDB_BIGINT = 5,
	DUCKDB_DOUBLE = 11,
	DUCKDB_DATE = 13,
	DUCKDB_HUGEINT = 16,
	DUCKDB_VARCHAR = 17,
	DUCKDB_DECIMAL = 19,
	DUCKDB_LIST = 24
};

typedef struct DuckdbListEntry
{
	uint64_t	offset;
	uint64_t	length;
} DuckdbListEntry;

typedef struct DuckdbResult
{
	uint64_t	unused[3];
	void	   *pointers[3];
} DuckdbResult;

typedef union DuckdbString
{
	struct
	{
		uint32_t	length;
		char		prefix[4];
		const char *rest;
	}			pointer;
	struct
	{
		uint32_t	length;
		char		bytes[12];
	}			inlined;
} DuckdbString;

static struct
{
	int			(*open) (const char *, void **);
	int			(*connect) (void *, void **);
	int			(*query) (void *, const char *, DuckdbResult *);
	int			(*prepare) (void *, const char *, void **);
	const char *(*prepare_error) (void *);
	void		(*destroy_prepare) (void **);
	int			(*execute_prepared) (void *, DuckdbResult *);
	const char *(*result_error) (DuckdbResult *);
	void		(*destroy_result) (DuckdbResult *);
	uint64_t	(*prepared_statement_column_count) (void *);
	void	   *(*prepared_statement_column_logical_type) (void *, uint64_t);
	int			(*get_type_id) (void *);
	uint8_t		(*decimal_scale) (void *);
	int			(*decimal_internal_type) (void *);
	void		(*destroy_logical_type) (void **);
	void	   *(*fetch_chunk) (DuckdbResult);
	void		(*destroy_data_chunk) (void **);
	uint64_t	(*data_chunk_get_size) (void *);
	void	   *(*data_chunk_get_vector) (void *, uint64_t);
	void	   *(*vector_get_data) (void *);
	uint64_t   *(*vector_get_validity) (void *);
	void	   *(*list_vector_get_child) (void *);
}			duckdb;

static void *statement;

#define FIND(name)	(*(void **) &duckdb.name = find(library, "duckdb_" #name))

static void *
find(void *library, const char *name)
{
	void	   *function = dlsym(library, name);

	if (function == NULL)
		errx(EXIT_FAILURE, "DuckDB's library has no %s", name);
	return function;
}

static void
query_duckdb(void *connection, const char *sql)
{
	DuckdbResult result;

	if (duckdb.query(connection, sql, &result) != 0)
		errx(EXIT_FAILURE, "DuckDB: %s: %s", sql, duckdb.result_error(&result));
	duckdb.destroy_result(&result);
}

static void
load_duckdb(const char *path)
{
	void	   *library = dlopen(path, RTLD_NOW);

	if (library == NULL)
		errx(EXIT_FAILURE, "%s", dlerror());
	FIND(open), FIND(connect), FIND(query), FIND(prepare), FIND(prepare_error), FIND(destroy_prepare);
	FIND(execute_prepared), FIND(result_error), FIND(destroy_result);
	FIND(prepared_statement_column_count), FIND(prepared_statement_column_logical_type), FIND(get_type_id);
	FIND(decimal_scale), FIND(decimal_internal_type), FIND(destroy_logical_type);
	FIND(fetch_chunk), FIND(destroy_data_chunk), FIND(data_chunk_get_size), FIND(data_chunk_get_vector);
	FIND(vector_get_data), FIND(vector_get_validity), FIND(list_vector_get_child);
}

/* Open a new database and execute these statements. */
void *
connect_duckdb(const char *library, const char *setup)
{
	void	   *database;
	void	   *connection;

	load_duckdb(library);
	if (duckdb.open(NULL, &database) != 0 || duckdb.connect(database, &connection) != 0)
		errx(EXIT_FAILURE, "could not open DuckDB");
	query_duckdb(connection, setup);
	return connection;
}

/* Describe the columns' types in DuckDB. */
static void
describe(void)
{
	if (duckdb.prepared_statement_column_count(statement) != (uint64_t) n_columns)
		errx(EXIT_FAILURE, "the answers have different numbers of columns");
	for (int i = 0; i < n_columns; i++)
	{
		Column	   *column = &columns[i];
		void	   *type = duckdb.prepared_statement_column_logical_type(statement, (uint64_t) i);
		bool		decimal = duckdb.get_type_id(type) == DUCKDB_DECIMAL;

		column->duckdb = decimal ? duckdb.decimal_internal_type(type) : duckdb.get_type_id(type);
		column->scale = decimal ? duckdb.decimal_scale(type) : 0;
		column->floating |= column->duckdb == DUCKDB_DOUBLE;
		duckdb.destroy_logical_type(&type);
	}
}

/* Return a number's digits, without its decimal point. */
static __int128
digits_at(const void *data, uint64_t row, int type)
{
	__int128	huge;

	switch (type)
	{
		case DUCKDB_SMALLINT:
			return ((const int16_t *) data)[row];
		case DUCKDB_INTEGER:
		case DUCKDB_DATE:
			return ((const int32_t *) data)[row];
		case DUCKDB_BIGINT:
			return ((const int64_t *) data)[row];
		case DUCKDB_HUGEINT:
			memcpy(&huge, (const char *) data + row * sizeof(huge), sizeof(huge));
			return huge;
		default:
			errx(EXIT_FAILURE, "DuckDB: there is a column of type %d", type);
	}
}

static uint64_t
add_string(uint64_t hash, const DuckdbString *string)
{
	bool		inlined = string->inlined.length <= sizeof(string->inlined.bytes);

	return add_bytes(hash, inlined ? string->inlined.bytes : string->pointer.rest, string->inlined.length);
}

/* Hash a list of INTEGER. */
static uint64_t
add_list(uint64_t hash, void *vector, const DuckdbListEntry *entry)
{
	const int32_t *elements = duckdb.vector_get_data(duckdb.list_vector_get_child(vector));

	hash = add_integer(hash, (int64_t) entry->length);
	for (uint64_t i = 0; i < entry->length; i++)
		hash = add_integer(hash, elements[entry->offset + i]);
	return hash;
}

static uint64_t
add_value(uint64_t hash, void *vector, const void *data, uint64_t row, const Column *column)
{
	if (column->floating)
		return hash;
	switch (column->duckdb)
	{
		case DUCKDB_VARCHAR:
			return add_string(hash, &((const DuckdbString *) data)[row]);
		case DUCKDB_LIST:
			return add_list(hash, vector, &((const DuckdbListEntry *) data)[row]);
		default:
			return add_decimal(hash, (Decimal) {digits_at(data, row, column->duckdb), column->scale});
	}
}

static bool
is_null(const uint64_t *valid, uint64_t row)
{
	return valid && (valid[row / 64] >> row % 64 & 1) == 0;
}

/* Add the values of a column's vector to the hashes of its rows. */
static void
add_vector(uint64_t *hashes, uint64_t rows, void *vector, const Column *column)
{
	const uint64_t *valid = duckdb.vector_get_validity(vector);
	const void *data = duckdb.vector_get_data(vector);
	bool		integers = column->duckdb == DUCKDB_INTEGER && column->scale == 0 && !column->floating;

	for (uint64_t row = 0; row < rows; row++)
		if (is_null(valid, row))
			hashes[row] = add_bytes(hashes[row], "NULL", 4);
		else if (integers)
			hashes[row] = add_integer(hashes[row], ((const int32_t *) data)[row]);
		else
			hashes[row] = add_value(hashes[row], vector, data, row, column);
}

static void
add_floating_vector(Answer *answer, const uint64_t *hashes, uint64_t rows, void *vector, int column)
{
	const uint64_t *valid = duckdb.vector_get_validity(vector);
	const void *data = duckdb.vector_get_data(vector);
	int			type = columns[column].duckdb;

	for (uint64_t row = 0; row < rows; row++)
		if (is_null(valid, row))
			continue;
		else if (type == DUCKDB_DOUBLE)
			add_floating(answer, hashes[row], column, ((const double *) data)[row]);
		else
			add_floating(answer, hashes[row], column,
						 decimal_to_double((Decimal) {digits_at(data, row, type), columns[column].scale}));
}

static void
add_chunk(Answer *answer, void *chunk)
{
	uint64_t	rows = duckdb.data_chunk_get_size(chunk);
	uint64_t   *hashes = calloc(rows + 1, sizeof(uint64_t));

	for (int column = 0; column < n_columns; column++)
		add_vector(hashes, rows, duckdb.data_chunk_get_vector(chunk, (uint64_t) column), &columns[column]);
	for (int column = 0; column < n_columns; column++)
		if (columns[column].floating)
			add_floating_vector(answer, hashes, rows, duckdb.data_chunk_get_vector(chunk, (uint64_t) column), column);
	for (uint64_t row = 0; row < rows; row++)
		add_row(answer, hashes[row]);
	free(hashes);
}

void
prepare_duckdb(void *connection, const char *query)
{
	if (statement)
		duckdb.destroy_prepare(&statement);
	if (duckdb.prepare(connection, query, &statement) != 0)
		errx(EXIT_FAILURE, "DuckDB: %s: %s", query, duckdb.prepare_error(statement));
	describe();
}

void
ask_duckdb(void *connection, Answer *answer)
{
	DuckdbResult result;
	void	   *chunk;

	(void) connection;
	if (duckdb.execute_prepared(statement, &result) != 0)
		errx(EXIT_FAILURE, "DuckDB: %s", duckdb.result_error(&result));
	while ((chunk = duckdb.fetch_chunk(result)) != NULL)
	{
		add_chunk(answer, chunk);
		duckdb.destroy_data_chunk(&chunk);
	}
	duckdb.destroy_result(&result);
}
