/* SPDX-License-Identifier: PostgreSQL */
/*
 * top_groups.c
 *		Leave out groups that cannot be among the first ones in the order of an aggregate.
 */
#include "run/answer/top_groups.h"

#include "lib/pairingheap.h"
#include "run/aggregate/aggregates.h"

/* The number of a group that may be among the first ones; groups with larger numbers come first. */
typedef struct TopNumber
{
	pairingheap_node node;
	int128		number;
} TopNumber;

struct RtscanTopGroups
{
	const RtscanPlanTop *plan;
	int			n;				/* number of elements of the heap, at most plan->groups */
	int			scale;			/* scale of all numbers */
	pairingheap *heap;			/* of TopNumber: the largest numbers so far, the least of them first */
};

/* pairingheap_comparator: the least number is the first. */
static int
compare_numbers(const pairingheap_node *a, const pairingheap_node *b, void *arg)
{
	int128		left = pairingheap_const_container(TopNumber, node, a)->number,
				right = pairingheap_const_container(TopNumber, node, b)->number;

	return left < right ? 1 : left > right ? -1 : 0;
}

RtscanTopGroups *
rtscan_create_top_groups(const RtscanPlanTop *plan)
{
	RtscanTopGroups *top = palloc0(sizeof(RtscanTopGroups));

	top->plan = plan;
	top->heap = pairingheap_allocate(compare_numbers, NULL);
	return top;
}

/* Add a number to the heap; if the heap is full, in place of its least number. */
static void
add_number(RtscanTopGroups *top, int128 number)
{
	TopNumber  *added;

	if (top->n < top->plan->groups)
	{
		added = MemoryContextAlloc(GetMemoryChunkContext(top), sizeof(TopNumber));
		top->n++;
	}
	else
		added = pairingheap_container(TopNumber, node, pairingheap_remove_first(top->heap));
	added->number = number;
	pairingheap_add(top->heap, &added->node);
}

bool
rtscan_may_be_top_group(RtscanTopGroups *top, const RtscanTransition *transitions, const RtscanState *group)
{
	int			aggregate = top->plan->aggregate;
	int128		number,
				least;
	int			scale;

	if (!rtscan_result_as_number(&transitions[aggregate], &group[aggregate], &number, &scale))
		return true;
	if (top->n == 0)
		top->scale = scale;
	if (scale != top->scale)
		return true;
	if (!top->plan->descending)
		number = ~number;
	if (top->n == top->plan->groups)
	{
		least = pairingheap_container(TopNumber, node, pairingheap_first(top->heap))->number;
		if (number <= least)
			return number == least;
	}
	add_number(top, number);
	return true;
}
