/* SPDX-License-Identifier: PostgreSQL */
/*
 * program.h
 *		Include the protocol of the device programs, and check that both sides have the same sizes.
 */
#ifndef RTSCAN_DEVICE_PROGRAM_H
#define RTSCAN_DEVICE_PROGRAM_H

#include "rtscan.h"

#include "../device/protocol.h"
#include "../device/table.h"
#include "segment/segment.h"
#include "settings.h"

StaticAssertDecl(DEVICE_CHUNK_BYTES == RTSCAN_CHUNK_BYTES &&
				 DEVICE_SEGMENT_CHUNKS == RTSCAN_SEGMENT_CHUNKS &&
				 DEVICE_PAGE_ZEROS == RTSCAN_PAGE_ZEROS &&
				 DEVICE_PAGE_ONES == RTSCAN_PAGE_ONES &&
				 DEVICE_MAX_COLUMNS >= INDEX_MAX_KEYS &&
				 DEVICE_MAX_BINS >= RTSCAN_MAX_BINS,
				 "the device program has the same chunks, and room for as much");

#endif							/* RTSCAN_DEVICE_PROGRAM_H */
