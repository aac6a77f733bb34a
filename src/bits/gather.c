/* SPDX-License-Identifier: PostgreSQL */
/*
 * gather.c
 *		Loops that pick elements of arrays, and list the bits that are set.
 */
#include "bits/gather.h"

#include "bits/bits.h"
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

RTSCAN_MULTIVERSION void
rtscan_number_rows(uint32 first_row, uint32 n, uint32 *rows)
{
	for (uint32 i = 0; i < n; i++)
		rows[i] = first_row + i;
}

/*
 * List the rows whose bits are set in a word; returns their number.
 *
 * Rows are written four at a time, and at least four.  That takes fewer branches that are hard to predict than
 * writing one row at a time.  Surplus rows are overwritten by those of the next word.
 */
static inline uint32
list_word(uint64 rest, uint32 first_row, uint32 *rows)
{
	uint32		n = __builtin_popcountll(rest);
	uint32		i = 0;

	do
		for (uint32 k = 0; k < 4; k++, i++, rest &= rest - 1)
			rows[i] = first_row + __builtin_ctzll(rest | UINT64CONST(1) << 63);
	while (i < n);
	return n;
}

/* Number of words in a lot, which find_words() reads together. */
#define LOT_WORDS	16

StaticAssertDecl(LOT_WORDS == 2 * 8 && RTSCAN_CHUNK_WORDS % LOT_WORDS == 0,
				 "a lot is two bytes of bits, and a chunk is lots");

/*
 * Return a bit for each word of a lot: whether the word is not 0.  A branch would be hard to predict, so there is
 * none.
 */
static inline uint32
find_words(const uint64 *words)
{
	uint8		found[LOT_WORDS];

	for (uint32 i = 0; i < LOT_WORDS; i++)
		found[i] = words[i] != 0;
	return rtscan_pack8(found) | rtscan_pack8(found + 8) << 8;
}

/*
 * List the rows whose bits are set in one lot, from its word *word on.  Stops when "rows" has no room for the 64 rows
 * that a word can have.  Sets *word to the first word that has not been listed; returns the number of rows.
 */
static inline uint32
list_words(const uint64 *words, uint32 *word, uint32 first_row, uint32 *rows, uint32 room)
{
	uint32		lot = *word / LOT_WORDS * LOT_WORDS;
	uint32		left = find_words(words + lot) & ~0U << (*word - lot);
	uint32		n = 0;

	for (; left != 0 && room - n >= 64; left &= left - 1)
	{
		uint32		found = lot + __builtin_ctz(left);

		n += list_word(words[found], first_row + found * 64, rows + n);
	}
	*word = lot + (left != 0 ? __builtin_ctz(left) : LOT_WORDS);
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
		for (; rest != 0 && n < limit; rest &= rest - 1)
			rows[n++] = first_row + word * 64 + pg_rightmost_one_pos64(rest);
		if (rest != 0)
			break;
		word++;
		while (word < RTSCAN_CHUNK_WORDS && limit - n >= 64)
			n += list_words(words, &word, first_row, rows + n, limit - n);
		if (word >= RTSCAN_CHUNK_WORDS)
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

/*
 * For each byte, the places of the bits that are set, lowest first.  The remaining elements of an entry are not used.
 */
static uint8 places_of[256][8];

static void
fill_places(void)
{
	for (uint32 byte = 0; byte < 256; byte++)
		for (uint32 bit = 0, n = 0; bit < 8; bit++)
			if (byte >> bit & 1)
				places_of[byte][n++] = bit;
}

RTSCAN_MULTIVERSION static uint32
list_places(const uint64 *words, uint32 from, uint32 end, uint16 *places)
{
	uint32		n = 0;

	for (uint32 first = from / 8 * 8; first < end; first += 8)
	{
		uint8		byte = words[first / 64] >> first % 64;

		if (first < from)
			byte &= 0xFF << (from - first);
		if (first + 8 > end)
			byte &= (1 << (end - first)) - 1;
		for (uint32 i = 0; i < 8; i++)
			places[n + i] = first + places_of[byte][i];
		n += pg_number_of_ones[byte];
	}
	return n;
}

uint32
rtscan_list_places(const uint64 *words, uint32 from, uint32 end, uint16 *places)
{
	if (places_of[255][7] == 0)
		fill_places();
	return list_places(words, from, end, places);
}
