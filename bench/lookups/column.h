/* SPDX-License-Identifier: PostgreSQL */
/*
 * column.h
 *		A column of keys on the device, and its entries, which are rows or distinct sorted keys.
 */
#ifndef RTSCAN_LOOKUPS_COLUMN_H
#define RTSCAN_LOOKUPS_COLUMN_H

#include "../../device/sort.h"
#include "data.h"
#include "programs.h"

/* State that all measurements share. */
typedef struct Workbench
{
	Context		context;
	Sorter		sorter;
	Programs	programs[2];	/* for 32-bit keys, and for 64-bit keys */
} Workbench;

typedef struct Column
{
	Shape		shape;
	Memory		keys;			/* the keys of the rows */
	uint32_t	distinct;
	Memory		sorted_keys;	/* distinct keys */
	Memory		firsts;			/* the first row of each distinct key; none if each key has one row */
	Memory		rows;			/* rows of the distinct keys */
	uint64_t	nanoseconds;	/* device time of sorting and compressing */
} Column;

static inline const Programs *
column_programs(const Workbench *workbench, const Column *column)
{
	return &workbench->programs[column->shape.key_bits == 64];
}

/* Read a word of device memory. */
extern uint32_t workbench_read(Workbench *workbench, const Memory *memory, uint64_t offset);

/* Make a column.  Returns false if there is no memory for it. */
extern bool column_make(Column *column, Workbench *workbench, const Shape *shape);

extern void column_free(Column *column, Workbench *workbench);

#endif							/* RTSCAN_LOOKUPS_COLUMN_H */
