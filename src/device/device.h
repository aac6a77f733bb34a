/* SPDX-License-Identifier: PostgreSQL */
/*
 * device.h
 *		The device programs, as seen from a backend: are they running, and how to talk to them.
 *
 * There is a program for each device that rtscan.device names; a device's number is its position there.
 * rtscan's background worker (worker.c) keeps the programs running if the library is preloaded.  A backend
 * connects to a program (client.c) when a scan first needs its device.  A segment has its place on one of the
 * devices.  The functions below raise no errors because of a device: the caller learns the reason, and goes on
 * without the device.  The only exception is interrupts, which are handled while waiting.
 *
 * device/protocol.h describes the requests and replies.
 */
#ifndef RTSCAN_DEVICE_H
#define RTSCAN_DEVICE_H

#include "rtscan.h"

#include "device/adaptive_cost.h"
#include "device/client.h"
#include "device/program.h"
#include "device/readiness.h"
#include "device/upload.h"
#include "device/worker.h"

#endif							/* RTSCAN_DEVICE_H */
