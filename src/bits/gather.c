/*
 * gather.c
 *		Loops that pick elements of arrays.
 */
#include "bits/gather.h"

#include "bits/multiversion.h"
#include "port/pg_bitutils.h"

RTSCAN_MULTIVERSION static void
gather16(const int16 *page, uint32 first_row, const uint32 *rows, uint32 n, int64 *values)
{
	for (uint32 i = 0; i < n; i++)
		values[i] = page[rows[i] - first_row];
}

RTSCAN_MULTIVERSION static void
gather32(const int32 *page, uint32 first_row, const uint32 *rows, uint32 n, int64 *values)
{
	for (uint32 i = 0; i < n; i++)
		values[i] = page[rows[i] - first_row];
}

RTSCAN_MULTIVERSION static void
gather64(const int64 *page, uint32 first_row, const uint32 *rows, uint32 n, int64 *values)
{
	for (uint32 i = 0; i < n; i++)
		values[i] = page[rows[i] - first_row];
}

void
rtscan_gather_integers(const char *page, uint32 width, uint32 first_row, const uint32 *rows, uint32 n, int64 *values)
{
	if (width == sizeof(int16))
		gather16((const int16 *) page, first_row, rows, n, values);
	else if (width == sizeof(int32))
		gather32((const int32 *) page, first_row, rows, n, values);
	else
		gather64((const int64 *) page, first_row, rows, n, values);
}

RTSCAN_MULTIVERSION void
rtscan_gather_coded(const int64 *table, uint32 null_code, const uint32 *codes, uint32 n, int64 *values, bool *isnull)
{
	for (uint32 i = 0; i < n; i++)
		isnull[i] = codes[i] == null_code;
	for (uint32 i = 0; i < n; i++)
		values[i] = table[codes[i]];
}

RTSCAN_MULTIVERSION void
rtscan_gather_table(const int64 *table, const uint32 *codes, uint32 n, int64 *values)
{
	for (uint32 i = 0; i < n; i++)
		values[i] = table[codes[i]];
}

/*
 * The rows of a word, four at a time, of which what is too many is written over by the next word: a branch a word that is hard to
 * foretell, not one a row.  Returns how many there are.
 */
static inline uint32
list_word(uint64 rest, uint32 first_row, uint32 *rows)
{
	uint32		n = __builtin_popcountll(rest);

	for (uint32 i = 0; i < n; i += 4)
		for (uint32 k = 0; k < 4; k++, rest &= rest - 1)
			rows[i + k] = first_row + __builtin_ctzll(rest | UINT64CONST(1) << 63);
	return n;
}

RTSCAN_MULTIVERSION uint32
rtscan_gather_rows(const uint64 *words, RtscanBitPlace *place, uint32 first_row, uint32 *rows, uint32 limit)
{
	uint32		word = place->word;
	uint64		rest = place->rest;
	uint32		n = 0;

	for (;;)
	{
		if (limit - n >= 64)
		{
			n += list_word(rest, first_row + word * 64, rows + n);
			rest = 0;
		}
		for (; rest != 0 && n < limit; rest &= rest - 1)
			rows[n++] = first_row + word * 64 + pg_rightmost_one_pos64(rest);
		if (rest != 0)
			break;
		do
			word++;
		while (word < RTSCAN_CHUNK_WORDS && words[word] == 0);
		if (word == RTSCAN_CHUNK_WORDS)
			break;
		rest = words[word];
	}
	*place = (RtscanBitPlace) {Min(word, RTSCAN_CHUNK_WORDS - 1), rest};
	return n;
}

RTSCAN_MULTIVERSION uint32
rtscan_list_rows(const uint64 *words, uint32 first_row, uint32 *rows)
{
	uint32		n = 0;

	for (uint32 w = 0; w < RTSCAN_CHUNK_WORDS; w++, first_row += 64)
		n += list_word(words[w], first_row, rows + n);
	return n;
}
