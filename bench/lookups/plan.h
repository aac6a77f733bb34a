/*
 * plan.h
 *		What is measured: lists of experiments.
 */
#ifndef RTSCAN_LOOKUPS_PLAN_H
#define RTSCAN_LOOKUPS_PLAN_H

#include "data.h"

typedef struct Experiment
{
	Shape		shape;
	Kind		kind;
	uint32_t	log_lookups;
	bool		sorted;			/* the lookups */
	bool		variants;		/* ask ways that are variants, too */
	bool		rays_only;		/* ask only ways that cast rays */
} Experiment;

/* Experiments on one column stand beside each other. */
typedef struct Plan
{
	Experiment *experiments;
	uint32_t	count;
} Plan;

/* As RTIndeX and cgRX were measured. */
extern Plan plan_paper(void);

/* Small columns, so that what is special about keys and their places comes up. */
extern Plan plan_check(void);

extern bool plan_same_column(const Experiment *left, const Experiment *right);

#endif							/* RTSCAN_LOOKUPS_PLAN_H */
