/* SPDX-License-Identifier: PostgreSQL */
/*
 * member_codes.c
 *		Find the codes of a key column whose values are in a set of exact integers.
 */
#include "segment/member_codes.h"

#include "row/keys.h"
#include "segment/dictionary.h"

#define BLOCK	RTSCAN_DICTIONARY_BLOCK

/* The codes whose values are in a set. */
typedef struct MemberCodes
{
	const RtscanMembers *members;	/* the set */
	uint64	   *words;			/* a bit for each code */
} MemberCodes;

/*
 * Set those bits of "words" that are set in "bits".  The lowest bit of "bits" belongs to bit "place" of "words", which
 * need not be the first bit of a word.
 */
static inline void
set_from(uint64 *words, uint32 place, uint64 bits)
{
	words[place / 64] |= bits << place % 64;
	if (place % 64 > 0)
		words[place / 64 + 1] |= bits >> (64 - place % 64);
}

/* RtscanValuesVisitor.  Sets the bits of codes whose keys are in the set. */
static void
add_keys(uint32 code, uint32 n, const uint64 *keys, void *arg)
{
	const MemberCodes *codes = (const MemberCodes *) arg;
	int64		integers[BLOCK] = {0};
	uint64		are[BLOCK / 64];

	for (uint32 i = 0; i < n; i++)
		integers[i] = rtscan_integer_of_key(keys[i]);
	rtscan_find_members(codes->members, integers, n, are);
	for (uint32 i = 0; i < n; i += 64)
		set_from(codes->words, code + i, are[i / 64]);
}

uint64 *
rtscan_member_codes(const RtscanMembers *members, RtscanReader *reader, int column, const RtscanColumn *type)
{
	uint32		distinct = reader->segment->columns[column].header.distinct;
	uint64	   *words = palloc0((distinct / 64 + 2) * sizeof(uint64));

	rtscan_dictionary_visit_values(reader, column, type, 0, distinct, add_keys, &(MemberCodes) {members, words});
	if (rtscan_members_have_null(members))
		set_from(words, distinct, 1);
	return words;
}
