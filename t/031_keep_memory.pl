# Tests rtscan.keep_memory: memory that a query frees stays with the session for the next one, so that the system
# need not provide its pages again. The setting can be changed in a session.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

plan skip_all => 'only glibc is told what to keep' if `ldd --version 2>&1` !~ /GNU|GLIBC/i;
plan skip_all => 'a sanitizer has an allocator of its own' if `pg_config --cflags` =~ /-fsanitize/;

my $node = new_node('keep_memory');
$node->start;
create_tables($node, t => [ '', 60_000 ]);

# Return the number of page faults in this session while it sorted some 8 MB of the index.
$node->safe_psql('postgres', q{
CREATE FUNCTION faults() RETURNS bigint LANGUAGE sql
	AS $$ SELECT (string_to_array(pg_read_file('/proc/self/stat'), ' '))[10]::bigint $$;
CREATE FUNCTION sort_often() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
BEGIN
	FOR i IN 1 .. 12 LOOP
		IF i = 3 THEN
			before := faults();
		END IF;
		PERFORM a FROM (SELECT a, b FROM t WHERE a < 990 ORDER BY b || a OFFSET 0) s;
	END LOOP;
	RETURN faults() - before;
END $$});

my $settings = "SET enable_seqscan = off; SET work_mem = '64MB'; SET max_parallel_workers_per_gather = 0";

# Run in one session with each of these settings.
sub faults_with
{
	return split /\n/, $node->safe_psql('postgres',
		join('; ', $settings, map { "SET rtscan.keep_memory = '$_'; SELECT sort_often()" } @_));
}

my ($kept, $given_back, $kept_again) = faults_with('64MB', '0', '64MB');
note("$kept, $given_back, $kept_again page faults");
cmp_ok($given_back, '>', 5000, 'pages that are given back are brought again');
cmp_ok($kept, '<', $given_back / 4, 'pages that are kept are not');
cmp_ok($kept_again, '<', $given_back / 4, 'and it can be switched on again');
$node->stop;

done_testing();
