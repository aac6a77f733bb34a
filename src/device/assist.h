/* SPDX-License-Identifier: PostgreSQL */
/*
 * assist.h
 *		Let devices help to build segments.
 */
#ifndef RTSCAN_DEVICE_ASSIST_H
#define RTSCAN_DEVICE_ASSIST_H

#include "rtscan.h"

/* Install the functions of this room as the hooks of code that writes segments (segment/device_hooks.h). */
extern void rtscan_init_device_build(void);

#endif							/* RTSCAN_DEVICE_ASSIST_H */
