/* SPDX-License-Identifier: PostgreSQL */
/*
 * composite.h
 *		Numbers the combinations of several attributes of a dimension.
 *
 * GROUP BY often has several attributes of one dimension: a product's name, brand and category.  Of all combinations of
 * their values, only those of the dimension's rows occur, mostly far fewer than the product of the numbers of values.
 * So the combinations that occur are numbered, and a group's key is one number in place of three.  Rows of a fact
 * without match have the combination of the row of NULLs.
 *
 * Two combinations have the same number if their values are identical, bit by bit (dimension.h).
 */
#ifndef RTSCAN_COMPOSITE_H
#define RTSCAN_COMPOSITE_H

#include "rtscan.h"

#include "run/star/dimension.h"

typedef struct RtscanComposite
{
	RtscanDimension *dimension;
	int			n;				/* number of attributes */
	RtscanAttribute **attributes;
	uint64		loads;			/* the load of the dimension (RtscanDimension.loads) that the members below are for */
	uint32		count;			/* all numbers are less than this */
	const uint32 *numbers;		/* by row of the dimension: the number of its combination */
	uint32	   *rows;			/* by number: a row with the combination; only meaningful for numbers that occur */
} RtscanComposite;

/* Create a composite of some attributes of a dimension, in the current memory context. */
extern RtscanComposite *rtscan_create_composite(RtscanDimension *dimension, RtscanAttribute **attributes, int n);

/* Number the combinations of the dimension's rows in memory, unless that has been done. */
extern void rtscan_number_composite(RtscanComposite *composite);

/*
 * Are two values of an attribute in memory equal, by an equality operator and a collation, only if they are identical?
 */
extern bool rtscan_attribute_is_image(const RtscanDimension *dimension, const RtscanAttribute *attribute, Oid type,
									  Oid operator, Oid collation);

/* Return the value of attribute number "i" in the combination "number". */
static inline Datum
rtscan_decompose(const RtscanComposite *composite, int i, uint32 number, bool *isnull)
{
	uint32		row = composite->rows[number];

	*isnull = composite->attributes[i]->isnull[row];
	return composite->attributes[i]->values[row];
}

#endif							/* RTSCAN_COMPOSITE_H */
