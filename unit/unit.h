/* SPDX-License-Identifier: PostgreSQL */
/*
 * unit.h
 *		Functions shared by tests that need no server.
 *
 * Inputs are random; the seed is printed, and RTSCAN_TEST_SEED repeats it.
 */
#ifndef RTSCAN_UNIT_H
#define RTSCAN_UNIT_H

#include "postgres.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Set the seed.  Call it first in main(). */
extern void unit_seed(void);

/* Return a random number of 64 bits. */
extern uint64 unit_random(void);

/* Return a random number in 0 .. n - 1; n > 0. */
extern uint32 unit_below(uint32 n);

/* Return true in one of n cases. */
static inline bool
unit_one_in(uint32 n)
{
	return unit_below(n) == 0;
}

/* Return a random number with a random number of bits, at most that many, so that small numbers are frequent. */
extern uint64 unit_bits(int most);

/*
 * Call a function that may raise an error.  Returns the error's message, or NULL if there was none.  An error
 * that is raised outside of such a call fails the test.
 */
extern const char *unit_error(void (*function) (void *arg), void *arg);

/* Raise an error with a message. */
extern void unit_raise(const char *message) pg_attribute_noreturn();

/* ---- pages.c ---- */

#include "storage/area.h"
#include "segment/segment.h"

/* Return a writer of areas whose pages are in memory.  Frees the pages of the writer before. */
extern RtscanAreaWriter *unit_area_writer(void);

/*
 * Return a reader of a segment with the areas that were written.  The caller sets the segment's header and
 * columns.  Each page that is pinned must be released: unit_pages_at_hand() returns the number of those that
 * are not.
 */
extern RtscanReader unit_reader(RtscanAreaWriter *writer, RtscanSegment *segment);
extern int	unit_pages_at_hand(void);

/* Forget the pages that an error has left unreleased. */
extern void unit_forget_pages(void);

/* Damage a page: change some of its used bytes. */
extern void unit_damage_page(RtscanReader *reader);

#endif							/* RTSCAN_UNIT_H */
