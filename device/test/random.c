/* SPDX-License-Identifier: PostgreSQL */
/*
 * random.c
 *		Random numbers for tests, the same ones in each run.
 */
#include "random.h"

uint64_t
random64(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(2685821657736338717);
}
