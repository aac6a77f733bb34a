/* SPDX-License-Identifier: PostgreSQL */
/*
 * check.h
 *		Check the structure of an index; an error is raised at the first fault.
 */
#ifndef RTSCAN_CHECK_H
#define RTSCAN_CHECK_H

#include "rtscan.h"

#include "lib/bloomfilter.h"
#include "row/schema.h"
#include "segment/segment.h"
#include "storage/metapage.h"
#include "utils/tuplesort.h"

/* The live rows of an index, to be compared with the rows of its table. */
typedef struct RtscanLiveRows
{
	bloom_filter *filter;		/* fingerprints of the rows */
	Tuplesortstate *tids;		/* TIDs of the rows as int8, sorted to find duplicates */
} RtscanLiveRows;


/* Add a live row. */
extern void rtscan_add_live_row(RtscanLiveRows *live, ItemPointer tid, uint64 fingerprint);

/* Maximal number of suspects that are remembered. */
#define RTSCAN_SUSPECTS	1000

/* TIDs that two live rows have, or TIDs of live rows at which the table has no tuple. */
typedef struct RtscanSuspects
{
	int			n;
	int64		tids[RTSCAN_SUSPECTS];
} RtscanSuspects;

/*
 * Check that no two live rows have the same TID, and that the table, if it is a heap, has a tuple at the TID of each
 * live row.  A TID that fails one of these checks is added to the suspects in "now", while there is room; an error is
 * raised if the TID is also among the suspects in "before".  "before" may be NULL.  See check_tids.c.
 */
extern void rtscan_check_tids(Relation index, Relation heap, RtscanLiveRows *live, const RtscanSuspects *before,
							  RtscanSuspects *now);

/*
 * Check that the content of a segment is consistent.  TIDs ascend.  The values of a dictionary ascend, and look-ups of
 * about a thousand of them find their codes.  Codes have the frequencies that follow from the dictionary's ranks.  The
 * order is the stable sort by codes.  The bits of each sieve vector follow from the boundaries and the codes.  The
 * bounds in the directory entry are the least and greatest keys of the segment.  Needs about 20 bytes of memory for
 * each row of the segment.
 *
 * Adds the segment's live rows to "live", unless "live" is NULL.
 */
extern void rtscan_check_segment(Relation index, const RtscanSchema *schema,
								 const RtscanEntry *entry, const RtscanKeyBounds *bounds, RtscanLiveRows *live);

/*
 * Hashes the values of a column for fingerprints of rows: rows with equal TIDs and equal values in all columns have
 * equal fingerprints.  INCLUDEd values are hashed by their images (segment/segment.h).  INCLUDEd numerics are an
 * exception: they are hashed by value because equal numerics can have several images.  If the type of a key column has
 * no hash function that is consistent with the operator class, the hash only tells NULLs from other values.
 */
typedef struct RtscanHasher
{
	Oid			collation;
	RtscanKeyKind key_kind;
	FmgrInfo   *hash;			/* extended hash function of the type; NULL: none */
	bool		by_image;		/* is the image hashed? */
	bool		typbyval;
	int16		typlen;
} RtscanHasher;

/* Check that each chunk of a column has the bounds and the number of NULLs that are stored in its frame. */
extern void rtscan_check_frames(RtscanReader *reader, const RtscanEntry *entry, int column, const RtscanFrames *frames);

/*
 * Check the images that a key column stores for rows whose image differs from the dictionary's.  Checks the areas of
 * these images like those of an INCLUDE column.  Also checks that no row with NULL has an image, and that the first
 * thousand images are equal to the values of their rows' codes.
 */
extern void rtscan_check_images(RtscanReader *reader, const RtscanSchema *schema, const RtscanEntry *entry, int column,
								const uint32 *codes);

/*
 * Check an INCLUDE column of a segment: that its values can be read, that chunks have the bounds and the number of
 * NULLs that their frames say, and that a dictionary of integers ascends.  Adds the values to the fingerprints of the
 * rows, unless "fingerprints" is NULL.
 */
extern void rtscan_check_include(RtscanReader *reader, const RtscanSchema *schema, const RtscanEntry *entry, int column,
								 uint64 *fingerprints, const RtscanHasher *hasher);

/* Make hashers for all columns, in the current memory context. */
extern RtscanHasher *rtscan_hashers(Relation index, const RtscanSchema *schema);

/* Hash a value that is not NULL. */
extern uint64 rtscan_hash_value(const RtscanHasher *hasher, Datum value);

/* Begin the fingerprint of a row with its TID. */
extern uint64 rtscan_hash_start(ItemPointer tid);

/* Add a column's value to the fingerprint of a row. */
extern uint64 rtscan_hash_add(uint64 fingerprint, bool isnull, uint64 value_hash);

#endif							/* RTSCAN_CHECK_H */
