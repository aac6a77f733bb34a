/*
 * member_codes.h
 *		Which codes of a key column's dictionary have values that are in a set of exact integers.
 *
 * A value looked up in a dictionary takes as long as dozens of its entries that pass by: so where many are asked for, all entries are asked
 * whether they are in the set.
 */
#ifndef RTSCAN_MEMBER_CODES_H
#define RTSCAN_MEMBER_CODES_H

#include "rtscan.h"

#include "row/schema.h"
#include "segment/members.h"

/*
 * A bit for each code, that of NULL too, and some behind it that are not set; in the current memory context.  The column is no plain one, and
 * its keys are exact integers but for the sign.  The members are prepared for all integers.
 */
extern uint64 *rtscan_member_codes(const RtscanMembers *members, RtscanReader *reader, int column, const RtscanColumn *type);

#endif							/* RTSCAN_MEMBER_CODES_H */
