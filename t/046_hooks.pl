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
$node->stop;

done_testing();
