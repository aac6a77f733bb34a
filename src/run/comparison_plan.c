/*
 * comparison_plan.c
 *		What is asked of a column, and comparisons, as Lists, and back.
 */
#include "run/comparison_plan.h"

List *
rtscan_write_asked(const RtscanAsked *asked)
{
	List	   *oids = list_make5_oid(asked->subtype, asked->collation, asked->function, asked->family, asked->lefttype);

	return list_make2(list_make4_int(asked->kind, asked->column, asked->array, asked->strategy), oids);
}

RtscanAsked
rtscan_read_asked(List *written)
{
	List	   *numbers = linitial(written);
	List	   *oids = lsecond(written);

	return (RtscanAsked) {
		.kind = list_nth_int(numbers, 0),
		.column = list_nth_int(numbers, 1),
		.array = list_nth_int(numbers, 2) != 0,
		.strategy = list_nth_int(numbers, 3),
		.subtype = list_nth_oid(oids, 0),
		.collation = list_nth_oid(oids, 1),
		.function = list_nth_oid(oids, 2),
		.family = list_nth_oid(oids, 3),
		.lefttype = list_nth_oid(oids, 4),
	};
}

static List *
write_term(const RtscanTerm *term)
{
	return lappend_int(list_make5_int(term->kind, term->number, term->place, term->operation, term->left), term->right);
}

static RtscanTerm
read_term(List *written)
{
	return (RtscanTerm) {
		.kind = list_nth_int(written, 0),
		.number = list_nth_int(written, 1),
		.place = list_nth_int(written, 2),
		.operation = list_nth_int(written, 3),
		.left = list_nth_int(written, 4),
		.right = list_nth_int(written, 5),
	};
}

/* The comparison itself, its terms, and its ranges. */
List *
rtscan_write_comparison(const RtscanComparison *comparison)
{
	List	   *terms = NIL,
			   *ranges = NIL;

	for (int i = 0; i < comparison->n; i++)
		terms = lappend(terms, write_term(&comparison->terms[i]));
	for (int i = 0; i < comparison->nranges; i++)
		ranges = lappend(ranges, list_make2(rtscan_write_asked(&comparison->ranges[i].not_less),
											rtscan_write_asked(&comparison->ranges[i].not_more)));
	return list_make3(list_make3_int(comparison->strategy, comparison->left, comparison->right), terms, ranges);
}

RtscanComparison *
rtscan_read_comparison(List *written)
{
	RtscanComparison *comparison = palloc(sizeof(RtscanComparison));
	List	   *numbers = linitial(written),
			   *terms = lsecond(written),
			   *ranges = lthird(written);
	ListCell   *cell;

	*comparison = (RtscanComparison) {
		.strategy = linitial_int(numbers),
		.left = lsecond_int(numbers),
		.right = lthird_int(numbers),
		.terms = palloc(list_length(terms) * sizeof(RtscanTerm)),
		.ranges = palloc(Max(list_length(ranges), 1) * sizeof(RtscanAskedRange)),
	};
	foreach(cell, terms)
		comparison->terms[comparison->n++] = read_term(lfirst(cell));
	foreach(cell, ranges)
		comparison->ranges[comparison->nranges++] = (RtscanAskedRange) {
			.not_less = rtscan_read_asked(linitial(lfirst(cell))),
			.not_more = rtscan_read_asked(lsecond(lfirst(cell))),
		};
	return comparison;
}
