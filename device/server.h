/* SPDX-License-Identifier: PostgreSQL */
/*
 * server.h
 *		Serve backends: connections, shared areas, uploads and requests.
 */
#ifndef RTSCAN_DEVICE_SERVER_H
#define RTSCAN_DEVICE_SERVER_H

#include "evaluate.h"
#include "pairs.h"
#include "vectors.h"

/*
 * Serve backends until the worker that started the program closes its end of standard input.  listener is the
 * listening socket.
 */
extern void serve(Context *context, Cache *cache, Evaluator *evaluator, PairSorter *pairs, VectorMaker *vectors,
				  int listener);

#endif							/* RTSCAN_DEVICE_SERVER_H */
