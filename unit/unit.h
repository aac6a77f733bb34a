/*
 * unit.h
 *		What tests without a server share.
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

/* Call it first in main(). */
extern void unit_seed(void);

extern uint64 unit_random(void);

/* 0 .. n - 1; n > 0 */
extern uint32 unit_below(uint32 n);

/* True in one of n cases. */
static inline bool
unit_one_in(uint32 n)
{
	return unit_below(n) == 0;
}

/* Small ones often: of a random number of bits, up to so many. */
extern uint64 unit_bits(int most);

/*
 * Call a function that may raise an error.  Returns the error's message, or NULL if there was none; an
 * error that is raised elsewhere fails the test.
 */
extern const char *unit_error(void (*function) (void *arg), void *arg);

/* Raise an error with a message. */
extern void unit_raise(const char *message) pg_attribute_noreturn();

/* ---- pages.c ---- */

#include "storage/area.h"
#include "segment/segment.h"

/* A writer of areas whose pages are in memory.  The pages of the one before are gone. */
extern RtscanAreaWriter *unit_area_writer(void);

/*
 * After that: a reader of a segment that has what was written.  The caller sets the segment's header and columns.
 * Pages must be released as often as they are got: unit_pages_at_hand() says how many are not.
 */
extern RtscanReader unit_reader(RtscanAreaWriter *writer, RtscanSegment *segment);
extern int	unit_pages_at_hand(void);

/* After an error nobody releases pages. */
extern void unit_forget_pages(void);

/* Damage a page: some bytes of what is used of it. */
extern void unit_damage_page(RtscanReader *reader);

#endif							/* RTSCAN_UNIT_H */
