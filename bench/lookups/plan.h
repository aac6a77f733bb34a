/* SPDX-License-Identifier: PostgreSQL */
/*
 * plan.h
 *		Lists of experiments.
 */
#ifndef RTSCAN_LOOKUPS_PLAN_H
#define RTSCAN_LOOKUPS_PLAN_H

#include "data.h"

typedef struct Experiment
{
	Shape		shape;
	Kind		kind;
	uint32_t	log_lookups;
	bool		sorted;			/* the lookups are sorted */
	bool		variants;		/* include ways that are variants */
	bool		rays_only;		/* include only ways that trace rays */
} Experiment;

/* Experiments on the same column are next to each other. */
typedef struct Plan
{
	Experiment *experiments;
	uint32_t	count;
} Plan;

/* Return the experiments of the papers on RTIndeX and cgRX. */
extern Plan plan_paper(void);

/* Return experiments on small columns, with special keys and places. */
extern Plan plan_check(void);

extern bool plan_same_column(const Experiment *left, const Experiment *right);

#endif							/* RTSCAN_LOOKUPS_PLAN_H */
