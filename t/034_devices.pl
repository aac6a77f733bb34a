# Tests several devices, each with some of the segments: all of them must answer together. If a device is missing,
# dies or hangs, the CPU answers for its segments, and the segments of the others stay where they are.

use strict;
use warnings;

use FindBin;
use List::Util qw(sum);
use lib $FindBin::RealBin;
use DeviceTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

need_device();

my $node = device_node('devices', "rtscan.device = ' llvmpipe , llvmpipe '\nautovacuum = off\nmax_parallel_workers_per_gather = 0\n");
$node->start;
create_big($node);
# four segments of approximately two chunks
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE facts (a int, b int, v int, g int, t text);
SET maintenance_work_mem = '64MB'; SET rtscan.debug_segment_rows = 129024; SET max_parallel_maintenance_workers = 0;
INSERT INTO facts SELECT hashint4(i), nullif(i % 1000, 17), hashint4(i) % 5003, i % 97, 'k' || i % 20 FROM generate_series(1, 490000) AS i;
CREATE INDEX facts_idx ON facts USING rtscan (a, b) INCLUDE (v, g, t);
VACUUM ANALYZE facts;
SQL

my @questions_of_facts = (
	'SELECT count(*) FROM facts WHERE a < 1900000000 AND b < 950',
	'SELECT count(*) FROM facts WHERE a BETWEEN -1000000000 AND 1000000000 AND b IN (1, 5, 900) OR b IS NULL AND a > 0',
	'SELECT g, count(*), sum(v), min(a), max(v) FROM facts WHERE a < 1900000000 AND b > 20 GROUP BY g ORDER BY g',
	'SELECT b, sum(v) FROM facts WHERE a > -1900000000 AND b > 20 GROUP BY b ORDER BY b',
	"SELECT sum(hashtext(f::text)) FROM facts f WHERE a < 0 AND b BETWEEN 100 AND 110",
	'SELECT a, b, v FROM facts WHERE b < 300 ORDER BY a LIMIT 50');
my @right = map { $node->safe_psql('postgres', "SET rtscan.enable_aggregate = off; SET rtscan.enable_scan = off; SET enable_bitmapscan = off; $_") }
  @questions_of_facts;

# Check that an executor answers all queries correctly.
sub all_right
{
	my ($executor, $what, $settings) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	foreach my $i (0 .. $#questions_of_facts)
	{
		my ($rc, $out, $err) = $node->psql('postgres', "SET rtscan.executor = $executor; SET enable_seqscan = off; "
			  . ($settings // '') . $questions_of_facts[$i]);
		is($rc == 0 ? $out : $err, $right[$i], "$what, $executor: $questions_of_facts[$i]");
	}
	return;
}

# Return a column of rtscan_device() for each available device.
sub of_devices
{
	my ($column) = @_;
	return split(/\n/, $node->safe_psql('postgres', "SELECT $column FROM rtscan_device()"));
}

sub both_are_there
{
	my ($what) = @_;
	# a program that could not be started, or ended soon, is started again after up to a minute
	return wait_until("$what: both devices are there", sub { of_devices('requests') == 2 }, 180);
}

sub error_without_fallback
{
	my ($executor) = @_;
	return ($node->psql('postgres', "SET rtscan.fallback = off; SET rtscan.executor = $executor; $questions_of_facts[0]"))[2];
}

# ---------------------------------------------------------------- both

both_are_there('at first');
my $segments = $node->safe_psql('postgres', "SELECT segments FROM rtscan_stats('facts_idx')");
cmp_ok($segments, '>=', 4, "facts has $segments segments");
is($node->safe_psql('postgres', "SELECT rtscan_prewarm('facts_idx')"), $segments, 'all of them are put on devices');
my @columns = of_devices('columns');
cmp_ok($_, '>=', 2 * 2, "columns of at least two segments on each: @columns") foreach @columns;
foreach my $executor (@executors)
{
	my @before = of_devices('requests');
	all_right($executor, 'both', 'SET rtscan.fallback = off; ');
	my @after = of_devices('requests');
	cmp_ok($after[$_] - $before[$_], '>=', @questions_of_facts, "$executor: device $_ is asked all questions") foreach 0, 1;
	device_answers($node, $executor, 'one segment');
}
all_right('auto', 'both');
my $plan = $node->safe_psql('postgres', "SET rtscan.executor = compute; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $questions_of_facts[2]");
my $matching = $node->safe_psql('postgres', 'SELECT count(*) FROM facts WHERE a < 1900000000 AND b > 20');
my ($aggregated) = $plan =~ /Rows Aggregated by Device: (\d+)/;
is($aggregated, $matching, 'both add up what they find');

# ---------------------------------------------------------------- a build by several processes, each of which puts
# its segments on devices

sub columns_on_devices { return sum(of_devices('columns')) }
foreach my $workers (0, 2)
{
	my $columns = columns_on_devices();
	$node->safe_psql('postgres', "ALTER TABLE facts SET (parallel_workers = $workers); SET rtscan.executor = compute; "
		  . "SET maintenance_work_mem = '64MB'; SET rtscan.debug_segment_rows = 4193280; CREATE INDEX again ON facts USING rtscan (a, b)");
	my $of_again = 2 * $node->safe_psql('postgres', "SELECT segments FROM rtscan_stats('again')");
	is(columns_on_devices() - $columns, $of_again, "CREATE INDEX with $workers workers puts $of_again columns on devices");
	$node->safe_psql('postgres', 'DROP INDEX again');
}
$node->safe_psql('postgres', 'ALTER TABLE facts RESET (parallel_workers)');

# ---------------------------------------------------------------- processes share segments, some of which are not
# opened

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE timed AS SELECT i AS id, hashint4(i) AS a, i % 100 AS v FROM generate_series(1, 300000) AS i;
ALTER TABLE timed SET (parallel_workers = 2);
SET maintenance_work_mem = '64MB'; SET rtscan.debug_segment_rows = 193536; SET max_parallel_maintenance_workers = 0;
CREATE INDEX timed_idx ON timed USING rtscan (id, a) INCLUDE (v);
VACUUM ANALYZE timed;
SQL
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_index_scan_size = 0; '
  . 'SET min_parallel_table_scan_size = 0; SET enable_seqscan = off; ';
foreach my $query ('SELECT stddev(v), sum(a), count(*) FROM timed WHERE id > 250000 AND a < 1000000', 'SELECT sum(v + a % 7) FROM timed WHERE id > 250000')
{
	my $right = $node->safe_psql('postgres', "SET rtscan.enable_aggregate = off; SET rtscan.enable_scan = off; SET enable_bitmapscan = off; $query");
	foreach my $executor ('auto', @executors)
	{
		my $settings = "SET rtscan.executor = $executor; $parallel";
		my $plan = $node->safe_psql('postgres', "$settings EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $query");
		like($plan, qr/Workers Launched.*Segments Skipped: [1-9]/s, "$executor: some segments are skipped by several processes: $query");
		is($node->safe_psql('postgres', "$settings $query"), $right, "$executor: right, by several processes: $query");
	}
}

# ---------------------------------------------------------------- joins evaluate while bits of other searches are in
# the areas

my $nested = 'SELECT sum((SELECT count(*) FROM facts WHERE a < f.a AND b < 30)) FROM (SELECT a FROM facts WHERE b < 3 AND a < -2100000000 OFFSET 0) f';
my $counted = $node->safe_psql('postgres', "SET rtscan.executor = cpu; $nested");
is($node->safe_psql('postgres', "SET rtscan.executor = $_; $nested"), $counted, "$_: a search within another") foreach @executors;

# ---------------------------------------------------------------- builds

$node->safe_psql('postgres', "SET rtscan.executor = compute; SET maintenance_work_mem = '64MB'; SET rtscan.debug_segment_rows = 129024; REINDEX INDEX facts_idx");
my ($sorts) = $node->safe_psql('postgres', 'SELECT sum(sorts) FROM rtscan_device()');
cmp_ok($sorts, '>', 0, 'a build has columns sorted');
all_right('compute', 'built by a device');
is($node->safe_psql('postgres', "SELECT rtscan_check('facts_idx', true) IS NULL"), 'f', 'and the index is right');

# ---------------------------------------------------------------- one hangs

my @pids = program_pids($node);
is(scalar(@pids), 2, 'there are two programs');
foreach my $device (0, 1)
{
	kill('STOP', $pids[$device]);
	all_right('compute', "device $device hangs", "SET rtscan.device_timeout = '300ms'; ");
	like(error_without_fallback("compute; SET rtscan.device_timeout = '300ms'"), qr/The device program has not answered within/,
		"device $device hangs: an error without fallback");
	kill('CONT', $pids[$device]);
	all_right('compute', "device $device goes on", 'SET rtscan.fallback = off; ');
}

# ---------------------------------------------------------------- one dies

foreach my $round (1 .. 6)
{
	my @before = program_pids($node);
	kill('KILL', $before[ $round % 2 ]);
	all_right($executors[ $round % @executors ], "killed, round $round");
	both_are_there("round $round");
	my @after = program_pids($node);
	is($after[ 1 - $round % 2 ], $before[ 1 - $round % 2 ], "round $round: the other one has not been started again");
	all_right($_, "back, round $round", 'SET rtscan.fallback = off; ') foreach @executors;
}
like(slurp_file($node->logfile), qr/rtscan device program of "llvmpipe" \(item [12] of rtscan.device\) was terminated by signal 9/, 'the log says which');

# ---------------------------------------------------------------- one is missing

my $offset = -s $node->logfile;
configure($node, 'rtscan.device' => 'llvmpipe, Voodoo 2');
wait_until('the log says which', sub { log_since($node, $offset) =~ /rtscan has no device of "Voodoo 2" \(item 2 of rtscan.device\)/ });
wait_until('the other one is there', sub { of_devices('requests') == 1 });
foreach my $executor (@executors)
{
	my ($before) = of_devices('requests');
	all_right($executor, 'one of two');
	my ($after) = of_devices('requests');
	cmp_ok($after, '>', $before, "one of two: $executor asks the one");
	like(error_without_fallback($executor), qr/There is no device, or its program is still starting/,
		"one of two: $executor: an error without fallback");
}
all_right('auto', 'one of two');
my $fallbacks = $node->safe_psql('postgres', 'SELECT sum(fallbacks) FROM pg_stat_rtscan');
all_right('auto', 'one of two, again');
is($node->safe_psql('postgres', 'SELECT sum(fallbacks) FROM pg_stat_rtscan'), $fallbacks, 'one of two: auto does without it');

my ($rc, undef, $absent) = $node->psql('postgres', "SET rtscan.executor = auto; SELECT rtscan_prewarm('facts_idx')");
ok($rc != 0, 'one of two: not everything can be put on a device');
like($absent, qr/could not put index "facts_idx" on the device\nDETAIL:  There is no device, or its program/, 'one of two: and why');

# ---------------------------------------------------------------- a program cannot be started

configure($node, 'rtscan.device' => undef);
both_are_there('again');
my ($worker) = worker_pid($node);
$offset = -s $node->logfile;
chomp(my $processes = `prlimit --pid $worker --nproc --noheadings --raw --output SOFT`);
system_or_bail('prlimit', '--pid', $worker, '--nproc=1:');
kill('KILL', (program_pids($node))[1]);
wait_until('the log says why', sub { log_since($node, $offset) =~ /could not start the rtscan device program of "llvmpipe" \(item 2 of rtscan.device\): / });
is(scalar(program_pids($node)), 1, 'the other program runs on');
all_right('compute', 'one cannot be started');
system_or_bail('prlimit', '--pid', $worker, "--nproc=$processes:");
both_are_there('started at last');
all_right('compute', 'started at last', 'SET rtscan.fallback = off; ');

# ---------------------------------------------------------------- lists

my (undef, undef, $error) = $node->psql('postgres', "ALTER SYSTEM SET rtscan.device = '" . join(',', (0) x 17) . "'");
like($error, qr/invalid value for parameter "rtscan.device".*There can be at most 16 devices/s, 'more devices than there can be');
foreach my $list ('0,', ',', '0, off', 'off, 1', '0,,1')
{
	(undef, undef, $error) = $node->psql('postgres', "ALTER SYSTEM SET rtscan.device = '$list'");
	like($error, qr/A list of several devices must not contain an empty item or "off"/, "no list: $list");
}
configure($node, 'rtscan.device' => ' Off ');
wait_until('off, with blanks', sub { !program_pids($node) });
configure($node, 'rtscan.device' => 'llvmpipe,llvmpipe,0');
wait_until('three', sub { of_devices('requests') == 3 });
all_right($_, 'three', 'SET rtscan.fallback = off; ') foreach @executors;
configure($node, 'rtscan.device' => 'off');
wait_until('none', sub { !program_pids($node) });
all_right($_, 'none') foreach @executors;
configure($node, 'rtscan.device' => undef);
both_are_there('in the end');
all_right($_, 'in the end', 'SET rtscan.fallback = off; ') foreach @executors;

server_is_healthy($node, 'several devices');
$node->stop;
done_testing();
