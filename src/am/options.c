/*
 * options.c
 *		Reloptions.
 */
#include "am/am.h"

#include "access/reloptions.h"

static relopt_kind option_kind;

void
rtscan_init_options(void)
{
	option_kind = add_reloption_kind();
	add_int_reloption(option_kind, "sieve_bins",
					  "Number of bins that a column's ranks are cut into.",
					  RTSCAN_DEFAULT_BINS, RTSCAN_MIN_BINS, RTSCAN_MAX_BINS, AccessExclusiveLock);
	add_int_reloption(option_kind, "sieve_components",
					  "Number of components that bins are encoded in: one (faster, larger) or two.",
					  RTSCAN_DEFAULT_COMPONENTS, 1, 2, AccessExclusiveLock);
}

bytea *
rtscan_options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt table[] = {
		{.optname = "sieve_bins", .opttype = RELOPT_TYPE_INT, .offset = offsetof(RtscanOptions, sieve_bins)},
		{.optname = "sieve_components", .opttype = RELOPT_TYPE_INT, .offset = offsetof(RtscanOptions, sieve_components)},
	};

	return (bytea *) build_reloptions(reloptions, validate, option_kind, sizeof(RtscanOptions),
									  table, lengthof(table));
}

int
rtscan_sieve_bins(Relation index)
{
	RtscanOptions *options = (RtscanOptions *) index->rd_options;

	return options ? options->sieve_bins : RTSCAN_DEFAULT_BINS;
}

int
rtscan_sieve_components(Relation index)
{
	RtscanOptions *options = (RtscanOptions *) index->rd_options;

	return options ? options->sieve_components : RTSCAN_DEFAULT_COMPONENTS;
}
