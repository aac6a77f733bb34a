/*
 * flush.h
 *		Make the pending list into segments.
 *
 * Two switches.  The first seals the open list: inserters go on in a new one, and scans
 * read both.  When the segments are written, the second replaces the sealed list by them.
 * A flush that was cut short leaves a sealed list; the next one finishes that first.
 */
#ifndef RTSCAN_FLUSH_H
#define RTSCAN_FLUSH_H

#include "rtscan.h"

/* Flush the sealed list, if there is one, and the list that is open now.  Needs the flush lock. */
extern void rtscan_flush(Relation index);

#endif							/* RTSCAN_FLUSH_H */
