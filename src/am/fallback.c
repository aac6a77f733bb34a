/*
 * fallback.c
 *		Tell who creates an index that a column is not compared as btree would compare it.
 *
 * A type without an operator class gets that of a type which it can be taken for: citext gets text's, and PostgreSQL does not say so.
 * The column's own class is btree's default, which rtscan may not have yet: types of other extensions have come after it.
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

/* The type that a type's values are compared as, by an access method's default class; InvalidOid if there is none. */
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
		psprintf("Create an operator class for type %s, drop the index and create it again.", format_type_be_qualified(type));
}

/* Another class than the default is the user's own choice.  Names have their schemas: from 17 on an index is built with a short path. */
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

/* Is this index the only partition of its parent yet, and that of its own?  Then it tells for those that follow. */
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
