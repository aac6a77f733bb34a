/*
 * report.h
 *		What the device program says, and what time it is.
 */
#ifndef RTSCAN_DEVICE_REPORT_H
#define RTSCAN_DEVICE_REPORT_H

#include <stdint.h>

/* Report to the server's log. */
extern void report(const char *format,...) __attribute__((format(printf, 1, 2)));

/* Report, and end the program: the worker starts it again. */
extern void fail(const char *format,...) __attribute__((format(printf, 1, 2), noreturn));

/* Nanoseconds since some time or other. */
extern uint64_t clock_now(void);

#endif							/* RTSCAN_DEVICE_REPORT_H */
