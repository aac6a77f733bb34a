/* SPDX-License-Identifier: PostgreSQL */
/*
 * imply_test.h
 *		Derives ranges of a key column from any clause of this column alone, by testing its values.
 */
#ifndef RTSCAN_IMPLY_TEST_H
#define RTSCAN_IMPLY_TEST_H

#include "rtscan.h"

#include "plan/quals/quals.h"

/*
 * Return the qual that a clause implies, whose comparison is a test (search/filter/value_test.h).  NULL if the clause
 * has other columns than one key column, has parameters or functions that are not PostgreSQL's own, or may raise an
 * error: values of dead rows are tested, too.
 */
extern RtscanQual *rtscan_imply_test(IndexOptInfo *index, Expr *clause);

#endif							/* RTSCAN_IMPLY_TEST_H */
