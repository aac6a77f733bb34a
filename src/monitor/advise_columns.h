/* SPDX-License-Identifier: PostgreSQL */
/*
 * advise_columns.h
 *		Find the columns of tables that a query uses, and what for.
 */
#ifndef RTSCAN_ADVISE_COLUMNS_H
#define RTSCAN_ADVISE_COLUMNS_H

#include "rtscan.h"

#include "nodes/parsenodes.h"

/* A column that queries use, or an expression over one of jsonb. */
typedef struct RtscanUsedColumn
{
	Oid			table;			/* the table that the query names */
	Node	   *expression;		/* Vars have varno 1 */
	bool		is_key;			/* is it in a condition, or does it order rows?  Else it is grouped or aggregated */
	double		weight;			/* how much it matters which columns an index has; set by the caller */
} RtscanUsedColumn;

/*
 * Return the columns that a query uses in conditions, orders, groups and aggregates (RtscanUsedColumn *), each once.
 * Columns that it only returns are left out: they are read from the table.
 */
extern List *rtscan_used_columns(Query *query);

/* Add a column to a list of them, or its weight and use to those of the equal column in the list. */
extern List *rtscan_add_used_column(List *columns, const RtscanUsedColumn *column);

#endif							/* RTSCAN_ADVISE_COLUMNS_H */
