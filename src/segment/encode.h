/*
 * encode.h
 *		Make rows in memory into a segment of the index.
 */
#ifndef RTSCAN_ENCODE_H
#define RTSCAN_ENCODE_H

#include "rtscan.h"

#include "segment/rows.h"
#include "storage/metapage.h"
#include "storage/writing.h"

/*
 * Write a segment: rows, in TID order, at least one and at most RTSCAN_SEGMENT_ROWS.  It gets
 * a new id.  Returns that by which a switch makes it part of the index; until then nobody sees it.
 */
extern RtscanNewSegment rtscan_write_segment(RtscanWriting *writing, const RtscanRows *rows);

#endif							/* RTSCAN_ENCODE_H */
