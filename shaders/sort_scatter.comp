// SPDX-License-Identifier: PostgreSQL
/*
 * sort_scatter.comp
 *		The third step of a sort's pass: move the pairs to their positions.
 *
 * A workgroup first sorts its block in shared memory, so that neighbouring threads write neighbouring pairs as
 * far as their digits are equal.
 *
 * A key's rank in its block is the number of keys with a lower digit, plus the number of keys before it with the
 * same digit.  To find the second number, at each turn each thread of a team sets its bit in a mask of its key's
 * digit.  The bits below its own bit are the keys before its key at this turn; keys of earlier turns have been counted.
 * No subgroup operations are needed.  Turns alternate between two sets of masks, which saves half of the barriers.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sort.glsl"

/*
 * The same memory is used for three purposes, one after another:
 *	ranking		masks [2][TEAMS][SORT_DIGITS], earlier [TEAMS][SORT_DIGITS]
 *	keys		low halves [SORT_BLOCK], high halves [SORT_BLOCK]
 *	values		[SORT_BLOCK]
 */
#define EARLIER	(2 * TEAMS * SORT_DIGITS)
#define HIGH	SORT_BLOCK

shared uint32_t words[max(2 * SORT_BLOCK, 3 * TEAMS * SORT_DIGITS)];

/* For each digit, the difference between a key's position among all keys and its rank in the block. */
shared uint32_t bases[SORT_DIGITS];

/*
 * This thread's keys and their ranks.  A rank is first the key's rank among the team's keys with the same digit.
 * rank_in_block() turns it into the key's rank in the block.
 */
uint64_t	keys[SORT_KEYS];
uint32_t	ranks[SORT_KEYS];

void
clear_words()
{
	for (uint32_t i = gl_LocalInvocationIndex; i < 3 * TEAMS * SORT_DIGITS; i += SORT_GROUP)
		words[i] = 0;
	barrier();
}

void
load_keys()
{
	[[unroll]] for (uint32_t turn = 0; turn < SORT_KEYS; turn++)
		keys[turn] = key_number(turn) < pass.n ? Keys(pass.keys).at[key_number(turn)] : 0;
}

uint32_t
team_digit(uint32_t turn)
{
	return gl_LocalInvocationIndex / TEAM * SORT_DIGITS + key_digit(keys[turn]);
}

void
rank_in_team()
{
	uint32_t	lane = gl_LocalInvocationIndex % TEAM;

	[[unroll]] for (uint32_t turn = 0; turn < SORT_KEYS; turn++)
	{
		bool		exists = key_number(turn) < pass.n;
		uint32_t	mask = turn % 2 * TEAMS * SORT_DIGITS + team_digit(turn);
		uint32_t	earlier = EARLIER + team_digit(turn);

		if (exists)
			atomicOr(words[mask], 1u << lane);
		barrier();
		uint32_t	peers = words[mask];

		ranks[turn] = words[earlier] + bitCount(peers & ((1u << lane) - 1));
		barrier();
		/* The last thread with this digit adds the turn's keys to the count, and clears the mask. */
		if (exists && peers >> lane == 1)
		{
			words[earlier] = ranks[turn] + 1;
			words[mask] = 0;
		}
	}
	barrier();
}

/*
 * Find where each team's keys of a digit begin in the block, and where the block's keys of the digit begin among all
 * keys.  Each thread handles a digit.
 */
void
locate_digits()
{
	uint32_t	digit = gl_LocalInvocationIndex;
	uint32_t	count = 0;

	for (uint32_t team = 0; team < TEAMS; team++)
		count += words[EARLIER + team * SORT_DIGITS + digit];

	uint32_t	start = sum_before(count);
	uint32_t	all_start = sum_before(Words(pass.totals).at[digit]);

	bases[digit] = all_start + Words(pass.counts).at[digit * pass.blocks + gl_WorkGroupID.x] - start;
	for (uint32_t team = 0; team < TEAMS; team++)
	{
		uint32_t	place = EARLIER + team * SORT_DIGITS + digit;

		count = words[place];
		words[place] = start;
		start += count;
	}
	barrier();
}

void
rank_in_block()
{
	[[unroll]] for (uint32_t turn = 0; turn < SORT_KEYS; turn++)
		ranks[turn] += words[EARLIER + team_digit(turn)];
	barrier();
}

/* Move the keys by way of shared memory.  Stores the positions of the moved keys in "places", for move_values(). */
void
move_keys(uint32_t count, out uint32_t places[SORT_KEYS])
{
	[[unroll]] for (uint32_t turn = 0; turn < SORT_KEYS; turn++)
		if (key_number(turn) < pass.n)
		{
			words[ranks[turn]] = uint32_t(keys[turn]);
			words[HIGH + ranks[turn]] = uint32_t(keys[turn] >> 32);
		}
	barrier();
	[[unroll]] for (uint32_t turn = 0; turn < SORT_KEYS; turn++)
	{
		uint32_t	rank = turn * SORT_GROUP + gl_LocalInvocationIndex;

		if (rank < count)
		{
			uint64_t	key = uint64_t(words[HIGH + rank]) << 32 | words[rank];

			places[turn] = bases[key_digit(key)] + rank;
			Keys(pass.sorted_keys).at[places[turn]] = key;
		}
	}
	barrier();
}

void
move_values(uint32_t count, uint32_t places[SORT_KEYS])
{
	[[unroll]] for (uint32_t turn = 0; turn < SORT_KEYS; turn++)
		if (key_number(turn) < pass.n)
			words[ranks[turn]] = pass.values == 0 ? key_number(turn) : Words(pass.values).at[key_number(turn)];
	barrier();
	[[unroll]] for (uint32_t turn = 0; turn < SORT_KEYS; turn++)
	{
		uint32_t	rank = turn * SORT_GROUP + gl_LocalInvocationIndex;

		if (rank < count)
			Words(pass.sorted_values).at[places[turn]] = words[rank];
	}
}

void
main()
{
	uint32_t	count = min(pass.n - gl_WorkGroupID.x * SORT_BLOCK, SORT_BLOCK);
	uint32_t	places[SORT_KEYS];

	load_keys();
	clear_words();
	rank_in_team();
	locate_digits();
	rank_in_block();
	move_keys(count, places);
	move_values(count, places);
}
