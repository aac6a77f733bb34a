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
 * Write a segment of rows, and give it a new id.  The rows must be in TID order; there must be at least one, and at
 * most RTSCAN_SEGMENT_ROWS.  Values of the rows are replaced while they are written.  Returns what a switch needs to
 * make the segment part of the index.  Until the switch, no other process sees the segment.
 */
extern RtscanNewSegment rtscan_write_segment(RtscanWriting *writing, RtscanRows *rows);

#endif							/* RTSCAN_ENCODE_H */
