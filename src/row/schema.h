/*
 * schema.h
 *		The columns of an index, as encoding and queries need them.
 */
#ifndef RTSCAN_SCHEMA_H
#define RTSCAN_SCHEMA_H

#include "rtscan.h"

#include "access/itup.h"
#include "fmgr.h"
#include "row/exact.h"
#include "row/keys.h"

typedef struct RtscanColumn
{
	Oid			collation;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	bool		numeric;
	RtscanExactKind exact;
	bool		exact_sorts;	/* those integers sort as the values do */
	FmgrInfo   *compare;		/* key columns only */
	RtscanKeyKind key_kind;		/* key columns only */
} RtscanColumn;

typedef struct RtscanSchema
{
	TupleDesc	tupdesc;		/* of the index */
	int			nkeys;			/* the first nkeys columns are keys, */
	int			ncolumns;		/* the others INCLUDEd */
	bool		plain;			/* no row can be too large, or have a toasted value */
	RtscanColumn columns[FLEXIBLE_ARRAY_MEMBER];
} RtscanSchema;

/*
 * The largest index tuple.  A pending page would take a little more; but each of its values
 * must fit a page of its own in a segment as well, with that page's header.
 */
#define RTSCAN_MAX_TUPLE_SIZE	(RTSCAN_CHUNK_BYTES - 64)

/* Describe the columns of an index, in the current memory context. */
extern RtscanSchema *rtscan_schema(Relation index);

/* Bytes that a value takes, without alignment. */
extern Size rtscan_value_size(const RtscanColumn *column, Datum value);

/* Bytes of an INCLUDE value that is packed in its own width (include.h); 0 if values of the type cannot be. */
static inline uint32
rtscan_packed_width(const RtscanColumn *column)
{
	if (column->numeric)
		return sizeof(int64);
	return column->typlen > 0 ? (uint32) column->typlen : 0;
}

/* Put a value of so many bytes in a place, aligned as its type needs it. */
extern void rtscan_store_value(const RtscanColumn *column, char *place, Datum value, Size size);

/*
 * Raise the error that comparing a value does, before it is stored: a composite with a column
 * that has no order would otherwise make every later flush fail.  Values must be comparable to
 * themselves; those with keys are.
 */
extern void rtscan_check_comparable(const RtscanSchema *schema, const Datum *values,
									const bool *isnull);

/*
 * Form an index tuple, and check that a pending page takes it.  Raises
 * ERRCODE_PROGRAM_LIMIT_EXCEEDED where it does not.
 */
extern IndexTuple rtscan_form_tuple(Relation index, const RtscanSchema *schema,
									Datum *values, bool *isnull, ItemPointer tid);

/*
 * Take a tuple apart, as index_deform_tuple() does, but trusting nothing: returns false
 * if a value would lie outside of the tuple.
 */
extern bool rtscan_deform_tuple(const RtscanSchema *schema, IndexTuple tuple,
								Datum *values, bool *isnull);

/*
 * The value at a place of a page, bounded by limit: false if it would reach beyond.
 * Its length, without alignment, goes to *size.
 */
extern bool rtscan_fetch_value(const RtscanColumn *column, const char *place,
							   const char *limit, Datum *value, Size *size);

#endif							/* RTSCAN_SCHEMA_H */
