/*
 * assist.h
 *		Have devices help to make segments.
 */
#ifndef RTSCAN_DEVICE_ASSIST_H
#define RTSCAN_DEVICE_ASSIST_H

#include "rtscan.h"

/* Be the assistant of whoever makes segments (segment/assistant.h). */
extern void rtscan_init_device_build(void);

#endif							/* RTSCAN_DEVICE_ASSIST_H */
