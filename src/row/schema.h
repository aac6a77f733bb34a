/* SPDX-License-Identifier: PostgreSQL */
/*
 * schema.h
 *		Describe the columns of an index, for encoding and for queries.
 */
#ifndef RTSCAN_SCHEMA_H
#define RTSCAN_SCHEMA_H

#include "rtscan.h"

#include "access/itup.h"
#include "fmgr.h"
#include "row/exact.h"
#include "row/keys.h"

/* A column of an index, key or INCLUDEd. */
typedef struct RtscanColumn
{
	Oid			collation;		/* the index's collation of a key column */
	int16		typlen;			/* length of the type, as in pg_attribute */
	bool		typbyval;		/* passed by value, as in pg_attribute */
	char		typalign;		/* alignment of the type, as in pg_attribute */
	bool		numeric;		/* the type is numeric, or a domain over it */
	RtscanExactKind exact;		/* how values are stored as exact integers (exact.h); NONE if they cannot be */
	bool		exact_sorts;	/* these integers sort as the values do */
	FmgrInfo   *compare;		/* comparison function of the operator class; NULL for an INCLUDE column */
	RtscanKeyKind key_kind;		/* how values are encoded as 64-bit keys (keys.h); NONE for an INCLUDE column */
} RtscanColumn;

/* All columns of an index. */
typedef struct RtscanSchema
{
	TupleDesc	tupdesc;		/* the index's tuple descriptor */
	int			nkeys;			/* number of key columns, which come first */
	int			ncolumns;		/* number of all columns; those behind the keys are INCLUDEd */
	bool		plain;			/* no row can be too large or have a toasted value, since all columns have short
								 * fixed lengths */
	RtscanColumn columns[FLEXIBLE_ARRAY_MEMBER];
} RtscanSchema;

/*
 * The largest index tuple, in bytes.  A page of a pending list would hold a slightly larger one, but in a segment
 * each of its values must fit a page of its own, together with that page's header.
 */
#define RTSCAN_MAX_TUPLE_SIZE	(RTSCAN_CHUNK_BYTES - 64)

/* Describe the columns of an index, in a structure that is allocated in the current memory context. */
extern RtscanSchema *rtscan_schema(Relation index);

/* Return the size of a value in bytes, without alignment. */
extern Size rtscan_value_size(const RtscanColumn *column, Datum value);

/*
 * Return the bytes of an INCLUDE value that is packed in its own width (include.h); 0 if the type's values cannot
 * be packed.
 */
static inline uint32
rtscan_packed_width(const RtscanColumn *column)
{
	if (column->numeric)
		return sizeof(int64);
	return column->typlen > 0 ? (uint32) column->typlen : 0;
}

/* Store a value of "size" bytes at a place, which must have the alignment of the type. */
extern void rtscan_store_value(const RtscanColumn *column, char *place, Datum value, Size size);

/*
 * Compare values to themselves, to raise now any error that comparing them raises: a composite with a column that
 * has no order would otherwise be stored, and make every later flush fail.  Values with keys always compare.
 */
extern void rtscan_check_comparable(const RtscanSchema *schema, const Datum *values,
									const bool *isnull);

/* Form an index tuple.  Raises ERRCODE_PROGRAM_LIMIT_EXCEEDED if a page of a pending list cannot hold it. */
extern IndexTuple rtscan_form_tuple(Relation index, const RtscanSchema *schema,
									Datum *values, bool *isnull, ItemPointer tid);

/*
 * Deform an index tuple as index_deform_tuple() does, but without trusting it: returns false if a value would
 * extend beyond the tuple.
 */
extern bool rtscan_deform_tuple(const RtscanSchema *schema, IndexTuple tuple,
								Datum *values, bool *isnull);

/*
 * Read the value at a place of a page, and in *size its length without alignment.  Returns false if the value would
 * extend beyond limit.
 */
extern bool rtscan_fetch_value(const RtscanColumn *column, const char *place,
							   const char *limit, Datum *value, Size *size);

#endif							/* RTSCAN_SCHEMA_H */
