# Tests that the paths of RtscanScan survive if another preloaded library deletes paths of tables, as pg_hint_plan
# does, in whatever order the libraries are listed, and after a crash.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $node = new_node('hooks', "restart_after_crash = on\n");
my $library = PostgreSQL::Test::Utils::tempdir() . '/hints';
command_ok([ $ENV{CC} // 'cc', '-shared', '-fPIC', '-O2', '-I', $node->config_data('--includedir-server'), '-o', "$library.so",
	"$FindBin::RealBin/hints/hints.c" ], 'the other library is built');

my $query = 'SELECT a, b FROM t WHERE a < 5 AND a >= 0';
my $plan = "SET rtscan.enable_aggregate = off; EXPLAIN (COSTS OFF) $query";

$node->append_conf('postgresql.conf', "shared_preload_libraries = '$library'\n");
$node->start;
create_tables($node, t => [ '', 20_000 ]);
$node->safe_psql('postgres', 'VACUUM ANALYZE t');
my $rows = $node->safe_psql('postgres', "SET rtscan.enable_scan = off; SELECT count(*) FROM ($query) s");

foreach my $libraries ("rtscan, $library", "$library, rtscan")
{
	$node->append_conf('postgresql.conf', "shared_preload_libraries = '$libraries'\n");
	$node->restart;
	like($node->safe_psql('postgres', $plan), qr/RtscanScan/, "RtscanScan is planned: $libraries");
	like($node->safe_psql('postgres', "SET rtscan.enable_scan = off; $plan"), qr/^Seq Scan on t/, "the other library's paths: $libraries");
	is($node->safe_psql('postgres', "SELECT count(*) FROM ($query) s"), $rows, "the rows: $libraries");
}

# the libraries stay loaded
$node->psql('postgres', q{COPY (SELECT 1) TO PROGRAM 'kill -KILL $PPID'});
ok($node->poll_query_until('postgres', 'SELECT true'), 'the server comes back after a crash');
like($node->safe_psql('postgres', $plan), qr/RtscanScan/, 'RtscanScan is planned after a crash');
is($node->safe_psql('postgres', "SELECT count(*) FROM ($query) s"), $rows, 'the rows after a crash');

# rtscan_advise() without an argument reads pg_stat_statements
SKIP:
{
	skip 'pg_stat_statements is not installed', 6
	  unless $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'");
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'rtscan, pg_stat_statements'\n");
	$node->restart;
	$node->safe_psql('postgres', 'CREATE SCHEMA "the statistics"; CREATE EXTENSION pg_stat_statements SCHEMA "the statistics";'
		  . 'DROP INDEX t_idx; SELECT count(*) FROM t WHERE a < 5 AND b > \'7\'; SELECT count(*) FROM t WHERE a < 6 AND b > \'8\';'
		  . "SELECT count(*) FROM t WHERE a < 7 AND now() > date '2020-01-01' + interval '1 day'");
	is($node->safe_psql('postgres', "SELECT definition, query, calls FROM rtscan_advise() WHERE query ~ 'b > '"),
		'CREATE INDEX ON public.t USING rtscan (a, b)|SELECT count(*) FROM t WHERE a < $1 AND b > $2|2', 'the advice for statements');
	is($node->safe_psql('postgres', "SELECT problem IS NULL, query FROM rtscan_advise() WHERE query ~ 'now'"),
		't|SELECT count(*) FROM t WHERE a < $1 AND now() > CAST($2 AS date) + CAST($3 AS interval)', 'constants with a type are casts');
	# queries of others are planned as them, so that their functions cannot do what only the caller may
	$node->safe_psql('postgres', 'CREATE ROLE mallory; CREATE SCHEMA m AUTHORIZATION mallory;'
		  . 'SET ROLE mallory;'
		  . q{CREATE FUNCTION m.rise() RETURNS int LANGUAGE plpgsql AS $$BEGIN ALTER ROLE mallory SUPERUSER; RETURN 1; END$$;}
		  . q{CREATE FUNCTION m.hidden() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';}
		  . 'SELECT m.hidden(); '
		  . q{CREATE OR REPLACE FUNCTION m.hidden() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN m.rise(); END$$});
	like($node->safe_psql('postgres', "SELECT problem FROM rtscan_advise() WHERE query ~ '^SELECT m.hidden'"),
		qr/permission denied|must be superuser/i, "a function of another role's query");
	is($node->safe_psql('postgres', "SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'"), 'f', 'has not become a superuser');
	is($node->safe_psql('postgres', "SET standard_conforming_strings = off; SELECT count(*) FROM rtscan_advise() WHERE query ~ 'b > '"), 1,
		'with backslashes in strings') if $node->pg_version < 19;
	is($node->safe_psql('postgres', "SELECT count(*) FROM rtscan_advise() WHERE query ~ 'rtscan_advise'"), 0, 'not for its own calls');
}
$node->stop;

done_testing();
