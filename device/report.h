/* SPDX-License-Identifier: PostgreSQL */
/*
 * report.h
 *		Write the device program's messages, and read the clock.
 */
#ifndef RTSCAN_DEVICE_REPORT_H
#define RTSCAN_DEVICE_REPORT_H

#include <stdint.h>

/* Write a message to the server's log. */
extern void report(const char *format,...) __attribute__((format(printf, 1, 2)));

/* Write a message to the server's log and end the program; the background worker starts it again. */
extern void fail(const char *format,...) __attribute__((format(printf, 1, 2), noreturn));

/* Return a monotonic time in nanoseconds. */
extern uint64_t clock_now(void);

#endif							/* RTSCAN_DEVICE_REPORT_H */
