/* SPDX-License-Identifier: PostgreSQL */
/*
 * first_of_each_parts.h
 *		The state of a search for the first rows of each group, and functions that only first_of_each*.c share.
 *
 * first_of_each.c reads rows in passes, first_of_each_cells.c finds their groups by small integers, and
 * first_of_each_groups.c keeps the groups.
 */
#ifndef RTSCAN_FIRST_OF_EACH_PARTS_H
#define RTSCAN_FIRST_OF_EACH_PARTS_H

#include "search/order/first_rows_parts.h"

/* Numbers in place of a group's number. */
#define RTSCAN_EACH_UNKNOWN		PG_UINT32_MAX	/* the group has not been looked up */
#define RTSCAN_EACH_REFUSED		(PG_UINT32_MAX - 1) /* the group belongs to another pass */
#define RTSCAN_EACH_CANDIDATE	(PG_UINT32_MAX - 2) /* RtscanFirstOfEach.candidate */

/* A row that a group keeps. */
typedef struct RtscanEachRow
{
	uint32		source;			/* number of the source */
	uint32		row;			/* number in the segment, or among the pending rows */
	RtscanFirstKey keys[FLEXIBLE_ARRAY_MEMBER]; /* by column of the order behind the group's: key of the row */
} RtscanEachRow;

/*
 * A group.  All groups have the same size, and lie one behind another.  Behind the keys, there is room for as many rows
 * as a group keeps, in order.
 */
typedef struct RtscanEachGroup
{
	uint32		n;				/* number of rows */
	uint32		hash;			/* hash of the keys */
	RtscanFirstKey keys[FLEXIBLE_ARRAY_MEMBER]; /* by column of the group; none if groups are dense */
} RtscanEachGroup;

/* The groups of a pass. */
typedef struct RtscanEachGroups
{
	MemoryContext context;		/* memory context of the groups, and of values by reference */
	Size		by_reference;	/* memory that values by reference take, in bytes */
	char	   *array;			/* the groups */

	/*
	 * by group: the greatest place, in the first column behind the group's, of a row that may be among the first of
	 * the group; PG_INT64_MAX while the group has room.  Without such places, all rows count as place 0; then the
	 * bound is -1 if no further row is wanted, as there is no other column.
	 */
	int64	   *bounds;
	uint32		n;				/* number of groups; if they are dense, of cells */
	uint32		capacity;		/* number of groups that the array has room for */
	struct each_hash *table;	/* the groups by their keys, unless they are dense */
} RtscanEachGroups;

/* A column of the group as a digit of cells. */
typedef struct RtscanEachDigit
{
	bool		coded;			/* are the digits codes of the current segment? */
	int64		least;			/* the least place, if they are not */
	uint32		first;			/* digit of the least place */
	uint32		null;			/* digit of NULL */
	uint32		stride;			/* what the digit is multiplied by */
} RtscanEachDigit;

/* A block: rows of a chunk that are read at a time. */
typedef struct RtscanEachBlock
{
	uint32		cells[RTSCAN_FIRST_BLOCK];	/* cell of each row */
	uint32		groups[RTSCAN_FIRST_BLOCK]; /* number of each row's group */
	int64		places[RTSCAN_FIRST_BLOCK]; /* place of each row in the first column behind the group's */
	uint32		m;				/* number of candidates: rows that may be among the first of their group */
	uint32		candidates[RTSCAN_FIRST_BLOCK]; /* places of the candidates in the block, ascending */
	uint32		rows[RTSCAN_FIRST_BLOCK];	/* row numbers of the candidates */
	uint32		list[RTSCAN_LIST_ROOM]; /* work space of rtscan_select_rows() */
} RtscanEachBlock;

/* The state of a search for the first rows of each group. */
typedef struct RtscanFirstOfEach
{
	RtscanOrdered *ordered;
	RtscanFirstColumn *columns; /* the columns of the order, which begin with those of the group */
	FmgrInfo   *hashes;			/* hash function of each column of the group that has no places */
	int			nkeys;			/* number of columns of the group */
	int			nmore;			/* number of the order's other columns */
	uint32		of_each;		/* the most rows that a group keeps */
	uint32		block_rows;		/* number of rows of a block */
	int			passes;			/* number of passes, with the current one */
	List	   *sources;		/* the sources, in the order in which they are read */
	MemoryContext short_context;	/* memory context of the current block */

	/* first_of_each_groups.c: the groups of the pass */
	RtscanEachGroups kept;
	bool		dense;			/* is the number of a group its cell? */
	Size		row_size;
	Size		group_size;
	Size		limit;			/* memory that the groups may take, in bytes */
	RtscanEachGroup *candidate; /* keys of the group that is looked up */
	RtscanEachRow *candidate_row;	/* the row that is compared */
	const RtscanFirstKey *after;	/* keys of the last group of the previous pass; NULL in the first pass */
	const RtscanFirstKey *last; /* keys of the last group that the pass accepts; NULL: it accepts all */

	/* first_of_each_cells.c: the current segment */
	RtscanOrderedSource *source;
	RtscanEachDigit digits[INDEX_MAX_KEYS]; /* the columns of the group */
	uint32		ncells;			/* number of cells; 0: too many, or groups are dense, or the source is not a segment */
	uint32	   *groups_of_cells;	/* by cell: number of the group, unless groups are dense */
	uint32		cells_capacity; /* number of cells that the array has room for */
	RtscanTyped typed[INDEX_MAX_KEYS];	/* by column of the group: its digits in the current chunk */
	bool		is_bounded;		/* have all groups of the segment as many rows as they keep? */
	int64		bound;			/* if so, no place of their rows in the first column behind the group's is greater */

	/* output */
	uint32	   *sorted;			/* the numbers of the groups in order, unless dense */
	uint32		next_group;		/* number of groups that have been returned */
	uint32		next_row;		/* number of rows of the next group that have been returned */

	RtscanEachBlock block;		/* the last member, since its arrays are not cleared */
} RtscanFirstOfEach;

/* Return a group by its number. */
static inline RtscanEachGroup *
rtscan_each_group(const RtscanFirstOfEach *each, uint32 number)
{
	return number == RTSCAN_EACH_CANDIDATE ? each->candidate :
		(RtscanEachGroup *) (each->kept.array + number * each->group_size);
}

/* Return a row of a group by its number. */
static inline RtscanEachRow *
rtscan_each_row(const RtscanFirstOfEach *each, const RtscanEachGroup *group, uint32 number)
{
	return (RtscanEachRow *) ((char *) group + each->group_size - (each->of_each - number) * each->row_size);
}

/*
 * first_of_each_groups.c: begin a pass without groups.  Groups may then be dense: "cells" is their number, or 0 if they
 * are not.
 */
extern void rtscan_begin_each_groups(RtscanFirstOfEach *each, uint32 cells);

/*
 * first_of_each_groups.c: return the number of the candidate's group, which is made if there is none.  Returns
 * RTSCAN_EACH_REFUSED if the group belongs to another pass.  If the groups take too much memory, the last half of them
 * is dropped, and *dropped is set: then groups have other numbers.
 */
extern uint32 rtscan_find_each_group(RtscanFirstOfEach *each, bool *dropped);

/*
 * first_of_each_groups.c: keep the candidate row if it is among the first rows of the group.  If its values take too
 * much memory, the last half of the groups is dropped, and *dropped is set.
 */
extern void rtscan_enter_each_row(RtscanFirstOfEach *each, uint32 number, bool *dropped);

/* first_of_each_groups.c: may rows have values that are passed by reference, apart from the group's? */
extern bool rtscan_each_has_references(const RtscanFirstOfEach *each);

/* first_of_each_groups.c: sort the groups at the end of a pass, unless they are dense. */
extern void rtscan_sort_each_groups(RtscanFirstOfEach *each);

/*
 * first_of_each_cells.c: find bounds of the exact integers of a column in a source that is a segment.  False if they
 * are not known.
 */
extern bool rtscan_find_each_range(RtscanOrderedSource *source, int column, int64 *least, int64 *greatest);

/* first_of_each_cells.c: is it known that no row of a source, which is a segment, is NULL in a column? */
extern bool rtscan_each_has_no_nulls(const RtscanOrderedSource *source, int column);

/* first_of_each_cells.c: return the number of cells of all rows; 0 if they are too many, or not known. */
extern uint32 rtscan_count_each_cells(RtscanFirstOfEach *each);

/* first_of_each_cells.c: go to a source.  If groups are not dense, give cells to the source's rows, if they are few. */
extern void rtscan_begin_each_source(RtscanFirstOfEach *each, RtscanOrderedSource *source);

/* first_of_each_cells.c: forget which groups the cells have. */
extern void rtscan_forget_each_cells(RtscanFirstOfEach *each);

/* first_of_each_cells.c: read the digits of a chunk's rows. */
extern void rtscan_read_each_digits(RtscanFirstOfEach *each, const RtscanSelection *selection);

/*
 * first_of_each_cells.c: find the groups of n rows of the selection, from element "from" on, as far as they are known.
 */
extern void rtscan_find_each_cells(RtscanFirstOfEach *each, uint32 from, uint32 n);

/* first_of_each_cells.c: return the cell of a row by its keys; groups must be dense. */
extern uint32 rtscan_each_cell_of_keys(const RtscanFirstOfEach *each, const RtscanFirstKey *keys);

/* first_of_each_cells.c: set is_bounded and bound for the current segment. */
extern void rtscan_find_each_bound(RtscanFirstOfEach *each);

#endif							/* RTSCAN_FIRST_OF_EACH_PARTS_H */
