/* SPDX-License-Identifier: PostgreSQL */
/*
 * validate.c
 *		Validate operator classes, which have the same members as those of btree.
 */
#include "am/am.h"

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#define ALL_STRATEGIES	((1 << (RTSCAN_STRATEGIES + 1)) - 2)

/* The state of a validation. */
typedef struct Validation
{
	const char *family_name;	/* name of the operator family */
	Oid			family;
	Oid			type;			/* input type of the class */
	const char *class_name;		/* name of the class */
	bool		valid;			/* has no fault been found so far? */
} Validation;

#define complain(validation, ...) \
	do { \
		ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION), errmsg(__VA_ARGS__))); \
		(validation)->valid = false; \
	} while (0)

static bool
signature_is_right(const Form_pg_amproc proc)
{
	switch (proc->amprocnum)
	{
		case RTSCAN_COMPARE_PROC:
			return check_amproc_signature(proc->amproc, INT4OID, true, 2, 2,
										  proc->amproclefttype, proc->amprocrighttype);
		case RTSCAN_SORTSUPPORT_PROC:
			return check_amproc_signature(proc->amproc, VOIDOID, true, 1, 1, INTERNALOID);
		default:
			return false;
	}
}

static void
validate_function(Validation *validation, const Form_pg_amproc proc)
{
	if (proc->amprocnum != RTSCAN_COMPARE_PROC && proc->amprocnum != RTSCAN_SORTSUPPORT_PROC)
		complain(validation,
				 "operator family \"%s\" of access method rtscan contains function %s with invalid support number %d",
				 validation->family_name, format_procedure(proc->amproc), proc->amprocnum);
	else if (!signature_is_right(proc))
		complain(validation,
				 "operator family \"%s\" of access method rtscan contains function %s with wrong signature for support number %d",
				 validation->family_name, format_procedure(proc->amproc), proc->amprocnum);
}

static void
validate_operator(Validation *validation, const Form_pg_amop op)
{
	if (op->amopstrategy < 1 || op->amopstrategy > RTSCAN_STRATEGIES)
		complain(validation,
				 "operator family \"%s\" of access method rtscan contains operator %s with invalid strategy number %d",
				 validation->family_name, format_operator(op->amopopr), op->amopstrategy);
	if (op->amoppurpose != AMOP_SEARCH || OidIsValid(op->amopsortfamily))
		complain(validation,
				 "operator family \"%s\" of access method rtscan contains invalid ORDER BY specification for operator %s",
				 validation->family_name, format_operator(op->amopopr));
	if (!check_amop_signature(op->amopopr, BOOLOID, op->amoplefttype, op->amoprighttype))
		complain(validation, "operator family \"%s\" of access method rtscan contains operator %s with wrong signature",
				 validation->family_name, format_operator(op->amopopr));
}

static char *
family_name(Oid family)
{
	HeapTuple	tuple = SearchSysCache1(OPFAMILYOID, ObjectIdGetDatum(family));
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator family %u", family);
	name = pstrdup(NameStr(((Form_pg_opfamily) GETSTRUCT(tuple))->opfname));
	ReleaseSysCache(tuple);
	return name;
}

/* Check a pair of types: it must have the comparison function and, if it has any operators, all of them. */
static void
validate_group(Validation *validation, const OpFamilyOpFuncGroup *group)
{
	if (group->operatorset != 0 && group->operatorset != ALL_STRATEGIES)
		complain(validation,
				 "operator family \"%s\" of access method rtscan is missing operator(s) for types %s and %s",
				 validation->family_name, format_type_be(group->lefttype), format_type_be(group->righttype));
	if ((group->functionset & (1 << RTSCAN_COMPARE_PROC)) == 0)
		complain(validation,
				 "operator family \"%s\" of access method rtscan is missing support function %d for types %s and %s",
				 validation->family_name, RTSCAN_COMPARE_PROC,
				 format_type_be(group->lefttype), format_type_be(group->righttype));
}

static void
validate_groups(Validation *validation, List *groups)
{
	bool		found = false;
	ListCell   *cell;

	foreach(cell, groups)
	{
		OpFamilyOpFuncGroup *group = lfirst(cell);

		validate_group(validation, group);
		if (group->lefttype == validation->type && group->righttype == validation->type)
			found = group->operatorset == ALL_STRATEGIES;
	}
	if (!found)
		complain(validation, "operator class \"%s\" of access method rtscan is missing operator(s)",
				 validation->class_name);
}

bool
rtscan_validate(Oid opclass)
{
	HeapTuple	class_tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass class_form;
	Validation	validation;
	CatCList   *operators,
			   *functions;

	if (!HeapTupleIsValid(class_tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	class_form = (Form_pg_opclass) GETSTRUCT(class_tuple);
	validation = (Validation) {
		.family_name = family_name(class_form->opcfamily),
		.family = class_form->opcfamily,
		.type = class_form->opcintype,
		.class_name = NameStr(class_form->opcname),
		.valid = true,
	};

	operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(validation.family));
	functions = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(validation.family));
	for (int i = 0; i < functions->n_members; i++)
		validate_function(&validation, (Form_pg_amproc) GETSTRUCT(&functions->members[i]->tuple));
	for (int i = 0; i < operators->n_members; i++)
		validate_operator(&validation, (Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple));
	validate_groups(&validation, identify_opfamily_groups(operators, functions));

	ReleaseCatCacheList(functions);
	ReleaseCatCacheList(operators);
	ReleaseSysCache(class_tuple);
	return validation.valid;
}

/*
 * Choose dependencies as btree does: operators and functions for only the class's own type depend on the operator
 * class (hard dependencies), members for other types depend on the family (soft dependencies).
 */
void
rtscan_adjust_members(Oid opfamily, Oid opclass, List *operators, List *functions)
{
	Oid			type = InvalidOid;
	ListCell   *cell;

	if (OidIsValid(opclass))
	{
		CommandCounterIncrement();	/* makes the class's new catalog row visible */
		type = get_opclass_input_type(opclass);
	}
	foreach(cell, list_concat_copy(operators, functions))
	{
		OpFamilyMember *member = lfirst(cell);
		bool		own = OidIsValid(opclass) && member->lefttype == type && member->righttype == type;

		member->ref_is_hard = own;
		member->ref_is_family = !own;
		member->refobjid = own ? opclass : opfamily;
	}
}
