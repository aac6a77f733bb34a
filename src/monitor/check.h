/*
 * check.h
 *		Prove the structure of an index, or raise an error at the first fault.
 */
#ifndef RTSCAN_CHECK_H
#define RTSCAN_CHECK_H

#include "rtscan.h"

#include "lib/bloomfilter.h"
#include "row/schema.h"
#include "segment/segment.h"
#include "storage/metapage.h"
#include "utils/tuplesort.h"

/* Where the live rows of the index go, to be compared with the table's. */
typedef struct RtscanLiveRows
{
	bloom_filter *filter;		/* their fingerprints */
	Tuplesortstate *tids;		/* as int8: none may be there twice */
} RtscanLiveRows;

extern void rtscan_add_live_row(RtscanLiveRows *live, ItemPointer tid, uint64 fingerprint);

/* TIDs of live rows that are there twice, or without a tuple; so many are remembered. */
#define RTSCAN_SUSPECTS	1000

typedef struct RtscanSuspects
{
	int			n;
	int64		tids[RTSCAN_SUSPECTS];
} RtscanSuspects;

/*
 * Check that no two of the live rows have the same TID, and that the table has a tuple for
 * each.  Others are suspects; an error if they have been before (NULL: there was no before).
 */
extern void rtscan_check_tids(Relation index, Relation heap, RtscanLiveRows *live, const RtscanSuspects *before,
							  RtscanSuspects *now);

/*
 * Check all that a segment stores against each other: TIDs ascend; dictionaries ascend, and
 * lookups find what they hold; codes have the frequencies that the dictionary's ranks say;
 * order is the stable sort by codes; every page of bits is what boundaries and codes make of
 * it; the directory's bounds of the entry are those of its keys.  Memory: about 20 bytes a row of the segment.
 *
 * Adds the live rows to where they go, unless that is NULL.
 */
extern void rtscan_check_segment(Relation index, const RtscanSchema *schema,
								 const RtscanEntry *entry, const RtscanKeyBounds *bounds, RtscanLiveRows *live);

/*
 * Fingerprints: rows whose TIDs and columns are equal have equal ones.  INCLUDEd values count by
 * their images (numerics by their values, for they may have several images).  A key column whose
 * type has no hash function that goes with the operator class's equality counts by its NULLs only.
 */
typedef struct RtscanHasher
{
	Oid			collation;
	RtscanKeyKind key_kind;
	FmgrInfo   *hash;			/* extended hash function; NULL: none */
	bool		by_image;
	bool		typbyval;
	int16		typlen;
} RtscanHasher;

/* Check that chunks of a column have the bounds and NULLs that their frames say. */
extern void rtscan_check_frames(RtscanReader *reader, const RtscanEntry *entry, int column, const RtscanFrames *frames);

/*
 * Check the images of a key column that look other than its dictionary's: as an INCLUDE column; that they are of rows that are not NULL;
 * and of a thousand of them that they equal the values of the rows' codes.
 */
extern void rtscan_check_images(RtscanReader *reader, const RtscanSchema *schema, const RtscanEntry *entry, int column,
								const uint32 *codes);

/*
 * Check an INCLUDE column of a segment: that its values can be read, that chunks have the bounds and NULLs that their frames say, and that a
 * dictionary of integers ascends.  Adds the values to the rows' fingerprints, unless those are NULL.
 */
extern void rtscan_check_include(RtscanReader *reader, const RtscanSchema *schema, const RtscanEntry *entry, int column,
								 uint64 *fingerprints, const RtscanHasher *hasher);

extern RtscanHasher *rtscan_hashers(Relation index, const RtscanSchema *schema);
extern uint64 rtscan_hash_value(const RtscanHasher *hasher, Datum value);
extern uint64 rtscan_hash_start(ItemPointer tid);
extern uint64 rtscan_hash_add(uint64 fingerprint, bool isnull, uint64 value_hash);

#endif							/* RTSCAN_CHECK_H */
