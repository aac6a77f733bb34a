/*
 * measure.h
 *		Ask lookups of a structure, time them, and compare every answer with the host's.
 */
#ifndef RTSCAN_LOOKUPS_MEASURE_H
#define RTSCAN_LOOKUPS_MEASURE_H

#include "ways.h"

/* Lookups of one kind in one column, and their answers. */
typedef struct Questions
{
	Kind		kind;
	uint64_t	width;
	uint32_t	count;
	uint64_t   *lows;
	Answer	   *answers;
} Questions;

/* The first of some questions, at a time. */
typedef struct Batch
{
	const Questions *questions;
	uint32_t	lookups;
	bool		sorted;			/* by the device, beforehand */
	Answer	   *answers;		/* in that order, since it is known */
} Batch;

/* Where lookups and answers lie. */
typedef struct Desk
{
	Workbench  *workbench;
	uint32_t	capacity;		/* lookups */
	uint32_t	repetitions;	/* at most */
	Memory		lows[2];
	Memory		numbers[2];		/* which questions they are, if sorted */
	Memory		scratch;		/* of the sort */
	Memory		counts;
	Memory		sums;
	Memory		host;
} Desk;

typedef struct Times
{
	uint64_t	lookups;		/* median, in nanoseconds, of the device */
	uint64_t	sort;
	uint32_t	wrong;			/* answers */
} Times;

extern void questions_draw(Questions *questions, const Shape *shape, const Kind *kind, uint32_t count);
extern void questions_free(Questions *questions);

/* False: there is no memory for it. */
extern bool desk_open(Desk *desk, Workbench *workbench, uint32_t capacity, uint32_t repetitions);
extern void desk_close(Desk *desk);

extern Times measure(Desk *desk, const Structure *structure, const Programs *programs, Batch *batch);

#endif							/* RTSCAN_LOOKUPS_MEASURE_H */
