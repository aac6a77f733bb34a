/*
 * rows.c
 *		How long do queries take that want rows, from PostgreSQL and from DuckDB, until a client has read them all?
 *
 *	rows LIBDUCKDB CSV DEFINITION REPETITIONS <queries
 *
 * PostgreSQL is where libpq's environment says; DuckDB, one thread, is loaded from a library, and gets the table w from a file.
 * A line of input is a name, a tab and a query for both.  Each is prepared; the first run of each says what its answer is, in
 * binary, and these must be the same set of rows; then they run in turn, so many times, and medians are written:
 *
 *	name <tab> rows <tab> PostgreSQL's milliseconds <tab> DuckDB's
 *
 * DuckDB's C API is declared here as far as it is used, for its packages come without the header.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <endian.h>
#include <err.h>
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_REPETITIONS	1000

/* ---------------------------------------------------------------- answers */

/* A set of rows, whatever their order. */
typedef struct Answer
{
	uint64_t	rows;
	uint64_t	sum;			/* of the rows' hashes */
} Answer;

static uint64_t
add_bytes(uint64_t hash, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char) bytes[i]) * UINT64_C(0x100000001B3);
	return hash ^ hash >> 29;
}

static uint64_t
add_integer(uint64_t hash, int64_t value)
{
	hash = (hash ^ (uint64_t) value) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 32;
}

static void
add_row(Answer *answer, uint64_t hash)
{
	answer->rows++;
	answer->sum += hash;
}

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec * 1e3 + (double) time.tv_nsec / 1e6;
}

/* ---------------------------------------------------------------- PostgreSQL */

#define INT4OID		23
#define INT8OID		20

static PGconn *server;

static PGresult *
check_result(PGresult *result)
{
	if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
		errx(EXIT_FAILURE, "PostgreSQL: %s", PQerrorMessage(server));
	return result;
}

static uint64_t
add_server_value(uint64_t hash, const PGresult *result, int row, int column)
{
	const char *value = PQgetvalue(result, row, column);
	uint32_t	four;
	uint64_t	eight;

	if (PQgetisnull(result, row, column))
		return add_bytes(hash, "NULL", 4);
	switch (PQftype(result, column))
	{
		case INT4OID:
			memcpy(&four, value, sizeof(four));
			return add_integer(hash, (int32_t) be32toh(four));
		case INT8OID:
			memcpy(&eight, value, sizeof(eight));
			return add_integer(hash, (int64_t) be64toh(eight));
		default:
			return add_bytes(hash, value, (size_t) PQgetlength(result, row, column));
	}
}

static void
prepare_server(const char *query)
{
	PQclear(check_result(PQexec(server, "DEALLOCATE ALL")));
	PQclear(check_result(PQprepare(server, "q", query, 0, NULL)));
}

static double
run_server(Answer *answer)
{
	double		start = now();
	PGresult   *result = check_result(PQexecPrepared(server, "q", 0, NULL, NULL, NULL, 1));
	double		end;
	int			columns = PQnfields(result);

	*answer = (Answer) {0, 0};
	for (int row = 0; row < PQntuples(result); row++)
	{
		uint64_t	hash = 0;

		for (int column = 0; column < columns; column++)
			hash = add_server_value(hash, result, row, column);
		add_row(answer, hash);
	}
	PQclear(result);
	end = now();
	return end - start;
}

/* ---------------------------------------------------------------- DuckDB */

enum { DUCKDB_INTEGER = 4, DUCKDB_BIGINT = 5, DUCKDB_VARCHAR = 17 };

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
	uint64_t	(*column_count) (DuckdbResult *);
	int			(*column_type) (DuckdbResult *, uint64_t);
	void	   *(*fetch_chunk) (DuckdbResult);
	void		(*destroy_data_chunk) (void **);
	uint64_t	(*data_chunk_get_size) (void *);
	void	   *(*data_chunk_get_vector) (void *, uint64_t);
	void	   *(*vector_get_data) (void *);
	uint64_t   *(*vector_get_validity) (void *);
}			duckdb;

static void *connection;
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
load_duckdb(const char *path)
{
	void	   *library = dlopen(path, RTLD_NOW);
	void	   *database;

	if (library == NULL)
		errx(EXIT_FAILURE, "%s", dlerror());
	FIND(open), FIND(connect), FIND(query), FIND(prepare), FIND(prepare_error), FIND(destroy_prepare);
	FIND(execute_prepared), FIND(result_error), FIND(destroy_result), FIND(column_count), FIND(column_type);
	FIND(fetch_chunk), FIND(destroy_data_chunk), FIND(data_chunk_get_size), FIND(data_chunk_get_vector);
	FIND(vector_get_data), FIND(vector_get_validity);
	if (duckdb.open(NULL, &database) != 0 || duckdb.connect(database, &connection) != 0)
		errx(EXIT_FAILURE, "could not open DuckDB");
}

static void
query_duckdb(const char *sql)
{
	DuckdbResult result;

	if (duckdb.query(connection, sql, &result) != 0)
		errx(EXIT_FAILURE, "DuckDB: %s: %s", sql, duckdb.result_error(&result));
	duckdb.destroy_result(&result);
}

static void
prepare_duckdb(const char *query)
{
	if (statement)
		duckdb.destroy_prepare(&statement);
	if (duckdb.prepare(connection, query, &statement) != 0)
		errx(EXIT_FAILURE, "DuckDB: %s: %s", query, duckdb.prepare_error(statement));
}

/* Add a column's values of a chunk to the hashes of its rows. */
static void
add_vector(uint64_t *hashes, uint64_t rows, void *vector, int type)
{
	const uint64_t *valid = duckdb.vector_get_validity(vector);
	const void *data = duckdb.vector_get_data(vector);

	for (uint64_t row = 0; row < rows; row++)
		if (valid && (valid[row / 64] >> row % 64 & 1) == 0)
			hashes[row] = add_bytes(hashes[row], "NULL", 4);
		else if (type == DUCKDB_INTEGER)
			hashes[row] = add_integer(hashes[row], ((const int32_t *) data)[row]);
		else if (type == DUCKDB_BIGINT)
			hashes[row] = add_integer(hashes[row], ((const int64_t *) data)[row]);
		else if (type == DUCKDB_VARCHAR)
		{
			const DuckdbString *string = &((const DuckdbString *) data)[row];
			bool		inlined = string->inlined.length <= sizeof(string->inlined.bytes);

			hashes[row] = add_bytes(hashes[row], inlined ? string->inlined.bytes : string->pointer.rest, string->inlined.length);
		}
		else
			errx(EXIT_FAILURE, "DuckDB: there is a column of type %d", type);
}

static void
add_chunk(Answer *answer, DuckdbResult *result, void *chunk)
{
	uint64_t	rows = duckdb.data_chunk_get_size(chunk);
	uint64_t   *hashes = calloc(rows + 1, sizeof(uint64_t));

	for (uint64_t column = 0; column < duckdb.column_count(result); column++)
		add_vector(hashes, rows, duckdb.data_chunk_get_vector(chunk, column), duckdb.column_type(result, column));
	for (uint64_t row = 0; row < rows; row++)
		add_row(answer, hashes[row]);
	free(hashes);
}

static double
run_duckdb(Answer *answer)
{
	double		start = now();
	DuckdbResult result;
	void	   *chunk;

	*answer = (Answer) {0, 0};
	if (duckdb.execute_prepared(statement, &result) != 0)
		errx(EXIT_FAILURE, "DuckDB: %s", duckdb.result_error(&result));
	while ((chunk = duckdb.fetch_chunk(result)) != NULL)
	{
		add_chunk(answer, &result, chunk);
		duckdb.destroy_data_chunk(&chunk);
	}
	duckdb.destroy_result(&result);
	return now() - start;
}

/* ---------------------------------------------------------------- measuring */

static int
compare_times(const void *a, const void *b)
{
	double		left = *(const double *) a,
				right = *(const double *) b;

	return (left > right) - (left < right);
}

static double
median(double *times, int n)
{
	qsort(times, (size_t) n, sizeof(double), compare_times);
	return (times[(n - 1) / 2] + times[n / 2]) / 2;
}

static void
compare(const char *name, const char *query, int repetitions)
{
	double		server_times[MAX_REPETITIONS],
				duckdb_times[MAX_REPETITIONS];
	Answer		expected,
				answer;

	prepare_server(query);
	prepare_duckdb(query);
	run_duckdb(&expected);
	run_server(&answer);
	if (answer.rows != expected.rows || answer.sum != expected.sum)
		errx(EXIT_FAILURE, "%s: PostgreSQL has %lu rows, DuckDB %lu, and they are not the same", name,
			 (unsigned long) answer.rows, (unsigned long) expected.rows);
	for (int i = 0; i < repetitions; i++)
	{
		server_times[i] = run_server(&answer);
		duckdb_times[i] = run_duckdb(&expected);
	}
	printf("%s\t%lu\t%.3f\t%.3f\n", name, (unsigned long) answer.rows, median(server_times, repetitions),
		   median(duckdb_times, repetitions));
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	char		line[65536];
	char	   *copy;
	int			repetitions;

	if (argc != 5 || (repetitions = atoi(argv[4])) < 1 || repetitions > MAX_REPETITIONS)
		errx(EXIT_FAILURE, "usage: rows LIBDUCKDB CSV DEFINITION REPETITIONS <queries");
	server = PQconnectdb("");
	if (PQstatus(server) != CONNECTION_OK)
		errx(EXIT_FAILURE, "PostgreSQL: %s", PQerrorMessage(server));
	load_duckdb(argv[1]);
	query_duckdb("SET threads = 1");
	if (asprintf(&copy, "CREATE TABLE w (%s)", argv[3]) < 0)
		err(EXIT_FAILURE, "asprintf");
	query_duckdb(copy);
	free(copy);
	if (asprintf(&copy, "COPY w FROM '%s' (FORMAT csv, HEADER false)", argv[2]) < 0)
		err(EXIT_FAILURE, "asprintf");
	query_duckdb(copy);
	free(copy);
	while (fgets(line, sizeof(line), stdin))
	{
		char	   *tab = strchr(line, '\t');

		if (tab == NULL)
			errx(EXIT_FAILURE, "a line without a tab: %s", line);
		*tab = '\0';
		tab[1 + strcspn(tab + 1, "\n")] = '\0';
		compare(line, tab + 1, repetitions);
	}
	return EXIT_SUCCESS;
}
