/* SPDX-License-Identifier: PostgreSQL */
/*
 * encode.h
 *		Write rows in memory as a segment of the index.
 */
#ifndef RTSCAN_ENCODE_H
#define RTSCAN_ENCODE_H

#include "rtscan.h"

#include "segment/rows.h"
#include "storage/metapage.h"
#include "storage/writing.h"

/*
 * Write a segment of rows, which must be in TID order, at least one and at most RTSCAN_SEGMENT_ROWS.  The segment
 * gets a new id.  Returns what a switch needs to make it part of the index; until then no other process sees the
 * segment.
 */
extern RtscanNewSegment rtscan_write_segment(RtscanWriting *writing, const RtscanRows *rows);

#endif							/* RTSCAN_ENCODE_H */
