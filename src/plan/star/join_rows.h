/*
 * join_rows.h
 *		How many rows of a table a dimension's conditions leave, where these go with the key that joins the two.
 *
 * PostgreSQL takes conditions of a dimension for independent of its key: of a calendar of 200 years "year = 2000" leaves a 200th, so it expects
 * that of the table's rows.  But where the table has rows of five years, a fifth are met.  Its index knows the least and the greatest key.  A
 * condition's column goes with the key if the dimension's rows lie in the order of both, as ANALYZE has seen: then the statistics tell which part
 * of the rows has keys that the table may have, and which part of those meets the conditions.  Conditions on other columns, as "month = 5",
 * stay independent.
 *
 * An estimate only becomes greater by that: of keys that seem to lie outside of the table's PostgreSQL's estimate stays.
 */
#ifndef RTSCAN_JOIN_ROWS_H
#define RTSCAN_JOIN_ROWS_H

#include "rtscan.h"

/* Called while the library is being loaded. */
extern void rtscan_init_join_rows(void);

#endif							/* RTSCAN_JOIN_ROWS_H */
