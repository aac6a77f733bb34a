/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_round.c
 *		Have the devices evaluate a round, and pass their answers to its segments.
 */
#include "search/gpu/device_round.h"

#include "miscadmin.h"
#include "search/exec/executor.h"
#include "search/gpu/device_answer.h"
#include "search/gpu/device_bits.h"
#include "search/gpu/device_budget.h"
#include "search/gpu/device_collect.h"
#include "search/gpu/device_exchange.h"
#include "search/gpu/device_write.h"
#include "utils/memutils.h"

/*
 * Send a request to each device, and wait until each part has an answer, or a reason why there is none.  The time of
 * a request is known best for the device that is waited for first, so the devices take turns in being first.
 */
static RtscanDeviceParts
ask_devices(const RtscanDevicePart *like, RtscanSegmentScan *scans, int nscans)
{
	static int	turn;
	RtscanDeviceParts parts = rtscan_collect_parts(like, scans, nscans);

	CHECK_FOR_INTERRUPTS();
	for (RtscanDevicePart *part = parts.items; part < parts.items + parts.n; part++)
		if (rtscan_budget_part(part))
		{
			rtscan_write_part(part);
			rtscan_send_part(part);
		}
	turn = (turn + 1) % parts.n;
	for (int i = 0; i < parts.n; i++)
		rtscan_await_part(&parts.items[(turn + i) % parts.n]);
	return parts;
}

/*
 * Return the reason why a part has no answer; NULL if all parts that are wanted have one.  Any other reason takes
 * precedence over rtscan_not_yet.
 */
static const char *
why_not(const RtscanDeviceParts *parts)
{
	const char *why = NULL;

	for (int i = 0; i < parts->n; i++)
		if (why == NULL || why == rtscan_not_yet)
			why = parts->items[i].why ? parts->items[i].why : why;
	return why;
}

const char *
rtscan_prepare_on_devices(const RtscanDevicePart *like, RtscanSegmentScan *scans, int nscans)
{
	RtscanDeviceParts parts = ask_devices(like, scans, nscans);

	return why_not(&parts);
}

/* Reset and return the memory context for a round's answer and saved bits. */
static MemoryContext
round_memory(RtscanRound *round)
{
	if (round->saved == NULL)
		round->saved = AllocSetContextCreate(round->scratch.context, "rtscan round", ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(round->saved);
	return round->saved;
}

const char *
rtscan_evaluate_on_devices(const RtscanDevicePart *like, RtscanRound *round, RtscanCounters *counters)
{
	RtscanDeviceParts parts = ask_devices(like, round->scans, round->nscans);
	MemoryContext context = round_memory(round);
	bool		has_bits = false;

	for (RtscanDevicePart *part = parts.items; part < parts.items + parts.n; part++)
		if (part->budget.wanted && part->why == NULL)
		{
			if (rtscan_take_answer(part, context, counters))
				has_bits |= part->header.want_bits;
			else
				part->why = rtscan_wrong_answer();
		}
	if (has_bits)
		rtscan_keep_round_bits(round);
	return why_not(&parts);
}
