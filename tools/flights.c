/* SPDX-License-Identifier: PostgreSQL */
/*
 * flights.c
 *	  Write the flights of a Parquet file to standard output as CSV; tools/flights builds and runs it.
 *
 *	  flights FILE.parquet
 *
 * It reads just what the file of tools/flights contains, and fails at anything else: row groups of the columns date
 * (microseconds), delay, distance, origin and destination, without nulls. The chunk of a column is a page with its
 * dictionary, followed by one page (of version 1) with codes; both are compressed by zstd. The metadata is in Thrift's
 * compact protocol.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Declared here so that zstd's headers need not be installed: PostgreSQL and dpkg need only the library. */
extern size_t ZSTD_decompress(void *to, size_t room, const void *from, size_t size);

enum {DATE, DELAY, DISTANCE, ORIGIN, DESTINATION, STORED};	/* the columns, in the file's order */
enum {TRUE = 1, FALSE, BYTE, INT16, INT32, INT64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT};	/* Thrift's types */

#define MICROSECONDS 1000000

typedef struct
{
	const unsigned char *at;
	const unsigned char *end;
} Bytes;

/* A distinct value, as CSV has it. */
typedef struct
{
	char		text[24];
	int			length;
} Value;

typedef struct
{
	Value	   *dictionary;
	int			values;			/* number of values in the dictionary */
	int		   *codes;			/* one for each row: the position of its value in the dictionary */
	int			rows;
} Column;

static void
fail(const char *reason)
{
	fprintf(stderr, "flights: %s\n", reason);
	exit(1);
}

static void *
allocate(size_t size)
{
	void	   *memory = malloc(size > 0 ? size : 1);

	if (memory == NULL)
		fail("out of memory");
	return memory;
}

/* ---- bytes ---- */

static Bytes
take(Bytes *from, size_t size)
{
	Bytes		taken = {from->at, from->at + size};

	if (size > (size_t) (from->end - from->at))
		fail("the file is truncated");
	from->at = taken.end;
	return taken;
}

static uint64_t
take_little_endian(Bytes *from, int size)
{
	Bytes		bytes = take(from, size);
	uint64_t	result = 0;

	while (size-- > 0)
		result = result << 8 | bytes.at[size];
	return result;
}

static uint64_t
take_varint(Bytes *from)
{
	uint64_t	result = 0;
	int			byte;
	int			shift = 0;

	do
	{
		byte = *take(from, 1).at;
		result |= (uint64_t) (byte & 127) << shift;
		shift += 7;
	} while (byte >= 128 && shift < 64);
	return result;
}

static int64_t
take_zigzag(Bytes *from)
{
	uint64_t	value = take_varint(from);

	return (int64_t) (value >> 1) ^ -(int64_t) (value & 1);
}

/* ---- Thrift ---- */

/* Returns the type of a structure's next field, and its number in *id; 0 at the end of the structure. */
static int
next_field(Bytes *from, int *id)
{
	int			head = *take(from, 1).at;

	if (head == 0)
		return 0;
	*id = head >> 4 != 0 ? *id + (head >> 4) : (int) take_zigzag(from);
	return head & 15;
}

/* Returns the number of a list's elements, whose type is stored in *type. */
static int
enter_list(Bytes *from, int *type)
{
	int			head = *take(from, 1).at;

	*type = head & 15;
	return head >> 4 != 15 ? head >> 4 : (int) take_varint(from);
}

/* Reads a value; returns it if it is an integer. */
static int64_t
take_value(Bytes *from, int type)
{
	int			id = 0;
	int			elements;

	switch (type)
	{
		case TRUE:
		case FALSE:
			break;
		case BYTE:
			take(from, 1);
			break;
		case INT16:
		case INT32:
		case INT64:
			return take_zigzag(from);
		case DOUBLE:
			take(from, 8);
			break;
		case BINARY:
			take(from, take_varint(from));
			break;
		case LIST:
		case SET:
			for (elements = enter_list(from, &type); elements > 0; elements--)
				take_value(from, type == TRUE ? BYTE : type);	/* each boolean of a list has a byte */
			break;
		case STRUCT:
			while ((type = next_field(from, &id)) != 0)
				take_value(from, type);
			break;
		default:
			fail("unknown type in the metadata");
	}
	return 0;
}

/* Returns the bytes of a structure from the value of a field on. */
static Bytes
field_of(Bytes structure, int wanted, int wanted_type)
{
	int			id = 0;
	int			type;

	while ((type = next_field(&structure, &id)) != 0 && id != wanted)
		take_value(&structure, type);
	if (type != wanted_type)
		fail("the metadata lacks a field");
	return structure;
}

static int64_t
integer_of(Bytes structure, int field, int type)
{
	Bytes		value = field_of(structure, field, type);

	return take_zigzag(&value);
}

/* ---- pages ---- */

/* Returns what is in a page, uncompressed, and the page's header in *header. */
static Bytes
take_page(Bytes *from, Bytes *header)
{
	Bytes		compressed;
	Bytes		result;
	size_t		size;
	unsigned char *page;

	*header = *from;
	take_value(from, STRUCT);
	size = integer_of(*header, 2, INT32);
	compressed = take(from, integer_of(*header, 3, INT32));
	page = allocate(size);
	if (ZSTD_decompress(page, size, compressed.at, compressed.end - compressed.at) != size)
		fail("a page cannot be decompressed");
	result.at = page;
	result.end = page + size;
	return result;
}

static Value
text_of_integer(int64_t number)
{
	Value		value;

	value.length = snprintf(value.text, sizeof(value.text), "%lld", (long long) number);
	return value;
}

static Value
text_of_time(int64_t microseconds)
{
	time_t		seconds = microseconds / MICROSECONDS;
	struct tm	parts;
	Value		value;

	gmtime_r(&seconds, &parts);
	value.length = strftime(value.text, sizeof(value.text), "%Y-%m-%d %H:%M:%S", &parts);
	return value;
}

static Value
text_of_string(Bytes string)
{
	Value		value;

	value.length = string.end - string.at;
	if (value.length > (int) sizeof(value.text))
		fail("an airport's code is too long");
	memcpy(value.text, string.at, value.length);
	return value;
}

static void
read_dictionary(Bytes *chunk, int number, Column *column)
{
	Bytes		header;
	Bytes		page = take_page(chunk, &header);
	const unsigned char *start = page.at;

	column->values = integer_of(field_of(header, 7, STRUCT), 1, INT32);
	column->dictionary = allocate(column->values * sizeof(Value));
	for (int i = 0; i < column->values; i++)
	{
		if (number == ORIGIN || number == DESTINATION)
			column->dictionary[i] = text_of_string(take(&page, take_little_endian(&page, 4)));
		else if (number == DATE)
			column->dictionary[i] = text_of_time(take_little_endian(&page, 8));
		else
			column->dictionary[i] = text_of_integer(take_little_endian(&page, 8));
	}
	free((void *) start);
}

static int
unpack(const unsigned char *packed, int bits, int number)
{
	int			code = 0;

	for (int i = 0; i < bits; i++)
	{
		int			bit = number * bits + i;

		code |= (packed[bit / 8] >> bit % 8 & 1) << i;
	}
	return code;
}

/* Reads a run: a code that repeats, or groups of eight packed codes, each group as many bytes as a code has bits. */
static void
read_run(Bytes *page, int bits, int *codes, int *n, int wanted)
{
	uint64_t	run = take_varint(page);

	if (run & 1)
	{
		for (run >>= 1; run > 0 && *n < wanted; run--)
		{
			const unsigned char *packed = take(page, bits).at;

			for (int i = 0; i < 8 && *n < wanted; i++)	/* the last group may be filled up */
				codes[(*n)++] = unpack(packed, bits, i);
		}
	}
	else
	{
		int			code = take_little_endian(page, (bits + 7) / 8);

		for (run >>= 1; run > 0 && *n < wanted; run--)
			codes[(*n)++] = code;
	}
}

static void
read_codes(Bytes *chunk, Column *column)
{
	Bytes		header;
	Bytes		page = take_page(chunk, &header);
	const unsigned char *start = page.at;
	int			bits;
	int			n = 0;

	column->rows = integer_of(field_of(header, 5, STRUCT), 1, INT32);
	column->codes = allocate(column->rows * sizeof(int));
	take(&page, take_little_endian(&page, 4));	/* which rows have a value: all */
	bits = take_little_endian(&page, 1);
	while (n < column->rows)
		read_run(&page, bits, column->codes, &n, column->rows);
	for (int i = 0; i < n; i++)
	{
		if (column->codes[i] < 0 || column->codes[i] >= column->values)
			fail("a code is not in the dictionary");
	}
	free((void *) start);
}

/* ---- rows ---- */

static char *
append(char *to, const Column *column, int row, char separator)
{
	const Value *value = &column->dictionary[column->codes[row]];

	memcpy(to, value->text, value->length);
	to[value->length] = separator;
	return to + value->length + 1;
}

/* A column of the day's minutes, with the codes of the dates. */
static Column
minutes_of(const Column *dates)
{
	Column		minutes = *dates;

	minutes.dictionary = allocate(dates->values * sizeof(Value));
	for (int i = 0; i < dates->values; i++)
	{
		const char *time = dates->dictionary[i].text + strlen("2001-01-01 ");

		minutes.dictionary[i] = text_of_integer(atoi(time) * 60 + atoi(time + strlen("00:")));
	}
	return minutes;
}

static void
write_rows(const Column *columns)
{
	Column		minutes = minutes_of(&columns[DATE]);
	char		line[STORED * sizeof(Value) + 2 * sizeof(Value)];

	for (int row = 0; row < columns[DATE].rows; row++)
	{
		char	   *end = append(line, &columns[DATE], row, ',');

		end = append(end, &columns[DELAY], row, ',');
		end = append(end, &columns[DISTANCE], row, ',');
		end = append(end, &minutes, row, ',');
		end = append(end, &columns[ORIGIN], row, ',');
		end = append(end, &columns[DESTINATION], row, '\n');
		fwrite(line, 1, end - line, stdout);
	}
	free(minutes.dictionary);
}

/* Writes the rows of a row group, whose metadata *group is passed over. */
static void
write_group(Bytes file, Bytes *group)
{
	Bytes		chunks = field_of(*group, 1, LIST);
	Column		columns[STORED];
	int			type;

	if (enter_list(&chunks, &type) != STORED)
		fail("the number of columns is not known here");
	for (int i = 0; i < STORED; i++)
	{
		Bytes		chunk = file;

		take(&chunk, integer_of(field_of(chunks, 3, STRUCT), 9, INT64));
		read_dictionary(&chunk, i, &columns[i]);
		read_codes(&chunk, &columns[i]);
		if (columns[i].rows != columns[0].rows)
			fail("columns have different numbers of rows");
		take_value(&chunks, type);
	}
	write_rows(columns);
	for (int i = 0; i < STORED; i++)
	{
		free(columns[i].dictionary);
		free(columns[i].codes);
	}
	take_value(group, STRUCT);
}

static Bytes
read_file(const char *name)
{
	FILE	   *file = fopen(name, "rb");
	Bytes		result;
	unsigned char *bytes;
	long		size;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0)
		fail("the file cannot be read");
	rewind(file);
	bytes = allocate(size);
	if (fread(bytes, 1, size, file) != (size_t) size)
		fail("the file cannot be read");
	fclose(file);
	result.at = bytes;
	result.end = bytes + size;
	return result;
}

int
main(int argc, char **argv)
{
	Bytes		file;
	Bytes		tail;
	Bytes		groups;
	uint64_t	size;
	int			type;

	if (argc != 2)
		fail("usage: flights FILE.parquet");
	file = read_file(argv[1]);
	tail = file;
	take(&tail, file.end - file.at > 8 ? file.end - file.at - 8 : 0);
	size = take_little_endian(&tail, 4);	/* of the metadata, which is before it; "PAR1" is behind */
	groups = file;
	take(&groups, file.end - file.at - 8 - size);
	groups = field_of(groups, 4, LIST);
	puts("date,delay,distance,minute,origin,destination");
	for (int n = enter_list(&groups, &type); n > 0; n--)
		write_group(file, &groups);
	if (fflush(stdout) != 0)
		fail("the rows cannot be written");
	return 0;
}
