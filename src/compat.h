/*
 * compat.h
 *		Differences between PostgreSQL's versions, and nothing else.
 */
#ifndef RTSCAN_COMPAT_H
#define RTSCAN_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 160000
#error "rtscan supports PostgreSQL 15"
#endif

#ifdef WORDS_BIGENDIAN
#error "rtscan's packed arrays are little-endian"
#endif

#endif							/* RTSCAN_COMPAT_H */
