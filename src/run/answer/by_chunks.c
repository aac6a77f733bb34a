/* SPDX-License-Identifier: PostgreSQL */
/*
 * by_chunks.c
 *		Compute aggregates without GROUP BY from whole chunks.
 */
#include "run/answer/by_chunks.h"

#include "segment/totals.h"

/* If fewer than one in DENSE rows of a chunk match, adding them one by one is faster than reading the whole chunk. */
#define DENSE	12

/* The argument of an aggregate in a chunk of the current segment. */
typedef struct Argument
{
	RtscanValues *values;		/* the column's values; NULL: the aggregate has no argument, and counts rows */
	const RtscanFrame *frame;	/* the frame of the chunk; NULL: the column cannot be aggregated by chunks */
	int			scale;			/* scale of numerics */
	RtscanTotalKind kind;		/* the kind of total that the aggregate needs */
} Argument;

/* Can an aggregate be computed from totals of a column, or from the number of rows? */
static bool
takes_total(const RtscanRowAggregate *aggregate, const RtscanTransition *transition)
{
	return aggregate->filter.state == NULL && rtscan_total_kind(transition) != RTSCAN_NO_TOTAL &&
		(aggregate->narguments == 0 || (aggregate->narguments == 1 && aggregate->columns[0] >= 0));
}

bool
rtscan_takes_chunks(const RtscanRowsAnswer *answer)
{
	bool		takes = answer->current.groups == NULL && answer->task->quals.state == NULL &&
		answer->batch->attributes == NULL;

	for (int i = 0; i < answer->task->naggregates && takes; i++)
		takes = takes_total(&answer->task->aggregates[i], &answer->current.transitions[i]);
	return takes;
}

static Argument
find_argument(const RtscanRowsAnswer *answer, int number, uint32 chunk)
{
	const RtscanTransition *transition = &answer->current.transitions[number];
	const RtscanRowAggregate *aggregate = &answer->task->aggregates[number];
	Argument	argument = {.kind = transition->family->total_kind(transition)};

	if (aggregate->narguments == 0)
		return argument;
	argument.values = rtscan_cursor_column(answer->cursor, aggregate->columns[0]);
	if (rtscan_has_totals(argument.values))
		argument.frame = rtscan_total_bounds(argument.values, chunk, &argument.scale);
	return argument;
}

/* Can no value of the chunk change the minimum or maximum so far? */
static bool
is_settled(const RtscanTransition *transition, const RtscanState *state, const Argument *argument)
{
	const RtscanFamily *family = transition->family;

	return family->is_beyond &&
		family->is_beyond(transition, state, argument->frame->least, argument->frame->greatest, argument->scale);
}

/* Do the values of a chunk have to be read? */
static bool
reads_values(const RtscanTransition *transition, const RtscanState *state, const Argument *argument)
{
	return argument->frame && argument->frame->bits > 0 && !is_settled(transition, state, argument) &&
		(argument->kind != RTSCAN_TOTAL_COUNT || argument->frame->nulls > 0);
}

/* Can a chunk be added to an aggregate, and is that faster than adding its rows? */
static bool
can_add(const RtscanRowsAnswer *answer, int number, const RtscanCursorChunk *chunk)
{
	const RtscanTransition *transition = &answer->current.transitions[number];
	Argument	argument = find_argument(answer, number, chunk->number);

	if (argument.values && argument.frame == NULL)
		return false;
	return (uint64) chunk->wanted * DENSE >= chunk->rows ||
		!reads_values(transition, &answer->current.only[number], &argument);
}

static void
add_chunk(const RtscanRowsAnswer *answer, int number, const RtscanCursorChunk *chunk)
{
	const RtscanTransition *transition = &answer->current.transitions[number];
	RtscanState *state = &answer->current.only[number];
	Argument	argument = find_argument(answer, number, chunk->number);
	RtscanTotal total = {.count = chunk->wanted};

	/* A minimum or maximum that is settled has a value, so its count is not 0.  Its exact count is never needed. */
	if (argument.values && is_settled(transition, state, &argument))
		return;
	if (argument.values)
		total = rtscan_chunk_total(argument.values, chunk->number, chunk->bits, argument.kind);
	transition->family->add_total(transition, state, &total, argument.scale, answer->current.state_context);
}

bool
rtscan_add_chunk(const RtscanCursorChunk *chunk, void *arg)
{
	const RtscanRowsAnswer *answer = (const RtscanRowsAnswer *) arg;
	int			naggregates = answer->task->naggregates;
	MemoryContext old;

	for (int i = 0; i < naggregates; i++)
		if (!can_add(answer, i, chunk))
			return false;
	/* Adding leaves garbage in per-tuple memory, which is reset before each chunk. */
	ResetExprContext(answer->batch->context);
	old = MemoryContextSwitchTo(answer->batch->context->ecxt_per_tuple_memory);
	for (int i = 0; i < naggregates; i++)
		add_chunk(answer, i, chunk);
	MemoryContextSwitchTo(old);
	return true;
}
