/* SPDX-License-Identifier: PostgreSQL */
/*
 * dictionary_find_all.c
 *		Look up many values in a dictionary together.
 *
 * The values ascend, as the entries of the dictionary do.  If the values have keys, if the column is not plain
 * (plain.h), and if there is at least one value for every VALUES_A_LOOKUP entries, the values are merged with all
 * entries from the first value to the last one.  Otherwise the values are looked up one by one; each lookup begins on
 * the leaf where the value before was looked up.
 */
#include "segment/dictionary_parts.h"

#include "miscadmin.h"
#include "segment/plain.h"

#define BLOCK	RTSCAN_DICTIONARY_BLOCK

/* Number of entries that a merge visits in about the time of one lookup. */
#define VALUES_A_LOOKUP	6

/* ---------------------------------------------------------------- one by one */

/* The leaf on which probes are looked up. */
typedef struct Leaf
{
	int			column;			/* number of the column */
	bool		open;			/* a leaf is open, in "view" */
	RtscanDictionaryView view;	/* the open leaf */
	RtscanDictionaryBlockView block;	/* block of the open leaf that was searched last */
} Leaf;

static void
close_leaf(Leaf *leaf)
{
	if (leaf->open)
		rtscan_dictionary_close_page(&leaf->view);
	leaf->open = false;
}

/*
 * Open the leaf that has a probe's place.  Closes the open leaf first: on a standby open pages are locked, so only one
 * leaf may be open at a time.
 */
static bool
open_leaf(Leaf *leaf, RtscanReader *reader, const RtscanProbe *probe)
{
	uint32		page;

	close_leaf(leaf);
	CHECK_FOR_INTERRUPTS();
	if (!rtscan_dictionary_descend(reader, leaf->column, probe, true, &page))
		return false;
	leaf->block.n = leaf->block.number = 0;
	leaf->open = rtscan_dictionary_open_page(&leaf->view, reader, leaf->column, probe->column, page);
	return leaf->open;
}

/* Look up a probe on the open leaf.  If the leaf is damaged, closes it and returns false. */
static bool
look_in_leaf(Leaf *leaf, const RtscanColumnHeader *header, const RtscanProbe *probe, RtscanFoundEntry *found)
{
	if (rtscan_dictionary_look_in_page(&leaf->block, &leaf->view, probe, found) &&
		(found->entries == 0 || (found->rank < found->end_rank && found->end_rank <= header->nonnull &&
								 (uint64) leaf->view.page.first_code + found->entries <= header->distinct)))
		return true;
	leaf->open = false;
	rtscan_dictionary_fault(&leaf->view, "The entries of a dictionary page contradict each other.");
	return false;
}

/* If an entry equals the probe, must this entry be on a leaf behind the open one? */
static bool
is_beyond(const Leaf *leaf, const RtscanFoundEntry *found)
{
	return found->entries == leaf->view.page.entries && !found->equal &&
		leaf->view.number + 1 < leaf->view.reader->segment->columns[leaf->column].header.level_pages[0];
}

/*
 * Look up a probe on the open leaf.  If no leaf is open, or the probe's place may be behind the open leaf, opens the
 * leaf that has the place, and looks the probe up there.
 */
static bool
find_next(Leaf *leaf, RtscanReader *reader, const RtscanProbe *probe, RtscanFoundEntry *found)
{
	const RtscanColumnHeader *header = &reader->segment->columns[leaf->column].header;

	if (leaf->open && !look_in_leaf(leaf, header, probe, found))
		return false;
	if (leaf->open && !is_beyond(leaf, found))
		return true;
	return open_leaf(leaf, reader, probe) && look_in_leaf(leaf, header, probe, found);
}

/*
 * Look up all probes in the sparse dictionary of a plain column.  Sets candidates[] to the probes that may be in the
 * column, and *n to the number of these probes.  rtscan_plain_find_all() then finds out which of them are in the
 * column.
 */
static bool
find_candidates(RtscanReader *reader, int column, const RtscanProbes *probes, RtscanCandidate *candidates, int *n)
{
	Leaf		leaf = {.column = column};

	*n = 0;
	for (int i = 0; i < probes->n; i++)
	{
		RtscanProbe probe = rtscan_probe_of(probes, i);
		RtscanFoundEntry found;

		if (!find_next(&leaf, reader, &probe, &found))
			return false;
		if (found.entries > 0)
			candidates[(*n)++] = (RtscanCandidate) {
				.probe = i,
				.equal = found.equal,
				.has_next = found.has_next,
				.first = found.rank,
				.end = found.end_rank,
				.key = found.key,
				.next_key = found.next_key,
			};
	}
	close_leaf(&leaf);
	return true;
}

static bool
find_all_plain(RtscanReader *reader, int column, const RtscanProbes *probes, RtscanFoundVisitor visitor, void *arg)
{
	RtscanCandidate *candidates = palloc_extended(Max(probes->n, 1) * sizeof(RtscanCandidate), MCXT_ALLOC_HUGE);
	int			n;
	bool		sound = find_candidates(reader, column, probes, candidates, &n) &&
		rtscan_plain_find_all(reader, column, probes, candidates, n, visitor, arg);

	pfree(candidates);
	return sound;
}

/* ---------------------------------------------------------------- merging */

/* Keys are close if neighboring keys differ by less than this on average. */
#define CLOSE_KEYS		8

/* The least number of probes for which Merge.by_distance is made. */
#define MANY_KEYS		1024

/* The most probes for each entry of the dictionary with which making Merge.by_distance is worth while. */
#define FEW_KEYS_AN_ENTRY	4

/* The content of Merge.by_distance at distances that no probe has. */
#define NO_PROBE		PG_UINT32_MAX

/* Probes that are merged with a dictionary. */
typedef struct Merge
{
	const RtscanProbes *probes; /* the probes */
	uint32		next;			/* number of the next probe */
	uint32	   *by_distance;	/* for close keys: number of the probe at each distance from the first key, or
								 * NO_PROBE; behind "reach", one NO_PROBE more; NULL: match_keys() is used */
	uint64		reach;			/* distance of the last key from the first one */
	RtscanFoundVisitor visitor; /* called for values that are found */
	void	   *arg;			/* argument of the visitor */
} Merge;

/* A probe and an entry that are equal. */
typedef struct Match
{
	uint32		probe;			/* number of the probe */
	uint32		entry;			/* number of the entry */
} Match;

/*
 * Find the next matches, at most BLOCK, from entry *entry on.  Sets *entry to the entry from which to find further
 * matches.  The loop has no branch for which of two keys is less, since the processor could not predict such a branch.
 */
static uint32
match_keys(Merge *merge, const RtscanDictionaryEntries *entries, uint32 *entry, Match *matches)
{
	const uint64 *probes = merge->probes->keys;
	uint32		nprobes = merge->probes->n;
	uint32		next = merge->next,
				at = *entry,
				n = 0;

	while (n < BLOCK && next < nprobes && at < entries->n)
	{
		uint64		probe = probes[next],
					key = entries->keys[at];

		matches[n] = (Match) {next, at};
		n += probe == key;
		next += probe <= key;
		at += probe > key;
	}
	merge->next = next;
	*entry = at;
	return n;
}

/*
 * Find the next matches of close keys by Merge.by_distance, as match_keys() does.  In a damaged dictionary keys may
 * repeat; even then each probe matches only once.
 */
static uint32
match_close_keys(Merge *merge, const RtscanDictionaryEntries *entries, uint32 *entry, Match *matches)
{
	uint64		first = merge->probes->keys[0];
	uint32		next = merge->next,
				at = *entry,
				n = 0;

	for (; at < entries->n && n < BLOCK; at++)
	{
		uint32		probe = merge->by_distance[Min(entries->keys[at] - first, merge->reach + 1)];
		bool		equal = probe != NO_PROBE && probe >= next;

		matches[n] = (Match) {probe, at};
		n += equal;
		next = equal ? probe + 1 : next;
	}
	merge->next = next;
	*entry = at;
	return n;
}

/* RtscanDictionaryEntriesVisitor.  Merges entries with the probes. */
static void
merge_entries(const RtscanDictionaryEntries *entries, void *arg)
{
	Merge	   *merge = (Merge *) arg;
	Match		matches[BLOCK];
	RtscanFound found[BLOCK];
	uint32		entry = 0,
				n;

	do
	{
		n = merge->by_distance ? match_close_keys(merge, entries, &entry, matches)
			: match_keys(merge, entries, &entry, matches);
		for (uint32 i = 0; i < n; i++)
		{
			uint32		k = matches[i].entry;

			found[i] = (RtscanFound) {
				.value = matches[i].probe,
				.place = {entries->code + k, entries->ranks[k]},
				.behind = {entries->code + k + 1, entries->ranks[k + 1]},
			};
		}
		if (n > 0)
			merge->visitor(found, n, merge->arg);
	} while (n == BLOCK);
}

/* Return the distance of the last key from the first one. */
static uint64
reach_of(const RtscanProbes *probes)
{
	return probes->keys[probes->n - 1] - probes->keys[0];
}

/*
 * Should Merge.by_distance be made?  It should if the probes are many, close and all different, if the entries are not
 * too few for the array to be worth while, and if the array fits into hash_mem.
 */
static bool
want_distances(const RtscanProbes *probes, uint32 entries)
{
	const uint64 *keys = probes->keys;
	uint32		n = probes->n;
	uint64		reach = reach_of(probes);
	bool		differ = true;

	if (n < MANY_KEYS || entries < n / FEW_KEYS_AN_ENTRY || reach / CLOSE_KEYS >= n ||
		reach >= get_hash_memory_limit() / sizeof(uint32))
		return false;
	for (uint32 i = 1; i < n; i++)
		differ &= keys[i] != keys[i - 1];
	return differ;
}

/* Make Merge.by_distance. */
static void
take_distances(Merge *merge)
{
	const uint64 *keys = merge->probes->keys;
	uint32		n = merge->probes->n;

	merge->reach = reach_of(merge->probes);
	merge->by_distance = palloc_extended((merge->reach + 2) * sizeof(uint32), MCXT_ALLOC_HUGE);
	memset(merge->by_distance, 0xff, (merge->reach + 2) * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		merge->by_distance[keys[i] - keys[0]] = i;
	}
}

/* Merge the probes with all entries from the place of the first probe to that of the last probe. */
static bool
merge_all(RtscanReader *reader, int column, const RtscanProbes *probes, RtscanFoundVisitor visitor, void *arg)
{
	Merge		merge = {.probes = probes, .visitor = visitor, .arg = arg};
	RtscanProbe first = rtscan_probe_of(probes, 0),
				last = rtscan_probe_of(probes, probes->n - 1);
	RtscanPosition from,
				to;
	bool		sound;

	if (!rtscan_dictionary_find(reader, column, &first, false, &from) ||
		!rtscan_dictionary_find(reader, column, &last, true, &to))
		return false;
	if (from.code >= to.code)
		return true;
	if (want_distances(probes, to.code - from.code))
		take_distances(&merge);
	sound = rtscan_dictionary_visit_many(reader, column, probes->column, from.code, to.code, merge_entries, &merge);
	if (merge.by_distance)
		pfree(merge.by_distance);
	return sound;
}

/* ---------------------------------------------------------------- choosing a way */

bool
rtscan_dictionary_find_all(RtscanReader *reader, int column, const RtscanProbes *probes, RtscanFoundVisitor visitor,
						   void *arg)
{
	const RtscanColumnHeader *header = &reader->segment->columns[column].header;
	Leaf		leaf = {.column = column};

	if (header->levels == 0 || probes->n == 0)
		return true;
	if (rtscan_is_plain(header))
		return find_all_plain(reader, column, probes, visitor, arg);
	if (probes->keys && (uint32) probes->n >= header->distinct / VALUES_A_LOOKUP)
		return merge_all(reader, column, probes, visitor, arg);
	for (int i = 0; i < probes->n; i++)
	{
		RtscanProbe probe = rtscan_probe_of(probes, i);
		RtscanFoundEntry found;

		if (!find_next(&leaf, reader, &probe, &found))
			return false;
		if (found.equal)
		{
			uint32		code = leaf.view.page.first_code + found.entries - 1;

			visitor(&(RtscanFound) {.value = i, .place = {code, found.rank}, .behind = {code + 1, found.end_rank}}, 1,
					arg);
		}
	}
	close_leaf(&leaf);
	return true;
}
