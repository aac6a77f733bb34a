/* SPDX-License-Identifier: PostgreSQL */
/*
 * code_bitmap.c
 *		Test the remaining rows against a bitmap indexed by code.
 */
#include "search/filter/code_bitmap.h"

#include "bits/bits.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "segment/member_codes.h"

/*
 * Return "word" without the bits of rows whose codes are not members.  "codes" begins with the code of the word's first
 * row.
 */
static pg_attribute_always_inline uint64
and_members_of_word(uint64 word, const char *codes, uint32 code_bytes, uint32 distinct, const uint64 *members)
{
	uint64		kept = 0;

	for (uint64 left = word; left != 0; left &= left - 1)
	{
		int			bit = pg_rightmost_one_pos64(left);
		uint32		code = rtscan_load_packed(codes + bit * code_bytes, code_bytes);

		if (likely(code <= distinct))
			kept |= ((members[code / 64] >> code % 64) & 1) << bit;
	}
	return kept;
}

/* Clear the bits of the rows of one page of codes whose codes are not members. */
static void
and_members_of_page(uint64 *words, uint32 rows, const char *codes, uint32 code_bytes, uint32 distinct,
					const uint64 *members)
{
	for (uint32 i = 0; i < (rows + 63) / 64; i++)
	{
		const char *place = codes + (Size) i * 64 * code_bytes;

		if (words[i] == 0)
			continue;
		/* each width has its own loop, so that the compiler has code_bytes as a constant */
		if (code_bytes == 1)
			words[i] = and_members_of_word(words[i], place, 1, distinct, members);
		else if (code_bytes == 2)
			words[i] = and_members_of_word(words[i], place, 2, distinct, members);
		else
			words[i] = and_members_of_word(words[i], place, 3, distinct, members);
	}
}

static bool
has_rows(const uint64 *words, uint32 rows)
{
	for (uint32 i = 0; i < (rows + 63) / 64; i++)
		if (words[i] != 0)
			return true;
	return false;
}

void
rtscan_and_code_bitmap(RtscanReader *reader, const RtscanColumnHeader *header, const uint64 *members,
					   RtscanRowBits *bits)
{
	uint32		per_page = rtscan_per_page(header->code_bytes);

	bits->counted = false;
	for (uint32 page = 0; page < header->codes.pages; page++)
	{
		uint32		first = page * per_page;
		uint32		rows = Min(per_page, reader->segment->header.rows - first);
		uint64	   *words = bits->words + first / 64;
		Buffer		buffer;
		const char *payload;

		if (!bits->filled[first / RTSCAN_CHUNK_ROWS] || !has_rows(words, rows))
			continue;
		CHECK_FOR_INTERRUPTS();
		payload = rtscan_get_page(reader, &header->codes, page, &buffer, NULL);
		and_members_of_page(words, rows, payload, header->code_bytes, header->distinct, members);
		rtscan_release(reader, buffer);
	}
}
