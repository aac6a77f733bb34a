/* SPDX-License-Identifier: PostgreSQL */
/*
 * integers.c
 *		Integers of the rows of a column that is being written.
 */
#include "segment/integers.h"

StaticAssertDecl(sizeof(Datum) == sizeof(int64), "an array of integers has room for as many Datums");

static const int64 *
read_values(const RtscanIntegers *integers, uint32 first, uint32 n, int64 *room)
{
	rtscan_exact_encode(integers->type->exact, (const Datum *) integers->source + first, n, room);
	return room;
}

static const int64 *
read_keys(const RtscanIntegers *integers, uint32 first, uint32 n, int64 *room)
{
	rtscan_key_decode_all(integers->type->key_kind, (const uint64 *) integers->source + first, n, (Datum *) room);
	rtscan_exact_encode(integers->type->exact, (Datum *) room, n, room);
	return room;
}

static const int64 *
read_array(const RtscanIntegers *integers, uint32 first, uint32 n, int64 *room)
{
	return (const int64 *) integers->source + first;
}

static const int64 *
read_codes(const RtscanIntegers *integers, uint32 first, uint32 n, int64 *room)
{
	const uint32 *codes = (const uint32 *) integers->source + first;

	for (uint32 i = 0; i < n; i++)
		room[i] = codes[i];
	return room;
}

RtscanIntegers
rtscan_integers_of_values(const RtscanColumn *type, const RtscanColumnRows *column, uint32 rows)
{
	return (RtscanIntegers) {
		.read = rtscan_key_tells_image(type->key_kind) ? read_keys : read_values,
		.source = column->values,
		.type = type,
		.nulls = column->nulls,
		.rows = rows,
	};
}

RtscanIntegers
rtscan_integers_in_array(const int64 *integers, const uint64 *nulls, uint32 rows)
{
	return (RtscanIntegers) {.read = read_array, .source = integers, .nulls = nulls, .rows = rows};
}

RtscanIntegers
rtscan_integers_of_codes(const uint32 *codes, const uint64 *nulls, uint32 rows)
{
	return (RtscanIntegers) {.read = read_codes, .source = codes, .nulls = nulls, .rows = rows};
}
