/* SPDX-License-Identifier: PostgreSQL */
/*
 * multiversion.h
 *		Compile inner loops for several instruction sets.
 *
 * The loops are plain C that the compiler vectorises.  If the compiler has function multi-versioning, it makes a
 * version for each of several instruction sets, and the loader picks the one for the processor.
 */
#ifndef RTSCAN_MULTIVERSION_H
#define RTSCAN_MULTIVERSION_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
	!defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if __GNUC__ >= 12
#define RTSCAN_MULTIVERSION __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define RTSCAN_MULTIVERSION __attribute__((target_clones("default", "avx2", "avx512f")))
#endif
#else
#define RTSCAN_MULTIVERSION		/* one version: if there is a sanitizer, it would start after the loader's choice */
#endif

#endif							/* RTSCAN_MULTIVERSION_H */
