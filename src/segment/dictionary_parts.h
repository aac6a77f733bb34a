/* SPDX-License-Identifier: PostgreSQL */
/*
 * dictionary_parts.h
 *		Types and functions that dictionary.c, dictionary_page.c and dictionary_find_all.c share.  No other file
 *		includes this one.
 */
#ifndef RTSCAN_DICTIONARY_PARTS_H
#define RTSCAN_DICTIONARY_PARTS_H

#include "rtscan.h"

#include "segment/dictionary.h"

/* A page of a dictionary whose header has been checked. */
typedef struct RtscanDictionaryView
{
	RtscanReader *reader;		/* the reader */
	const RtscanArea *area;		/* area of the dictionary */
	uint32		number;			/* number of the page in the area */
	const RtscanColumn *type;	/* the column */
	Buffer		buffer;			/* buffer that has the page */
	const char *payload;		/* payload of the page */
	Size		used;			/* bytes of the payload that are used */
	RtscanDictionaryPage page;	/* a copy of the page's header */
	const RtscanDictionaryBlock *blocks;	/* packed: headers of the blocks */
	const char *ranks;			/* whole values: ranks; NULL if they are implicit */
	const char *offsets;		/* whole values: offsets of the values in the payload */
} RtscanDictionaryView;

/* Open page i of a column's dictionary.  Returns false only for a soft reader. */
extern bool rtscan_dictionary_open_page(RtscanDictionaryView *view, RtscanReader *reader, int column,
										const RtscanColumn *type, uint32 i);

/* Close a page. */
extern void rtscan_dictionary_close_page(RtscanDictionaryView *view);

/* Close a page that is damaged.  Raises an error unless the reader is soft. */
extern void rtscan_dictionary_fault(RtscanDictionaryView *view, const char *detail);

/*
 * Unpack the first entries of block i, at most "most" of them.  Entries behind the first one whose key is at least
 * "limit" may be left out.  "ranks" may be NULL.  Returns the number of unpacked entries; 0 if the block would extend
 * beyond the page.
 */
extern uint32 rtscan_dictionary_unpack(const RtscanDictionaryView *view, uint32 i, uint32 most, uint64 limit,
									   uint64 *keys, uint32 *ranks);

/* Return the rank of entry i of a page of whole values. */
extern uint32 rtscan_dictionary_rank(const RtscanDictionaryView *view, uint32 i);

/* Read the value of entry i of a page of whole values; returns false if it would extend beyond the page. */
extern bool rtscan_dictionary_value(const RtscanDictionaryView *view, uint32 i, Datum *value);

/*
 * Set *before to whether the first entry of a page is before the place of a probe.  Returns false if the entry would
 * extend beyond the page.
 */
extern bool rtscan_dictionary_first_is_before(const RtscanDictionaryView *view, const RtscanProbe *probe, bool after,
											  bool *before);

/*
 * Find the place of a probe on a page.  Sets *entries to the number of entries before the place, and *rank to the rank
 * of the entry at the place.  On a packed page, sets *between to the entries beside the place; "between" may be NULL.
 * Returns false if an entry would extend beyond the page.
 */
extern bool rtscan_dictionary_search_page(const RtscanDictionaryView *view, const RtscanProbe *probe, bool after,
										  uint32 *entries, uint32 *rank, RtscanBetween *between);

/* A block of a packed page, unpacked: the block that was searched last. */
typedef struct RtscanDictionaryBlockView
{
	uint32		number;			/* number of the block */
	uint32		n;				/* number of entries; 0: no block is unpacked */
	uint64		keys[RTSCAN_DICTIONARY_BLOCK];	/* keys of the entries */
	uint32		ranks[RTSCAN_DICTIONARY_BLOCK]; /* ranks of the entries */
} RtscanDictionaryBlockView;

/* The result of looking up a probe on a page.  The found entry is the last one that is not above the probe. */
typedef struct RtscanFoundEntry
{
	uint32		entries;		/* number of entries that are not above the probe; 0: no entry is found, and the
								 * following members are not set */
	bool		equal;			/* the found entry equals the probe */
	uint32		rank;			/* first rank of the found entry */
	uint32		end_rank;		/* first rank of the entry behind the found one */
	uint64		key;			/* packed: key of the found entry */
	bool		has_next;		/* packed: next_key is set, since the entry behind the found one is on the page */
	uint64		next_key;		/* packed: key of the entry behind the found one */
} RtscanFoundEntry;

/*
 * Look up a probe on a page.  Probes that are looked up with the same *block must ascend.  Returns false if an entry
 * would extend beyond the page.
 */
extern bool rtscan_dictionary_look_in_page(RtscanDictionaryBlockView *block, const RtscanDictionaryView *view,
										   const RtscanProbe *probe, RtscanFoundEntry *found);

/* Find the leaf that has a probe's place (dictionary.c).  Returns false only for a soft reader. */
extern bool rtscan_dictionary_descend(RtscanReader *reader, int column, const RtscanProbe *probe, bool after,
									  uint32 *page);

/* Visit the values of a column that has keys, as rtscan_dictionary_visit() does, but many entries at a time. */
extern bool rtscan_dictionary_visit_many(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first,
										 uint32 last, RtscanDictionaryEntriesVisitor visitor, void *arg);

#endif							/* RTSCAN_DICTIONARY_PARTS_H */
