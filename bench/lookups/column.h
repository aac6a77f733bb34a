/*
 * column.h
 *		A column of keys on the device, and its entries: a row each, or a distinct key each, sorted.
 */
#ifndef RTSCAN_LOOKUPS_COLUMN_H
#define RTSCAN_LOOKUPS_COLUMN_H

#include "../../device/sort.h"
#include "data.h"
#include "programs.h"

/* What all need. */
typedef struct Workbench
{
	Context		context;
	Sorter		sorter;
	Programs	programs[2];	/* for keys of 32 bits, and of 64 */
} Workbench;

typedef struct Column
{
	Shape		shape;
	Memory		keys;			/* of the rows */
	uint32_t	distinct;
	Memory		sorted_keys;	/* distinct ones, */
	Memory		firsts;			/* where their rows begin; none if each has one row, */
	Memory		rows;			/* and their rows */
	uint64_t	nanoseconds;	/* that sorting and compressing took */
} Column;

static inline const Programs *
column_programs(const Workbench *workbench, const Column *column)
{
	return &workbench->programs[column->shape.key_bits == 64];
}

/* Read a word of device memory. */
extern uint32_t workbench_read(Workbench *workbench, const Memory *memory, uint64_t offset);

/* Make a column; false: there is no memory for it. */
extern bool column_make(Column *column, Workbench *workbench, const Shape *shape);

extern void column_free(Column *column, Workbench *workbench);

#endif							/* RTSCAN_LOOKUPS_COLUMN_H */
