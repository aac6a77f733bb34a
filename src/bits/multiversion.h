/*
 * multiversion.h
 *		Inner loops, compiled for several instruction sets.
 *
 * Plain C that the compiler vectorises; where it can, it does so once for each of several
 * instruction sets, and the loader picks (function multi-versioning).
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
#define RTSCAN_MULTIVERSION		/* an ifunc resolver runs before a sanitizer's runtime does */
#endif

#endif							/* RTSCAN_MULTIVERSION_H */
