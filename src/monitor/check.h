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

/* The live rows of an index, to be compared with the table's. */
typedef struct RtscanLiveRows
{
	bloom_filter *filter;		/* their fingerprints */
	Tuplesortstate *tids;		/* their TIDs as int8, sorted to find duplicates */
} RtscanLiveRows;


/* Add a live row. */
extern void rtscan_add_live_row(RtscanLiveRows *live, ItemPointer tid, uint64 fingerprint);

/* Maximal number of suspects that are remembered. */
#define RTSCAN_SUSPECTS	1000

/* TIDs of live rows that occur twice, or at which the table has no tuple. */
typedef struct RtscanSuspects
{
	int			n;
	int64		tids[RTSCAN_SUSPECTS];
} RtscanSuspects;

/*
 * Check that no two live rows have the same TID, and that the table has a tuple for each.  Other TIDs are added
 * to the suspects in now; if one was a suspect before, an error is raised.  before may be NULL.  See
 * check_tids.c.
 */
extern void rtscan_check_tids(Relation index, Relation heap, RtscanLiveRows *live, const RtscanSuspects *before,
							  RtscanSuspects *now);

/*
 * Check that all that a segment stores is consistent: TIDs ascend; dictionaries ascend, and looking their values up
 * finds them; codes have the frequencies given by the dictionary's ranks; order is the stable sort by codes; the
 * bits of every sieve vector follow from its boundaries and the codes; the bounds in its directory entry are those
 * of its keys.  Needs about 20 bytes of memory for each row of the segment.
 *
 * Adds the segment's live rows to live, unless that is NULL.
 */
extern void rtscan_check_segment(Relation index, const RtscanSchema *schema,
								 const RtscanEntry *entry, const RtscanKeyBounds *bounds, RtscanLiveRows *live);

/*
 * Hashes the values of a column for fingerprints of rows: rows with equal TIDs and columns have equal fingerprints.
 * INCLUDEd values are hashed by their images (segment/segment.h), except for numerics, which are hashed by value
 * because equal ones can have several images.  A key column is hashed only by its NULLs if its type has no hash
 * function that is consistent with the operator class.
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

/* Check that the chunks of a column have the bounds and the number of NULLs that their frames say. */
extern void rtscan_check_frames(RtscanReader *reader, const RtscanEntry *entry, int column, const RtscanFrames *frames);

/*
 * Check the images of values of a key column that differ from those in its dictionary: their storage as an INCLUDE
 * column; that no row with NULL has an image; and, for the first thousand of them, that they are equal to the values
 * of their rows' codes.
 */
extern void rtscan_check_images(RtscanReader *reader, const RtscanSchema *schema, const RtscanEntry *entry, int column,
								const uint32 *codes);

/*
 * Check an INCLUDE column of a segment: that its values can be read, that chunks have the bounds and the number
 * of NULLs that their frames say, and that a dictionary of integers ascends.  Adds the values to the rows'
 * fingerprints, unless that is NULL.
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
