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
	RtscanExactKind exact;		/* kind of the values' exact integers (exact.h); NONE if there are none */
	bool		exact_sorts;	/* the exact integers sort as the values do */
	FmgrInfo   *compare;		/* comparison function of the operator class; NULL for an INCLUDE column */
	RtscanKeyKind key_kind;		/* kind of the values' 64-bit keys (keys.h); NONE for an INCLUDE column */
} RtscanColumn;

/* All columns of an index. */
typedef struct RtscanSchema
{
	TupleDesc	tupdesc;		/* the index's tuple descriptor */
	int			nkeys;			/* number of key columns, which come first */
	int			ncolumns;		/* number of all columns; INCLUDE columns follow the key columns */

	/*
	 * All types have fixed lengths, and a row has at most RTSCAN_MAX_TUPLE_SIZE bytes.  So no row is too large, and
	 * no value is toasted.
	 */
	bool		plain;
	RtscanColumn columns[FLEXIBLE_ARRAY_MEMBER];
} RtscanSchema;

/*
 * The largest size of an index tuple, in bytes.  A page of a pending list has room for slightly more, but in a
 * segment each value of the tuple must fit on one page, together with the page's header.
 */
#define RTSCAN_MAX_TUPLE_SIZE	(RTSCAN_CHUNK_BYTES - 64)

/* Describe the columns of an index, in a structure that is allocated in the current memory context. */
extern RtscanSchema *rtscan_schema(Relation index);

/* Return the size of a value in bytes, without alignment. */
extern Size rtscan_value_size(const RtscanColumn *column, Datum value);

/*
 * Return the bytes of each value of an INCLUDE column that is packed in its own width (segment/include.h); 0 if
 * values of its type cannot be packed.
 */
static inline uint32
rtscan_packed_width(const RtscanColumn *column)
{
	if (column->numeric)
		return sizeof(int64);
	return column->typlen > 0 ? (uint32) column->typlen : 0;
}

/* Store a value of "size" bytes at "place", which must be aligned as the type requires. */
extern void rtscan_store_value(const RtscanColumn *column, char *place, Datum value, Size size);

/*
 * Compare each value of a key column with itself, to raise any error of its comparison function before the row is
 * stored.  For example, a composite with a column whose type has no order would otherwise make every later flush
 * fail.  Values with 64-bit keys are not compared, since comparing them cannot fail.
 */
extern void rtscan_check_comparable(const RtscanSchema *schema, const Datum *values,
									const bool *isnull);

/* Form an index tuple.  Raises ERRCODE_PROGRAM_LIMIT_EXCEEDED if it is larger than RTSCAN_MAX_TUPLE_SIZE. */
extern IndexTuple rtscan_form_tuple(Relation index, const RtscanSchema *schema,
									Datum *values, bool *isnull, ItemPointer tid);

/*
 * Deform an index tuple as index_deform_tuple() does, but without trusting its content: returns false if a value is
 * invalid, or would extend beyond the tuple.
 */
extern bool rtscan_deform_tuple(const RtscanSchema *schema, IndexTuple tuple,
								Datum *values, bool *isnull);

/*
 * Read the value at "place" on a page, and set *size to its length in bytes, without alignment.  Returns false if the
 * value's header is invalid, or if the value would extend beyond "limit".
 */
extern bool rtscan_fetch_value(const RtscanColumn *column, const char *place,
							   const char *limit, Datum *value, Size *size);

#endif							/* RTSCAN_SCHEMA_H */
