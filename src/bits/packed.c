/* SPDX-License-Identifier: PostgreSQL */
/*
 * packed.c
 *		Pack integers, and unpack them.
 */
#include "bits/packed.h"

#include "bits/bits.h"
#include "bits/multiversion.h"

uint32
rtscan_packed_bits(uint64 largest)
{
	uint32		bits = 0;

	while (bits < 64 && largest >> bits != 0)
		bits++;
	while (bits > 0 && !rtscan_can_pack(bits))
		bits++;
	return bits;
}

/* ---------------------------------------------------------------- packing */

/* Pack elements of less than a byte. */
static void
pack_parts(const uint64 *elements, uint32 n, uint32 bits, char *page)
{
	for (uint32 i = 0; i < n; i++)
		page[i * bits / 8] |= (char) (elements[i] << (i * bits % 8));
}

void
rtscan_pack(const uint64 *elements, uint32 n, uint32 bits, char *page)
{
	uint32		bytes = bits / 8;

	if (bits < 8)
		pack_parts(elements, n, bits, page);
	else
		for (uint32 i = 0; i < n; i++, page += bytes)
			for (uint32 k = 0; k < bytes; k++)
				page[k] = (char) (elements[i] >> (8 * k));
}

/* ---------------------------------------------------------------- loading an element */

/* Element number "at" of a page whose elements are integers of the type "type". */
#define WORD(type) (((const type *) page)[at])

/* Load an element of 6 or 7 bytes, for which there is no integer type. */
static inline uint64
load_bytes(const char *page, uint32 at, uint32 bytes)
{
	uint64		word;

	memcpy(&word, page + (Size) at * bytes, sizeof(word));
	return word & (~UINT64CONST(0) >> (64 - 8 * bytes));
}

static inline uint64
load_3_bytes(const char *page, uint32 at)
{
	uint32		word;

	memcpy(&word, page + (Size) at * 3, sizeof(word));
	return word & 0xFFFFFF;
}

/* The element "at" of a page whose elements are parts of a byte. */
#define PART(bits) ((((const uint8 *) page)[at * (bits) / 8] >> (at * (bits) % 8)) & ((1 << (bits)) - 1))

/* ---------------------------------------------------------------- unpacking */

/* Unpack the first n elements; "element" is the expression that loads element number "at". */
#define DEFINE_UNPACK(name, out, raw, element) \
RTSCAN_MULTIVERSION static uint64 \
name(const char *page, uint32 n, uint64 base, out *to) \
{ \
	out		   *restrict values = to; \
	raw			largest = 0; \
	\
	for (uint32 at = 0; at < n; at++) \
	{ \
		raw			value = (raw) (element); \
		\
		largest = value > largest ? value : largest; \
		values[at] = (out) (base + value); \
	} \
	return largest; \
}

/* Unpack the elements of n rows; "element" is the expression that loads element number "at". */
#define DEFINE_UNPACK_ROWS(name, out, raw, element) \
RTSCAN_MULTIVERSION static uint64 \
name ## _rows(const char *page, uint32 first_row, const uint32 *rows, uint32 n, uint64 base, out *to) \
{ \
	out		   *restrict values = to; \
	raw			largest = 0; \
	\
	for (uint32 i = 0; i < n; i++) \
	{ \
		uint32		at = rows[i] - first_row; \
		raw			value = (raw) (element); \
		\
		largest = value > largest ? value : largest; \
		values[i] = (out) (base + value); \
	} \
	return largest; \
}

static inline uint32
load_word(const char *page, uint32 at)
{
	uint32		word;

	memcpy(&word, page + (Size) at * sizeof(word), sizeof(word));
	return word;
}

/*
 * Unpack the first n elements of three bytes.  Four elements are loaded as three words, which compilers
 * vectorise; they do not vectorise loads of single elements.
 */
#define DEFINE_UNPACK_3_BYTES(name, out) \
RTSCAN_MULTIVERSION static uint64 \
name(const char *page, uint32 n, uint64 base, out *to) \
{ \
	out		   *restrict values = to; \
	uint32		largest = 0; \
	\
	for (uint32 i = 0; i < n / 4; i++) \
	{ \
		uint32		first = load_word(page, 3 * i), \
					second = load_word(page, 3 * i + 1), \
					third = load_word(page, 3 * i + 2); \
		uint32		a = first & 0xFFFFFF, \
					b = (first >> 24 | second << 8) & 0xFFFFFF, \
					c = (second >> 16 | third << 16) & 0xFFFFFF, \
					d = third >> 8; \
		uint32		most = Max(Max(a, b), Max(c, d)); \
	\
		largest = most > largest ? most : largest; \
		values[4 * i] = (out) (base + a); \
		values[4 * i + 1] = (out) (base + b); \
		values[4 * i + 2] = (out) (base + c); \
		values[4 * i + 3] = (out) (base + d); \
	} \
	for (uint32 at = n / 4 * 4; at < n; at++) \
	{ \
		uint32		value = (uint32) load_3_bytes(page, at); \
	\
		largest = value > largest ? value : largest; \
		values[at] = (out) (base + value); \
	} \
	return largest; \
}

/* Number of elements that are spread to bytes together: few enough that the bytes stay in the first-level cache. */
#define PARTS_AT_ONCE	4096

/* Write each element of "bits" bits as a byte of its own. */
#define DEFINE_SPREAD(name, bits) \
RTSCAN_MULTIVERSION static void \
name(const char *page, uint32 n, char *to) \
{ \
	const uint8 *restrict from = (const uint8 *) page; \
	char	   *restrict bytes = to; \
	\
	for (uint32 i = 0; i < (n * bits + 7) / 8; i++) \
		for (uint32 k = 0; k < 8 / bits; k++) \
			bytes[i * (8 / bits) + k] = (from[i] >> (k * bits)) & ((1 << bits) - 1); \
}

DEFINE_SPREAD(spread_1, 1)
DEFINE_SPREAD(spread_2, 2)
DEFINE_SPREAD(spread_4, 4)

static void
spread(const char *page, uint32 bits, uint32 first, uint32 n, char *bytes)
{
	page += first * bits / 8;
	if (bits == 1)
		spread_1(page, n, bytes);
	else if (bits == 2)
		spread_2(page, n, bytes);
	else
		spread_4(page, n, bytes);
}

/* Unpack elements of less than a byte: spread them to bytes, then unpack the bytes. */
#define DEFINE_UNPACK_PARTS(name, out, bits, unpack_bytes) \
static uint64 \
name(const char *page, uint32 n, uint64 base, out *values) \
{ \
	char		bytes[PARTS_AT_ONCE]; \
	uint64		largest = 0; \
	\
	for (uint32 first = 0; first < n; first += PARTS_AT_ONCE) \
	{ \
		uint32		now = Min(n - first, PARTS_AT_ONCE); \
		uint64		most; \
		\
		spread(page, bits, first, now, bytes); \
		most = unpack_bytes(bytes, now, base, values + first); \
		largest = Max(largest, most); \
	} \
	return largest; \
}

/* ---------------------------------------------------------------- unpacking int64 */

DEFINE_UNPACK(unpack_8, int64, uint8, WORD(uint8))
DEFINE_UNPACK(unpack_16, int64, uint16, WORD(uint16))
DEFINE_UNPACK_3_BYTES(unpack_24, int64)
DEFINE_UNPACK(unpack_32, int64, uint32, WORD(uint32))
DEFINE_UNPACK(unpack_48, int64, uint64, load_bytes(page, at, 6))
DEFINE_UNPACK(unpack_56, int64, uint64, load_bytes(page, at, 7))
DEFINE_UNPACK(unpack_64, int64, uint64, WORD(uint64))
DEFINE_UNPACK_PARTS(unpack_1, int64, 1, unpack_8)
DEFINE_UNPACK_PARTS(unpack_2, int64, 2, unpack_8)
DEFINE_UNPACK_PARTS(unpack_4, int64, 4, unpack_8)
DEFINE_UNPACK_ROWS(unpack_1, int64, uint8, PART(1))
DEFINE_UNPACK_ROWS(unpack_2, int64, uint8, PART(2))
DEFINE_UNPACK_ROWS(unpack_4, int64, uint8, PART(4))
DEFINE_UNPACK_ROWS(unpack_8, int64, uint8, WORD(uint8))
DEFINE_UNPACK_ROWS(unpack_16, int64, uint16, WORD(uint16))
DEFINE_UNPACK_ROWS(unpack_24, int64, uint32, load_3_bytes(page, at))
DEFINE_UNPACK_ROWS(unpack_32, int64, uint32, WORD(uint32))
DEFINE_UNPACK_ROWS(unpack_48, int64, uint64, load_bytes(page, at, 6))
DEFINE_UNPACK_ROWS(unpack_56, int64, uint64, load_bytes(page, at, 7))
DEFINE_UNPACK_ROWS(unpack_64, int64, uint64, WORD(uint64))

/* The functions that unpack elements of one size. */
typedef struct Unpacker
{
	uint64		(*unpack) (const char *page, uint32 n, uint64 base, int64 *values); /* the first n elements */
	uint64		(*unpack_rows) (const char *page, uint32 first_row, const uint32 *rows, uint32 n, uint64 base,
								int64 *values); /* the elements of n rows */
} Unpacker;

/* The functions that unpack elements of a number of bits, by this number. */
static const Unpacker unpackers[65] = {
	[1] = {unpack_1, unpack_1_rows},
	[2] = {unpack_2, unpack_2_rows},
	[4] = {unpack_4, unpack_4_rows},
	[8] = {unpack_8, unpack_8_rows},
	[16] = {unpack_16, unpack_16_rows},
	[24] = {unpack_24, unpack_24_rows},
	[32] = {unpack_32, unpack_32_rows},
	[48] = {unpack_48, unpack_48_rows},
	[56] = {unpack_56, unpack_56_rows},
	[64] = {unpack_64, unpack_64_rows},
};

uint64
rtscan_unpack(const char *page, uint32 bits, uint32 n, int64 base, int64 *values)
{
	Assert(rtscan_can_pack(bits));
	return unpackers[bits].unpack(page, n, base, values);
}

/* Are the rows consecutive, and does the element of the first row begin at the beginning of a byte? */
static bool
are_consecutive(uint32 bits, uint32 first_row, const uint32 *rows, uint32 n)
{
	return n > 0 && rows[n - 1] - rows[0] == n - 1 && (rows[0] - first_row) * bits % 8 == 0;
}

uint64
rtscan_unpack_rows(const char *page, uint32 bits, uint32 first_row, const uint32 *rows, uint32 n, int64 base,
				   int64 *values)
{
	Assert(rtscan_can_pack(bits));
	if (are_consecutive(bits, first_row, rows, n))
		return rtscan_unpack(page + (Size) (rows[0] - first_row) * bits / 8, bits, n, base, values);
	return unpackers[bits].unpack_rows(page, first_row, rows, n, base, values);
}

/* ---------------------------------------------------------------- unpacking uint32 */

DEFINE_UNPACK(small_8, uint32, uint8, WORD(uint8))
DEFINE_UNPACK(small_16, uint32, uint16, WORD(uint16))
DEFINE_UNPACK_3_BYTES(small_24, uint32)
DEFINE_UNPACK_PARTS(small_1, uint32, 1, small_8)
DEFINE_UNPACK_PARTS(small_2, uint32, 2, small_8)
DEFINE_UNPACK_PARTS(small_4, uint32, 4, small_8)
DEFINE_UNPACK_ROWS(small_1, uint32, uint8, PART(1))
DEFINE_UNPACK_ROWS(small_2, uint32, uint8, PART(2))
DEFINE_UNPACK_ROWS(small_4, uint32, uint8, PART(4))
DEFINE_UNPACK_ROWS(small_8, uint32, uint8, WORD(uint8))
DEFINE_UNPACK_ROWS(small_16, uint32, uint16, WORD(uint16))
DEFINE_UNPACK_ROWS(small_24, uint32, uint32, load_3_bytes(page, at))

/* The functions that unpack elements of one size of at most 24 bits. */
typedef struct SmallUnpacker
{
	uint64		(*unpack) (const char *page, uint32 n, uint64 base, uint32 *values);	/* the first n elements */
	uint64		(*unpack_rows) (const char *page, uint32 first_row, const uint32 *rows, uint32 n, uint64 base,
								uint32 *values);	/* the elements of n rows */
} SmallUnpacker;

/* The functions that unpack elements of a number of bits, by this number. */
static const SmallUnpacker small_unpackers[25] = {
	[1] = {small_1, small_1_rows},
	[2] = {small_2, small_2_rows},
	[4] = {small_4, small_4_rows},
	[8] = {small_8, small_8_rows},
	[16] = {small_16, small_16_rows},
	[24] = {small_24, small_24_rows},
};

uint64
rtscan_unpack_small(const char *page, uint32 bits, uint32 n, uint32 base, uint32 *values)
{
	Assert(rtscan_can_pack(bits) && bits <= 24);
	return small_unpackers[bits].unpack(page, n, base, values);
}

uint64
rtscan_unpack_small_rows(const char *page, uint32 bits, uint32 first_row, const uint32 *rows, uint32 n, uint32 base,
						 uint32 *values)
{
	Assert(rtscan_can_pack(bits) && bits <= 24);
	if (are_consecutive(bits, first_row, rows, n))
		return rtscan_unpack_small(page + (Size) (rows[0] - first_row) * bits / 8, bits, n, base, values);
	return small_unpackers[bits].unpack_rows(page, first_row, rows, n, base, values);
}

/* ---------------------------------------------------------------- NULLs and codes */

RTSCAN_MULTIVERSION void
rtscan_take_markers(int64 *values, uint32 n, int64 marker, bool *marked)
{
	for (uint32 i = 0; i < n; i++)
		marked[i] = values[i] == marker;
	for (uint32 i = 0; i < n; i++)
		values[i] = values[i] == marker ? 0 : values[i];
}

RTSCAN_MULTIVERSION void
rtscan_take_marker_bits(int64 *values, uint32 n, int64 marker, uint64 *marked)
{
	for (uint32 first = 0; first < n; first += 64)
	{
		uint32		now = Min(n - first, 64);
		uint64		word = 0;

		for (uint32 i = 0; i < now; i++)
			word |= (uint64) (values[first + i] == marker) << i;
		for (uint32 i = 0; i < now; i++)
			values[first + i] = values[first + i] == marker ? 0 : values[first + i];
		marked[first / 64] = word;
	}
}

RTSCAN_MULTIVERSION void
rtscan_replace_code(uint32 *codes, uint32 n, uint32 from, uint32 to)
{
	for (uint32 i = 0; i < n; i++)
		codes[i] = codes[i] == from ? to : codes[i];
}

RTSCAN_MULTIVERSION void
rtscan_find_code(const uint32 *codes, uint32 n, uint32 code, uint64 *found)
{
	for (uint32 first = 0; first < n; first += 64)
	{
		uint32		now = Min(n - first, 64);
		uint64		word = 0;

		for (uint32 i = 0; i < now; i++)
			word |= (uint64) (codes[first + i] == code) << i;
		found[first / 64] = word;
	}
}

/* ---------------------------------------------------------------- tests */

/*
 * Read the elements of the last, incomplete word from a copy: the memory behind the last element may not be readable.
 */
#define TAKE_64(type) \
	if (w * 64 + 64 > n) \
		from = memcpy(last, from, (n - w * 64) * sizeof(type))

#define DEFINE_AND_RANGE(name, type) \
RTSCAN_MULTIVERSION static uint64 \
name(uint64 *words, const char *page, uint32 n, uint32 low, uint32 span) \
{ \
	const type *from = (const type *) page; \
	type		last[64] = {0}; \
	type		largest = 0; \
	uint8		matches[64]; \
	\
	for (uint32 w = 0; w * 64 < n; w++, from += 64) \
	{ \
		TAKE_64(type); \
		for (int i = 0; i < 64; i++) \
			largest = from[i] > largest ? from[i] : largest; \
		for (int i = 0; i < 64; i++) \
			matches[i] = (type) (from[i] - (type) low) <= (type) span; \
		words[w] &= rtscan_pack64(matches); \
	} \
	return largest; \
}

#define DEFINE_LARGEST(name, type) \
RTSCAN_MULTIVERSION static uint64 \
name(const char *page, uint32 n) \
{ \
	type		largest = 0; \
	\
	for (uint32 at = 0; at < n; at++) \
		largest = WORD(type) > largest ? WORD(type) : largest; \
	return largest; \
}

/*
 * Look up elements one by one, and collect the results in lots of eight bits; vector instructions would not be
 * faster.
 */
#define DEFINE_AND_TABLE(name, type) \
static void \
name(uint64 *words, const char *page, uint32 n, const uint8 *table) \
{ \
	const type *from = (const type *) page; \
	type		last[64] = {0}; \
	\
	for (uint32 w = 0; w * 64 < n; w++, from += 64) \
	{ \
		uint64		word = 0; \
	\
		TAKE_64(type); \
		for (int i = 0; i < 64; i += 8) \
		{ \
			const type *at = from + i; \
			uint32		eight = table[at[0]] | table[at[1]] << 1 | table[at[2]] << 2 | table[at[3]] << 3 | \
				table[at[4]] << 4 | table[at[5]] << 5 | table[at[6]] << 6 | table[at[7]] << 7; \
	\
			word |= (uint64) eight << i; \
		} \
		words[w] &= word; \
	} \
}

DEFINE_AND_RANGE(range_8, uint8)
DEFINE_AND_RANGE(range_16, uint16)
DEFINE_LARGEST(largest_8, uint8)
DEFINE_LARGEST(largest_16, uint16)
DEFINE_AND_TABLE(table_8, uint8)
DEFINE_AND_TABLE(table_16, uint16)

uint64
rtscan_and_packed_range(uint64 *words, const char *page, uint32 bits, uint32 n, uint32 low, uint32 span)
{
	char		bytes[PARTS_AT_ONCE];
	uint64		largest = 0;

	if (bits == 8)
		return range_8(words, page, n, low, span);
	if (bits == 16)
		return range_16(words, page, n, low, span);
	for (uint32 first = 0; first < n; first += PARTS_AT_ONCE)
	{
		uint32		now = Min(n - first, PARTS_AT_ONCE);
		uint64		most;

		spread(page, bits, first, now, bytes);
		most = range_8(words + first / 64, bytes, now, low, span);
		largest = Max(largest, most);
	}
	return largest;
}

uint64
rtscan_and_packed_table(uint64 *words, const char *page, uint32 bits, uint32 n, const uint8 *table)
{
	char		bytes[PARTS_AT_ONCE];
	uint64		largest = 0;

	if (bits == 8)
	{
		table_8(words, page, n, table);
		return largest_8(page, n);
	}
	if (bits == 16)
	{
		table_16(words, page, n, table);
		return largest_16(page, n);
	}
	for (uint32 first = 0; first < n; first += PARTS_AT_ONCE)
	{
		uint32		now = Min(n - first, PARTS_AT_ONCE);
		uint64		most;

		spread(page, bits, first, now, bytes);
		table_8(words + first / 64, bytes, now, table);
		most = largest_8(bytes, now);
		largest = Max(largest, most);
	}
	return largest;
}

RTSCAN_MULTIVERSION void
rtscan_and_value_range(uint64 *words, const int64 *values, uint32 n, uint64 low, uint64 span)
{
	int64		last[64] = {0};

	for (uint32 w = 0; w * 64 < n; w++, values += 64)
	{
		uint8		matches[64];
		uint64		rest = n - w * 64;

		if (rest < 64)
			values = memcpy(last, values, rest * sizeof(int64));
		for (int i = 0; i < 64; i++)
			matches[i] = (uint64) values[i] - low <= span;
		words[w] &= rtscan_pack64(matches) & (rest < 64 ? (UINT64CONST(1) << rest) - 1 : ~UINT64CONST(0));
	}
}
