/* SPDX-License-Identifier: PostgreSQL */
/*
 * dictionary.h
 *		The sorted distinct values of a segment's key column; for a plain column (plain.h), some of them.
 *
 * A dictionary is a static search tree.  An entry of a leaf is a value and its first rank; its position among all
 * leaf entries is the value's code.  An entry of an inner page is the first value of a page one level below, and
 * the first code of the leaves under that page; its position in its level is the number of that page.  So a lookup,
 * by value or by code, reads one page in each level:
 *
 *	level 1			│ 1 (code 0) │ 40 (code 3) │
 *						 │				  └──────────────────────┐
 *	level 0			│ 1 (rank 0) │ 7 (rank 2) │ 9 (rank 3) │  │ 40 (rank 4) │ ...
 *
 * The area has the pages of level 0, then those of level 1, and so on.  The top level is one page, unless values
 * are so large that a level above would hardly be smaller; then its pages are searched by their first values.
 *
 * A page begins with RtscanDictionaryPage (dictionary_format.h).  If values have 64-bit keys, the page is packed: it
 * consists of blocks of RTSCAN_DICTIONARY_BLOCK entries.  A block has the key and rank of its first entry, and the
 * gaps to the next ones, minus one, in as few bits as the largest gap of the block needs:
 *
 *	│ header │ RtscanDictionaryBlock[blocks] │ gaps of keys, gaps of ranks │ ... │
 *
 * Otherwise a page has whole values, aligned, in a form that needs no recheck:
 *
 *	│ header │ values │ uint32 ranks[entries], unless all gaps are one │ uint16 offsets[entries] │
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

/* Add the next value: its key if the column has keys, else its Datum.  rank is its first rank. */
extern void rtscan_dictionary_add(RtscanDictionaryWriter *writer, uint64 value, uint32 rank);

/* Write the rest, and set distinct, levels, level_pages and dictionary of the header. */
extern void rtscan_dictionary_end(RtscanDictionaryWriter *writer, uint32 nonnull,
								  RtscanColumnHeader *header);

/* Write the dictionary of a plain column (plain.h). */
extern void rtscan_write_sparse_dictionary(RtscanAreaWriter *areas, const RtscanColumn *type,
										   const struct RtscanSortedColumn *column, RtscanColumnHeader *header);

/* ---------------------------------------------------------------- reading */

/* Find the place of a probe.  Returns false only for a soft reader. */
extern bool rtscan_dictionary_find(RtscanReader *reader, int column, const RtscanProbe *probe,
								   bool after, RtscanPosition *position);

/*
 * Take a step towards a value with a key that is going to be looked up in a plain column (plain.h) of several
 * segments, and prefetch what the next step needs, so that the memory accesses of all segments overlap.  Take each
 * step for all segments before the next step.  Results are noted in fingers; rtscan_dictionary_find() uses them, or
 * looks the value up again.
 */
extern void rtscan_dictionary_approach(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
									   RtscanApproachStep step);

/* Find the place of a probe with "after", from its place without it. */
extern bool rtscan_dictionary_find_behind(RtscanReader *reader, int column, const RtscanProbe *probe,
										  const RtscanPosition *place, RtscanPosition *behind);

/*
 * Look up many values, as a merge with the dictionary.  Calls the visitor for those that the dictionary has.
 * Returns false only for a soft reader.
 */
extern bool rtscan_dictionary_find_all(RtscanReader *reader, int column, const RtscanProbes *probes,
									   RtscanFoundVisitor visitor, void *arg);

/* Visit the values with codes from "first" up to "last", exclusively.  Returns false only for a soft reader. */
extern bool rtscan_dictionary_visit(RtscanReader *reader, int column, const RtscanColumn *type,
									uint32 first, uint32 last,
									RtscanDictionaryVisitor visitor, void *arg);

/*
 * Visit the values with the ranks that the visitor wants, and some others.  The visitor keeps the next rank that it
 * wants in *wanted, which must never descend.
 */
extern bool rtscan_dictionary_visit_ranks(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first,
										  uint32 last, const uint32 *wanted,
										  RtscanDictionaryVisitor visitor, void *arg);

/* Visit values without their ranks. */
extern bool rtscan_dictionary_visit_values(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first,
										   uint32 last, RtscanValuesVisitor visitor, void *arg);

/* Return the code of the value at a rank, which must not be NULL's. */
extern uint32 rtscan_code_at_rank(RtscanReader *reader, int column, const RtscanColumn *type, uint32 rank);

#endif							/* RTSCAN_DICTIONARY_H */
