# Tests that labels name the executor that has answered: rays are counted, an answer without rays is not labelled rt,
# and what only the CPU supports is reported, or refused if rtscan.fallback is off.

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

my $node = device_node('labels');
$node->start;
create_big($node);
$node->safe_psql('postgres', 'CREATE TABLE included AS SELECT * FROM big; CREATE INDEX included_idx ON included USING rtscan (a, b) INCLUDE (id)');
$node->safe_psql('postgres', 'VACUUM big; VACUUM small; VACUUM included');
comes_back($node, $_, 'first use') foreach @executors;

# Return the lines of EXPLAIN (ANALYZE) of RtscanAggregate, by label, and the statistics of it.
sub explained
{
	my ($executor, $query) = @_;
	my $counted = "SELECT string_agg(format('%s %s %s %s', executor, scans, rays, cpu_segments), ',' ORDER BY executor) FROM pg_stat_rtscan";
	my $plan = $node->safe_psql('postgres', "SET rtscan.executor = $executor; SET enable_seqscan = off; SELECT rtscan_stat_reset();"
		  . "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");
	my %lines = map { /^\s*([A-Z]\w+(?: \w+)*): (.*)/ ? ($1 => $2) : () } split(/\n/, $plan);
	foreach my $line (split(/,/, $node->safe_psql('postgres', $counted)))
	{
		my ($name, $scans, $rays, $cpu_segments) = split(/ /, $line);
		$lines{$name} = { scans => $scans, rays => $rays, cpu_segments => $cpu_segments };
	}
	return \%lines;
}

# Return a query's answer with an executor and without fallback, or the error.
sub demanded
{
	my ($executor, $query) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET rtscan.executor = $executor; SET rtscan.fallback = off; SET enable_seqscan = off; $query");
	return $rc == 0 ? $out : $err;
}

# Return a sequential scan's answer.
sub right
{
	my ($query) = @_;
	return $node->safe_psql('postgres', "SET rtscan.enable_aggregate = off; SET rtscan.enable_scan = off; SET enable_bitmapscan = off; $query");
}

# ---------------------------------------------------------------- rays

my $needs_rays = "SELECT count(*) FROM big WHERE a IN (17, 18, 501) AND b > 'k3'";
my $needs_none = "SELECT count(*) FROM big WHERE b = 'k7'";

foreach my $executor (@executors)
{
	my $told = explained($executor, $needs_rays);
	is($told->{Executor}, $executor, "$executor: named");
	is($told->{'Segments on CPU'}, 0, "$executor: the CPU evaluated no segment");
	is($told->{$executor}{scans}, 1, "$executor: counted");
	if ($executor ne 'compute')
	{
		cmp_ok($told->{Rays}, '>', 0, "$executor: it cast rays");
		is($told->{$executor}{rays}, $told->{Rays}, "$executor: the statistics know how many");
	}
	else
	{
		is($told->{Rays}, undef, "$executor: no rays");
	}
	# which rtcudb always needs
	next if $executor eq 'rtcudb';
	$told = explained($executor, $needs_none);
	is($told->{Executor}, 'compute', "$executor: an answer without rays is one by compute");
	is($told->{compute}{scans}, 1, "$executor: and counted as one");
	is($told->{rt}{scans} + $told->{rt}{rays}, 0, "$executor: not as one by rt");
}

# ---------------------------------------------------------------- what only the CPU supports

# The device evaluates each region and the CPU combines them, which does not count as the CPU's answer.
my @alternatives = map { "SELECT count(*) FROM big WHERE $_" } ("a < 300 OR b > 'k5'", 'a <> 17', 'a < 17 OR a > 400 OR a IS NULL', "a NOT IN (1, 2, 500) AND b IS DISTINCT FROM 'k7'",
	"id > 70000 AND (a < 300 OR b > 'k5')", "(a < 300 AND (b = 'k1' OR id < 50000)) OR (a > 900 AND b > 'k4')");

my %only_cpu = (
	'many alternatives' => [ 'SELECT count(*) FROM big WHERE id > 70000 AND (' . join(' OR ', map { "(a = $_ AND b > 'k$_')" } 1 .. 70) . ')', qr/The scan has more alternatives/ ],
	'a filter' => [ "SELECT count(*) FILTER (WHERE id = ANY ('{5, 70000}')), count(*) FROM big WHERE b > 'k3'", qr/An aggregate has a FILTER/ ],
	'a filter on rows' => [ "SELECT sum(a) FILTER (WHERE id % 3 = 0) FROM big WHERE a < 300", qr/An aggregate has a FILTER/ ],
	'a condition on an INCLUDE column' => [ 'SELECT count(*) FROM included WHERE a < 300 AND id < 50000', qr/The scan has conditions on INCLUDEd columns/ ],
	'conditions on rows' => [ 'SELECT sum(a) FROM big WHERE a < 300 AND id % 3 = 0', qr/The scan has conditions on its rows/ ],
	'a small segment' => [ "SELECT count(*) FROM small WHERE a < 300 AND b > 'k3'", qr/A segment has too few rows for a device/ ]);

foreach my $executor (@executors)
{
	foreach my $what (sort keys %only_cpu)
	{
		my ($query, $why) = @{ $only_cpu{$what} };
		like(demanded($executor, $query), qr/ERROR:  rtscan's executor "$executor" cannot evaluate the scan\nDETAIL:  $why/, "$executor: $what refused");
		like(demanded($executor, "EXPLAIN $query"), qr/RtscanAggregate/, "$executor: $what planned");
		is($node->safe_psql('postgres', "SET rtscan.executor = $executor; SET enable_seqscan = off; $query"), right($query), "$executor: $what answered");
	}
	is(demanded($executor, $_), right($_), "$executor: $_ answered without the CPU")
	  foreach @alternatives, $needs_rays, $needs_none, 'SELECT count(*) FROM big', "SELECT sum(a) FROM big WHERE b > 'k3'";
	foreach my $query (@alternatives)
	{
		my $told = explained($executor, $query);
		isnt($told->{Executor}, 'cpu', "$executor: $query by the device");
		is($told->{'Segments on CPU'}, 0, "$executor: all of it");
	}
	my $told = explained($executor, $only_cpu{'many alternatives'}[0]);
	isnt($told->{Executor}, 'cpu', "$executor: a part of the condition is the device's");
	is($told->{'Segments on CPU'}, 1, "$executor: and a part of it the CPU's");
	is($told->{cpu}{scans} + $told->{compute}{cpu_segments} + $told->{rt}{cpu_segments} + $told->{rtcudb}{cpu_segments}, 1, "$executor: the statistics know that, too");
}
server_is_healthy($node, 'labels');
program_is_healthy($node, 'labels');

done_testing();
