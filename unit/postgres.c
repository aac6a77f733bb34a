/* SPDX-License-Identifier: PostgreSQL */
/*
 * postgres.c
 *		The functions of a server that rtscan's parts need, for tests without a server.
 *
 * Memory is allocated by malloc(), so that sanitizers see every object; deleting a context frees nothing.  (libpgcommon
 * has the plain palloc().)
 */
#include "unit.h"

#include <stdio.h>
#include <time.h>

#include "access/genam.h"
#include "access/itup.h"
#include "common/fe_memutils.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/memnodes.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

volatile sig_atomic_t InterruptPending = false;
volatile uint32 CritSectionCount = 0;
int			NBuffers = 0;
int			NLocBuffer = PG_INT32_MAX;
int			wal_level = 0;
char	   *BufferBlocks = NULL;
MemoryContext CurrentMemoryContext = NULL;
MemoryContext TopMemoryContext = NULL;

const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}

/* ---------------------------------------------------------------- random numbers */

static uint64 state;

void
unit_seed(void)
{
	const char *seed = getenv("RTSCAN_TEST_SEED");

	state = seed ? strtoull(seed, NULL, 10) : (uint64) time(NULL);
	fprintf(stderr, "RTSCAN_TEST_SEED=%llu\n", (unsigned long long) state);
}

/* Random numbers: splitmix64. */
uint64
unit_random(void)
{
	uint64		z = (state += UINT64CONST(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

uint32
unit_below(uint32 n)
{
	return unit_random() % n;
}

uint64
unit_bits(int most)
{
	int			bits = unit_below(most + 1);

	return bits == 0 ? 0 : unit_random() >> (64 - bits);
}

/* ---------------------------------------------------------------- errors */

static jmp_buf *handler;
static char message[1024];

const char *
unit_error(void (*function) (void *arg), void *arg)
{
	jmp_buf		here;
	const char *error = NULL;

	handler = &here;
	if (setjmp(here) == 0)
		function(arg);
	else
		error = message;
	handler = NULL;
	return error;
}

void
unit_raise(const char *text)
{
	strlcpy(message, text, sizeof(message));
	if (handler)
		longjmp(*handler, 1);
	fprintf(stderr, "unexpected error: %s\n", message);
	abort();
}

bool
errstart(int elevel, const char *domain)
{
	message[0] = '\0';
	return elevel >= ERROR;
}

bool
errstart_cold(int elevel, const char *domain)
{
	return errstart(elevel, domain);
}

void
errfinish(const char *filename, int lineno, const char *funcname)
{
	char		text[sizeof(message)];

	strlcpy(text, message, sizeof(text));
	unit_raise(text);
}

int
errcode(int sqlerrcode)
{
	return 0;
}

static int
keep_message(const char *format, va_list args)
{
	vsnprintf(message, sizeof(message), format, args);
	return 0;
}

int
errmsg(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	keep_message(format, args);
	va_end(args);
	return 0;
}

int
errmsg_internal(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	keep_message(format, args);
	va_end(args);
	return 0;
}

int
errdetail(const char *format,...)
{
	return 0;
}

int
errhint(const char *format,...)
{
	return 0;
}

void
ExceptionalCondition(const char *condition, const char *type, const char *file, int line)
{
	fprintf(stderr, "TRAP: %s(\"%s\"), %s:%d\n", type, condition, file, line);
	abort();
}

void
ProcessInterrupts(void)
{
}

/* The value with the server's default settings. */
size_t
get_hash_memory_limit(void)
{
	return 8 * 1024 * 1024;
}

/* ---------------------------------------------------------------- memory */

void *
MemoryContextAlloc(MemoryContext context, Size size)
{
	return palloc(size);
}

void *
MemoryContextAllocZero(MemoryContext context, Size size)
{
	return palloc0(size);
}

void *
MemoryContextAllocExtended(MemoryContext context, Size size, int flags)
{
	return palloc_extended(size, flags);
}

void *
MemoryContextAllocHuge(MemoryContext context, Size size)
{
	return palloc(size);
}

void *
repalloc_huge(void *pointer, Size size)
{
	return repalloc(pointer, size);
}

MemoryContext
AllocSetContextCreateInternal(MemoryContext parent, const char *name, Size minimum, Size initial, Size maximum)
{
	return NULL;
}

void
MemoryContextDelete(MemoryContext context)
{
}

/* ---------------------------------------------------------------- values and functions */

static Size
value_size(Datum value, int typlen)
{
	return typlen > 0 ? (Size) typlen : VARSIZE_ANY(DatumGetPointer(value));
}

Datum
datumCopy(Datum value, bool typbyval, int typlen)
{
	Size		size;

	if (typbyval)
		return value;
	size = value_size(value, typlen);
	return PointerGetDatum(memcpy(palloc(size), DatumGetPointer(value), size));
}

bool
datum_image_eq(Datum a, Datum b, bool typbyval, int typlen)
{
	Size		size;

	if (typbyval)
		return a == b;
	size = value_size(a, typlen);
	return size == value_size(b, typlen) && memcmp(DatumGetPointer(a), DatumGetPointer(b), size) == 0;
}

struct varlena *
pg_detoast_datum(struct varlena *datum)
{
	return datum;
}

struct varlena *
pg_detoast_datum_packed(struct varlena *datum)
{
	return datum;
}

Datum
DirectFunctionCall1Coll(PGFunction function, Oid collation, Datum arg)
{
	LOCAL_FCINFO(fcinfo, 1);

	InitFunctionCallInfoData(*fcinfo, NULL, 1, collation, NULL, NULL);
	fcinfo->args[0] = (NullableDatum) {arg, false};
	return function(fcinfo);
}

Datum
DirectFunctionCall3Coll(PGFunction function, Oid collation, Datum a, Datum b, Datum c)
{
	LOCAL_FCINFO(fcinfo, 3);

	InitFunctionCallInfoData(*fcinfo, NULL, 3, collation, NULL, NULL);
	fcinfo->args[0] = (NullableDatum) {a, false};
	fcinfo->args[1] = (NullableDatum) {b, false};
	fcinfo->args[2] = (NullableDatum) {c, false};
	return function(fcinfo);
}

Datum
FunctionCall2Coll(FmgrInfo *function, Oid collation, Datum a, Datum b)
{
	LOCAL_FCINFO(fcinfo, 2);

	InitFunctionCallInfoData(*fcinfo, function, 2, collation, NULL, NULL);
	fcinfo->args[0] = (NullableDatum) {a, false};
	fcinfo->args[1] = (NullableDatum) {b, false};
	return function->fn_addr(fcinfo);
}

/* ---------------------------------------------------------------- functions that no test calls */

Oid
getBaseType(Oid type)
{
	unit_raise("there is no catalog");
}

FmgrInfo *
index_getprocinfo(Relation index, AttrNumber column, uint16 proc)
{
	unit_raise("there is no catalog");
}

IndexTuple
index_form_tuple(TupleDesc descriptor, Datum *values, bool *isnull)
{
	unit_raise("there are no index tuples");
}
