/*
 * server.h
 *		Serve backends: their connections, areas, uploads and requests.
 */
#ifndef RTSCAN_DEVICE_SERVER_H
#define RTSCAN_DEVICE_SERVER_H

#include "evaluate.h"
#include "pairs.h"
#include "vectors.h"

/*
 * Serve until the worker that started the program is gone: until its end of standard
 * input is closed.  listener is the listening socket.
 */
extern void serve(Context *context, Cache *cache, Evaluator *evaluator, PairSorter *pairs, VectorMaker *vectors,
				  int listener);

#endif							/* RTSCAN_DEVICE_SERVER_H */
