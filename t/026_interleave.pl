# Tests searches that alternate in one session: each must get its own bits, even if a device made them in the single
# area that backend and device program share. Bits of other searches are saved before, or evaluated again.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DeviceTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

need_device();

my $node = device_node('interleave', "jit = off\nrtscan.fallback = off\n");
$node->start;

# Two tables with segments of three chunks each, evaluated in one round: what remains of it exceeds a work_mem of
# 64kB.
$node->safe_psql('postgres', 'CREATE EXTENSION rtscan');
foreach my $table ('x', 'y')
{
	my $factor = $table eq 'x' ? 7919 : 6007;
	$node->safe_psql('postgres', "CREATE TABLE $table (a int, b int, id int); SET maintenance_work_mem = '16MB'; SET rtscan.debug_segment_rows = 258048;"
		  . "INSERT INTO $table SELECT i::bigint * $factor % 10007, i * 31 % 1009, i FROM generate_series(1, 860000) i;"
		  . "CREATE INDEX ${table}_idx ON $table USING rtscan (a, b) INCLUDE (id); VACUUM ANALYZE $table");
	cmp_ok($node->safe_psql('postgres', "SELECT segments FROM rtscan_stats('${table}_idx')"), '>=', 4, "$table has segments");
	cmp_ok($node->safe_psql('postgres', "SELECT rows / segments FROM rtscan_stats('${table}_idx')"), '>=', 64512, 'that a device evaluates');
}

my $session = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;'
  . 'SET enable_material = off; SET enable_memoize = off; SET rtscan.enable_star = off; SET max_parallel_workers_per_gather = 0;';
my %query = (
	x => 'SELECT id FROM x WHERE a < 900 AND b > 300',
	y => 'SELECT id FROM y WHERE a > 9500 AND b BETWEEN 100 AND 700');
my $join = 'SELECT count(*), sum(x.id::bigint * y.id) FROM x JOIN y ON y.a = x.a AND y.b < x.b WHERE x.a IN (5, 7000) AND x.b < 300';

# Return a query's answer from a sequential scan.
sub right
{
	my ($query) = @_;
	return $node->safe_psql('postgres', "SET rtscan.enable_aggregate = off; SET rtscan.enable_scan = off; SET enable_bitmapscan = off; $query");
}

my %expected = map { $_ => right("SELECT count(*), sum(id), sum(id::bigint * id) FROM ($query{$_}) q") } keys %query;
my $expected_join = right($join);

like($node->safe_psql('postgres', "$session EXPLAIN $_"), qr/RtscanScan/, 'the plan that is tested') foreach values %query, $join;

wait_until('the device is there', sub { $node->psql('postgres', "SELECT rtscan_prewarm('x_idx'), rtscan_prewarm('y_idx')") == 0 });
foreach my $executor (@executors)
{
	foreach my $work_mem ('64kB', '100kB', '4MB')
	{
		# two cursors, with searches and other requests, as large as an upload, in between
		my $turns = join(';', map { "FETCH 5000 FROM x; SELECT count(*) FROM y WHERE a < 50; FETCH 5000 FROM y" } 1 .. 12);
		my $out = $node->safe_psql('postgres', "$session SET rtscan.executor = $executor; SET work_mem = '$work_mem'; BEGIN;"
			  . "DECLARE x CURSOR FOR SELECT 'x' || id FROM ($query{x} OFFSET 0) q; DECLARE y CURSOR FOR SELECT 'y' || id FROM ($query{y} OFFSET 0) q;"
			  . "$turns; FETCH ALL FROM x; FETCH ALL FROM y; COMMIT");
		foreach my $table ('x', 'y')
		{
			my ($count, $sum, $squares) = (0, 0, 0);
			while ($out =~ /^$table(\d+)$/mg)
			{
				$count++;
				$sum += $1;
				$squares += $1 * $1;
			}
			is("$count|$sum|$squares", $expected{$table}, "$executor, $work_mem: cursor of $table");
		}
		is($node->safe_psql('postgres', "$session SET rtscan.executor = $executor; SET work_mem = '$work_mem'; $join"), $expected_join,
			"$executor, $work_mem: nested loop");
	}
}

# An open cursor whose bits are in the area, while the device builds an index in the same session, which is then
# prewarmed.
my $out = $node->safe_psql('postgres', "$session SET rtscan.executor = compute; BEGIN; DECLARE x CURSOR FOR SELECT 'x' || id FROM ($query{x} OFFSET 0) q;"
	  . 'FETCH 10 FROM x; CREATE TABLE z AS SELECT i % 1000 AS a, i AS b FROM generate_series(1, 300000) i; CREATE INDEX z_idx ON z USING rtscan (a, b);'
	  . "SELECT rtscan_prewarm('z_idx'); FETCH ALL FROM x; COMMIT");
my $count = () = $out =~ /^x\d+$/mg;
is($count, (split(/\|/, $expected{x}))[0], 'a build in between does no harm');

server_is_healthy($node, 'interleave');
program_is_healthy($node, 'interleave');

done_testing();
