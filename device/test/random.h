/* SPDX-License-Identifier: PostgreSQL */
/*
 * random.h
 *		Random numbers for tests, the same ones in each run.
 */
#ifndef RTSCAN_DEVICE_TEST_RANDOM_H
#define RTSCAN_DEVICE_TEST_RANDOM_H

#include <stdint.h>

/* Return a random number of 64 bits (xorshift64*). */
extern uint64_t random64(void);

#endif							/* RTSCAN_DEVICE_TEST_RANDOM_H */
