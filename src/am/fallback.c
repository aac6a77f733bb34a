/* SPDX-License-Identifier: PostgreSQL */
/*
 * fallback.c
 *		Report, when an index is created, columns that are not compared as a btree would compare them.
 *
 * A column whose type has no operator class for rtscan gets the class of a type to which it can be coerced: citext
 * gets the class of text, and PostgreSQL raises no message.  The proper class is the equivalent of btree's default
 * class.  rtscan may lack it, since types of other extensions may have been created after rtscan.
 */
#include "am/am.h"

#include "catalog/dependency.h"
#include "catalog/index.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Return the input type of an access method's default operator class for a type; InvalidOid if there is none. */
static Oid
compared_as(Oid type, Oid method)
{
	Oid			class = GetDefaultOpClass(type, method);

	return OidIsValid(class) ? get_opclass_input_type(class) : InvalidOid;
}

static char *
advice(Oid type)
{
	Oid			extension = getExtensionOfObject(TypeRelationId, type);

	return OidIsValid(extension) ?
		psprintf("Have a superuser call rtscan_mirror_classes(%s), then drop the index and create it again.",
				 quote_literal_cstr(get_extension_name(extension))) :
		psprintf("Create an operator class for type %s, drop the index and create it again.",
				 format_type_be_qualified(type));
}

/*
 * Report a column if it is not compared as btree would compare it.  A class other than the default is not reported,
 * since the user has chosen it.  Type names are qualified, since from PostgreSQL 17 on an index is built with a
 * restricted search_path.
 */
static void
tell_of_column(Relation index, int i)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(index), i);
	Oid			type = column->atttypid,
				ours = index->rd_opcintype[i],
				btrees = compared_as(type, BTREE_AM_OID);

	if (!OidIsValid(btrees) || btrees == ours ||
		get_index_column_opclass(RelationGetRelid(index), i + 1) != GetDefaultOpClass(type, index->rd_rel->relam))
		return;
	ereport(NOTICE,
			(errmsg("column \"%s\" of index \"%s\" is compared as %s, not as %s", NameStr(column->attname),
					RelationGetRelationName(index), format_type_be(ours), format_type_be_qualified(btrees)),
			 errdetail("Type %s has no operator class for access method rtscan. The index does not look up conditions with its operators.",
					   format_type_be_qualified(btrees)),
			 errhint("%s", advice(getBaseType(type)))));
}

/*
 * Is this index the only partition of its parent so far, and each of its ancestors the only partition of its own
 * parent?  Then its report also covers the partitions that follow.  True for an index that is no partition.
 */
static bool
is_first_of_partitions(Relation index)
{
	for (Oid child = RelationGetRelid(index); get_rel_relispartition(child);)
	{
		child = get_partition_parent(child, false);
		if (list_length(find_inheritance_children(child, NoLock)) > 1)
			return false;
	}
	return true;
}

void
rtscan_tell_of_fallbacks(Relation index)
{
	if (ReindexIsProcessingIndex(RelationGetRelid(index)) || !is_first_of_partitions(index))
		return;
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
		tell_of_column(index, i);
}
