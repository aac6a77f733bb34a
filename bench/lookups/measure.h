/* SPDX-License-Identifier: PostgreSQL */
/*
 * measure.h
 *		Run lookups in a structure, time them, and compare every answer with the host's.
 */
#ifndef RTSCAN_LOOKUPS_MEASURE_H
#define RTSCAN_LOOKUPS_MEASURE_H

#include "ways.h"

/* Lookups of one kind in one column, with the expected answers. */
typedef struct Questions
{
	Kind		kind;
	uint64_t	width;
	uint32_t	count;
	uint64_t   *lows;
	Answer	   *answers;
} Questions;

/* A batch: the first of some lookups. */
typedef struct Batch
{
	const Questions *questions;
	uint32_t	lookups;
	bool		sorted;			/* the device sorts them first */
	Answer	   *answers;		/* expected answers in sorted order, once that is known */
} Batch;

/* The memory of lookups and answers. */
typedef struct Desk
{
	Workbench  *workbench;
	uint32_t	capacity;		/* lookups, at most */
	uint32_t	repetitions;	/* at most */
	Memory		lows[2];
	Memory		numbers[2];		/* original indexes of sorted lookups */
	Memory		scratch;		/* memory for the sort */
	Memory		counts;
	Memory		sums;
	Memory		host;
} Desk;

typedef struct Times
{
	uint64_t	lookups;		/* median device time, in nanoseconds */
	uint64_t	sort;			/* device time of sorting the lookups, in nanoseconds */
	uint32_t	wrong;			/* number of wrong answers */
} Times;

extern void questions_draw(Questions *questions, const Shape *shape, const Kind *kind, uint32_t count);
extern void questions_free(Questions *questions);

/* Allocate memory.  Returns false if there is not enough. */
extern bool desk_open(Desk *desk, Workbench *workbench, uint32_t capacity, uint32_t repetitions);
extern void desk_close(Desk *desk);

extern Times measure(Desk *desk, const Structure *structure, const Programs *programs, Batch *batch);

#endif							/* RTSCAN_LOOKUPS_MEASURE_H */
