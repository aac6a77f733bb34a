/* SPDX-License-Identifier: PostgreSQL */
/*
 * dictionary.h
 *		The sorted distinct values of a segment's key column; for a plain column (plain.h), some of them.
 *
 * A dictionary is a static search tree.  An entry of a leaf is a value and its first rank.  The position of the entry
 * among all entries of leaves is the value's code.  An entry of an inner page refers to a page one level below: the
 * entry has the first value of that page, and the first code of the leaves below that page.  Entry n of a level refers
 * to page n of the level below.  A lookup, by value or by code, reads one page in each level:
 *
 *	level 1			│ 1 (code 0) │ 40 (code 3) │
 *						 │				  └──────────────────────┐
 *	level 0			│ 1 (rank 0) │ 7 (rank 2) │ 9 (rank 3) │  │ 40 (rank 4) │ ...
 *
 * The area has the pages of level 0, then the pages of level 1, and so on.  The top level is one page.  However, if
 * values are so large that a further level would have hardly fewer pages, the top level has several pages, which are
 * searched by their first values.
 *
 * A page begins with RtscanDictionaryPage (dictionary_format.h).  If values have 64-bit keys, the page is packed: it
 * consists of blocks of RTSCAN_DICTIONARY_BLOCK entries.  A block has the key and rank of its first entry.  For each
 * further entry it has gaps: the differences, minus one, of the entry's key and rank from the key and rank of the
 * entry before.  All gaps of keys in a block have as many bits as the largest of them needs, and so do all gaps of
 * ranks:
 *
 *	│ header │ RtscanDictionaryBlock[blocks] │ gaps of keys, gaps of ranks │ ... │
 *
 * If values have no keys, a page has whole values, each aligned as its type requires:
 *
 *	│ header │ values │ uint32 ranks[entries], unless each value has one rank │ uint16 offsets[entries] │
 */
#ifndef RTSCAN_DICTIONARY_H
#define RTSCAN_DICTIONARY_H

#include "rtscan.h"

#include "row/schema.h"
#include "segment/dictionary_format.h"
#include "segment/probe.h"
#include "segment/segment.h"
#include "storage/area.h"

struct RtscanSortedColumn;

/* ---------------------------------------------------------------- writing */

/* A dictionary that is being written. */
typedef struct RtscanDictionaryWriter RtscanDictionaryWriter;

/* Begin to write a dictionary. */
extern RtscanDictionaryWriter *rtscan_dictionary_writer(RtscanAreaWriter *areas,
														const RtscanColumn *column);

/* Add the next value, in ascending order: its key if the column has keys, else its Datum.  "rank" is its first rank. */
extern void rtscan_dictionary_add(RtscanDictionaryWriter *writer, uint64 value, uint32 rank);

/*
 * Write the remaining pages, free the writer, and set distinct, levels, level_pages and dictionary of the header.
 * "nonnull" is the number of rows that are not NULL.
 */
extern void rtscan_dictionary_end(RtscanDictionaryWriter *writer, uint32 nonnull,
								  RtscanColumnHeader *header);

/* Write the dictionary of a plain column (plain.h). */
extern void rtscan_write_sparse_dictionary(RtscanAreaWriter *areas, const struct RtscanSortedColumn *column,
										   RtscanColumnHeader *header);

/* ---------------------------------------------------------------- reading */

/* Find the place of a probe (RtscanProbe), with or without "after".  Returns false only for a soft reader. */
extern bool rtscan_dictionary_find(RtscanReader *reader, int column, const RtscanProbe *probe,
								   bool after, RtscanPosition *position);

/*
 * Take a step towards a value that will be looked up in a plain column (plain.h) of several segments.  Each step
 * prefetches what the next step needs.  Take each step for all segments before the next step, so that the memory
 * accesses of all segments overlap.  The results are kept in fingers (RtscanFinger).  rtscan_dictionary_find() uses
 * them, or looks the value up again if they are missing.  The value must have a key.
 */
extern void rtscan_dictionary_approach(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
									   RtscanApproachStep step);

/*
 * Find the place of a probe with "after" (*behind), from its place without "after" (*place).  Returns false only for a
 * soft reader.
 */
extern bool rtscan_dictionary_find_behind(RtscanReader *reader, int column, const RtscanProbe *probe,
										  const RtscanPosition *place, RtscanPosition *behind);

/*
 * Look up many ascending values together.  Calls the visitor for the values that the column has.  Returns false only
 * for a soft reader.
 */
extern bool rtscan_dictionary_find_all(RtscanReader *reader, int column, const RtscanProbes *probes,
									   RtscanFoundVisitor visitor, void *arg);

/* Visit the values with codes from "first" up to "last", exclusively.  Returns false only for a soft reader. */
extern bool rtscan_dictionary_visit(RtscanReader *reader, int column, const RtscanColumn *type,
									uint32 first, uint32 last,
									RtscanDictionaryVisitor visitor, void *arg);

/*
 * Visit values as rtscan_dictionary_visit() does, but many entries at a time, and skip blocks that end before the rank
 * *wanted.  The visitor sets *wanted to the next rank that it needs; *wanted must never descend.  Values that it does
 * not need may be visited, too.
 */
extern bool rtscan_dictionary_visit_ranks(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first,
										  uint32 last, const uint32 *wanted,
										  RtscanDictionaryEntriesVisitor visitor, void *arg);

/* Visit values as rtscan_dictionary_visit() does, but without their ranks. */
extern bool rtscan_dictionary_visit_values(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first,
										   uint32 last, RtscanValuesVisitor visitor, void *arg);

/* Return the code of the value at a rank, which must be less than the number of rows that are not NULL. */
extern uint32 rtscan_code_at_rank(RtscanReader *reader, int column, const RtscanColumn *type, uint32 rank);

#endif							/* RTSCAN_DICTIONARY_H */
