/*
 * dictionary_page.h
 *		What the files that read dictionaries share (dictionary.h); nobody else includes it.
 */
#ifndef RTSCAN_DICTIONARY_PAGE_H
#define RTSCAN_DICTIONARY_PAGE_H

#include "rtscan.h"

#include "segment/dictionary.h"

/* A page of a dictionary, checked as far as its own header goes. */
typedef struct RtscanDictionaryView
{
	RtscanReader *reader;
	const RtscanArea *area;
	uint32		number;
	const RtscanColumn *type;
	Buffer		buffer;
	const char *payload;
	Size		used;
	RtscanDictionaryPage page;
	const RtscanDictionaryBlock *blocks;
	const char *ranks;			/* whole: NULL if implicit */
	const char *offsets;
} RtscanDictionaryView;

/* Look at page i of a column's dictionary; false only for a soft reader. */
extern bool rtscan_dictionary_open_page(RtscanDictionaryView *view, RtscanReader *reader, int column, const RtscanColumn *type,
										uint32 i);
extern void rtscan_dictionary_close_page(RtscanDictionaryView *view);

/* The page is damaged: it is closed, and an error is raised unless the reader is soft. */
extern void rtscan_dictionary_fault(RtscanDictionaryView *view, const char *detail);

/*
 * The keys and ranks, if there is an array for them, of the first entries of a block, so many at most, up to the first key that is enough at
 * least; returns how many, 0 if they would lie outside of the page.
 */
extern uint32 rtscan_dictionary_unpack(const RtscanDictionaryView *view, uint32 i, uint32 most, uint64 enough, uint64 *keys, uint32 *ranks);

/* Of a page of whole values: entry i's rank, and its value; false if that would lie outside of the page. */
extern uint32 rtscan_dictionary_rank(const RtscanDictionaryView *view, uint32 i);
extern bool rtscan_dictionary_value(const RtscanDictionaryView *view, uint32 i, Datum *value);

/* Is the first entry of a page before the probe?  Here and below, false: something would lie outside of the page. */
extern bool rtscan_dictionary_first_is_before(const RtscanDictionaryView *view, const RtscanProbe *probe, bool after,
											  bool *before);

/* Entries of the page before the probe, and the rank of the one there; between: NULL, or gets the keys of a packed page beside it. */
extern bool rtscan_dictionary_search_page(const RtscanDictionaryView *view, const RtscanProbe *probe, bool after,
										  uint32 *entries, uint32 *rank, RtscanBetween *between);

/* The block of a packed page that was looked at last; n = 0: none. */
typedef struct RtscanDictionaryBlockView
{
	uint32		number;
	uint32		n;
	uint64		keys[RTSCAN_DICTIONARY_BLOCK];
	uint32		ranks[RTSCAN_DICTIONARY_BLOCK];
} RtscanDictionaryBlockView;

/* Entries of a page that are not above a probe; if there are any, whether the last one equals it, and its ranks. */
typedef struct RtscanFoundEntry
{
	uint32		entries;
	bool		equal;
	uint32		rank;
	uint32		end_rank;		/* where the next entry's begin */
	uint64		key;			/* packed: its key, */
	bool		has_next;		/* and that of the next entry, if that is on the page */
	uint64		next_key;
} RtscanFoundEntry;

/* Look at the page for a probe; of several they ascend. */
extern bool rtscan_dictionary_look_in_page(RtscanDictionaryBlockView *block, const RtscanDictionaryView *view,
										   const RtscanProbe *probe, RtscanFoundEntry *found);

/* dictionary.c: the number of the leaf that a probe's place is on. */
extern bool rtscan_dictionary_descend(RtscanReader *reader, int column, const RtscanProbe *probe, bool after, uint32 *page);

/* Entries of a packed page, one after another. */
typedef struct RtscanEntries
{
	uint32		code;			/* the first one's */
	uint32		n;
	const uint64 *keys;
	const uint32 *ranks;		/* and where the last one's end */
} RtscanEntries;

/* As rtscan_dictionary_visit(), of a column that has keys, many at a time. */
typedef void (*RtscanEntriesVisitor) (const RtscanEntries *entries, void *arg);
extern bool rtscan_dictionary_visit_many(RtscanReader *reader, int column, const RtscanColumn *type, uint32 first, uint32 last,
										 RtscanEntriesVisitor visitor, void *arg);

#endif							/* RTSCAN_DICTIONARY_PAGE_H */
