/* SPDX-License-Identifier: PostgreSQL */
/*
 * prefix.c
 *		Matches "column LIKE 'prefix%'" as a range of values, if the column sorts by bytes.
 */
#include "plan/quals/quals.h"

#include "access/stratnum.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* Does a text column sort by bytes? */
static bool
sorts_by_bytes(IndexOptInfo *index, int column)
{
	Oid			compare;

	if (column >= index->nkeycolumns || index->opcintype[column] != TEXTOID)
		return false;
	compare = get_opfamily_proc(index->opfamily[column], TEXTOID, TEXTOID, RTSCAN_COMPARE_PROC);
	return compare == F_BTTEXT_PATTERN_CMP ||
		(compare == F_BTTEXTCMP && rtscan_compat_sorts_by_bytes(index->indexcollations[column]));
}

/* A pattern without special characters, except for % at the end. */
typedef struct Prefix
{
	char	   *bytes;
	int			length;
	bool		open;			/* the pattern ends with %, so that anything may follow */
} Prefix;

/* Read a pattern; false if it has special characters other than % at its end. */
static bool
read_prefix(const char *pattern, int length, Prefix *prefix)
{
	*prefix = (Prefix) {.bytes = palloc(length + 1)};
	for (int i = 0; i < length; i++)
	{
		if (pattern[i] == '%')
			prefix->open = true;
		else if (prefix->open || pattern[i] == '_' || (pattern[i] == '\\' && ++i == length))
			return false;
		else
			prefix->bytes[prefix->length++] = pattern[i];
	}
	return true;
}

static Expr *
make_text(const char *bytes, int length)
{
	return (Expr *) makeConst(TEXTOID, -1, InvalidOid, -1, PointerGetDatum(cstring_to_text_with_len(bytes, length)),
							  false, false);
}

/*
 * Return the least byte string that is above all strings with the prefix; NULL if there is none.  The byte string may
 * be invalid in every encoding.
 */
static Expr *
make_end(const Prefix *prefix)
{
	char	   *bytes = pnstrdup(prefix->bytes, prefix->length);

	for (int length = prefix->length; length > 0; length--)
		if ((unsigned char) bytes[length - 1] < 0xFF)
		{
			bytes[length - 1]++;
			return make_text(bytes, length);
		}
	return NULL;
}

/* Make the range of the values that begin with the prefix or, if "negated", the ranges of all other values. */
static RtscanQual *
make_range(IndexOptInfo *index, int column, Oid collation, const Prefix *prefix, bool negated)
{
	Oid			family = index->opfamily[column];
	Oid			less = get_opfamily_member(family, TEXTOID, TEXTOID, BTLessStrategyNumber);
	Oid			not_less = get_opfamily_member(family, TEXTOID, TEXTOID, BTGreaterEqualStrategyNumber);
	Expr	   *end = make_end(prefix);
	RtscanQual *qual = palloc0(sizeof(RtscanQual));

	if (!OidIsValid(less) || !OidIsValid(not_less))
		return NULL;
	qual->kind = negated ? RTSCAN_FILTER_OR : RTSCAN_FILTER_AND;
	qual->parts = list_make1(rtscan_make_condition(index, column, RTSCAN_CONDITION_ANY, negated ? less : not_less,
												   collation, false, make_text(prefix->bytes, prefix->length)));
	if (end)
		qual->parts = lappend(qual->parts, rtscan_make_condition(index, column, RTSCAN_CONDITION_ANY,
																 negated ? not_less : less, collation, false, end));
	return qual;
}

static RtscanQual *
make_equality(IndexOptInfo *index, int column, Oid collation, const Prefix *prefix, bool negated)
{
	Oid			equal = get_opfamily_member(index->opfamily[column], TEXTOID, TEXTOID, BTEqualStrategyNumber);

	return !OidIsValid(equal) ? NULL :
		rtscan_make_condition(index, column, negated ? RTSCAN_CONDITION_NONE : RTSCAN_CONDITION_ANY, equal, collation,
							  false, make_text(prefix->bytes, prefix->length));
}

RtscanQual *
rtscan_match_prefix(IndexOptInfo *index, int column, Oid operator, Oid collation, Expr *pattern, bool negated)
{
	text	   *value;
	Prefix		prefix;

	if (operator != OID_TEXT_LIKE_OP)
	{
		operator = get_negator(operator);
		negated = !negated;
	}
	if (operator != OID_TEXT_LIKE_OP || !IsA(pattern, Const) || ((Const *) pattern)->constisnull ||
		!OidIsValid(collation) || !get_collation_isdeterministic(collation) || !sorts_by_bytes(index, column))
		return NULL;
	value = DatumGetTextPP(((Const *) pattern)->constvalue);
	if (!read_prefix(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), &prefix))
		return NULL;
	return prefix.open ? make_range(index, column, collation, &prefix, negated)
		: make_equality(index, column, collation, &prefix, negated);
}
