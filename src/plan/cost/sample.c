/* SPDX-License-Identifier: PostgreSQL */
/*
 * sample.c
 *		Takes a sample of an array's elements.
 */
#include "plan/cost/sample.h"

#include "utils/array.h"
#include "utils/lsyscache.h"

Datum
rtscan_sample_array(Datum array_datum, int wanted, double *scale)
{
	ArrayType  *array = DatumGetArrayTypeP(array_datum);
	Oid			type = ARR_ELEMTYPE(array);
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values;
	bool	   *nulls;
	int			n,
				kept = 0;

	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	deconstruct_array(array, type, typlen, typbyval, typalign, &values, &nulls, &n);
	for (int i = 0; i < wanted; i++)
	{
		int			at = (int) ((int64) i * n / wanted);

		if (!nulls[at])
			values[kept++] = values[at];
	}
	*scale = (double) n / wanted;
	return PointerGetDatum(construct_array(values, kept, type, typlen, typbyval, typalign));
}
