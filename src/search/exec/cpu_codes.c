/* SPDX-License-Identifier: PostgreSQL */
/*
 * cpu_codes.c
 *		Compare the codes of all rows of a small segment, one page after another.
 */
#include "search/exec/cpu_parts.h"

#include "bits/bits.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"

/* AND the rows of one interval of a column's codes into "words", the bits of the segment's only chunk. */
static void
and_code_interval(CpuEvaluation *evaluation, const CpuColumn *part, uint64 *words,
				  const RtscanInterval *interval)
{
	const RtscanColumnHeader *header = &part->column->header;
	uint32		per_page = rtscan_per_page(header->code_bytes);

	for (uint32 i = 0; i < header->codes.pages; i++)
	{
		uint32		first = i * per_page;
		uint32		n = Min(evaluation->rows - first, per_page);
		Buffer		buffer;
		const char *payload = rtscan_get_page(evaluation->reader, &header->codes, i, &buffer, NULL);

		if (header->code_bytes == 1)
			rtscan_and_codes8(words + first / 64, (const uint8 *) payload, n,
							  interval->low.code, interval->high.code);
		else
			rtscan_and_codes16(words + first / 64, (const uint16 *) payload, n,
							   interval->low.code, interval->high.code);
		rtscan_release(evaluation->reader, buffer);
	}
}

const uint64 *
rtscan_cpu_members(CpuColumn *part)
{
	const RtscanIntervals *set = &part->region->intervals;

	if (part->members)
		return part->members;
	part->members = palloc0((part->column->header.distinct / 64 + 1) * sizeof(uint64));
	for (uint32 i = 0; i < set->n; i++)
		for (uint32 code = set->items[i].low.code; code < set->items[i].high.code; code++)
			part->members[code / 64] |= UINT64CONST(1) << (code % 64);
	return part->members;
}

/* AND the rows of several intervals of a column's codes into "words", the bits of the segment's only chunk. */
static void
and_code_set(CpuEvaluation *evaluation, CpuColumn *part, uint64 *words)
{
	const RtscanColumnHeader *header = &part->column->header;
	uint32		per_page = rtscan_per_page(header->code_bytes);
	const uint64 *wanted = rtscan_cpu_members(part);

	for (uint32 i = 0; i < header->codes.pages; i++)
	{
		uint32		first = i * per_page;
		Buffer		buffer;
		const char *payload = rtscan_get_page(evaluation->reader, &header->codes, i, &buffer, NULL);

		for (uint32 row = first; row < Min(first + per_page, evaluation->rows); row++)
		{
			uint32		code = rtscan_load_packed(payload + (row - first) * header->code_bytes,
												  header->code_bytes);

			if (code > header->distinct || !rtscan_bit_is_set(wanted, code))
				rtscan_cpu_clear_row(row, words);
		}
		rtscan_release(evaluation->reader, buffer);
		CHECK_FOR_INTERRUPTS();
	}
}

void
rtscan_cpu_scan_codes(CpuEvaluation *evaluation)
{
	uint64	   *words = rtscan_bits_fill(evaluation->bits, 0);

	rtscan_cpu_set_all(words, evaluation->rows);
	for (int i = 0; i < evaluation->ncolumns; i++)
	{
		CpuColumn  *part = &evaluation->columns[i];

		if (part->heap_order)
			rtscan_cpu_and_row_ranges(evaluation, part, 0, words);
		else if (part->region->intervals.n == 1)
			and_code_interval(evaluation, part, words, &part->region->intervals.items[0]);
		else
			and_code_set(evaluation, part, words);
		rtscan_cpu_trace_bits(evaluation, part, RTSCAN_BY_CODES);
	}
	evaluation->counters->refined_rows += evaluation->rows;
	evaluation->counters->chunks_read++;
}
