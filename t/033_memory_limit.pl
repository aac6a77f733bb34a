# Tests a process that gets no more memory, as under `ulimit -v` or on a machine without overcommitment: there must
# be a clean error wherever that happens, the index must be unchanged, and everything must work when there is memory
# again. A session is given a little more address space than it has, and then more until its statement succeeds.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

plan skip_all => 'no prlimit to take memory away' if system('prlimit --pid $$ --as >/dev/null 2>&1') != 0;

# Freed memory is returned to the system, so that all memory that a statement needs is new.
local $ENV{MALLOC_MMAP_THRESHOLD_} = 4096;
local $ENV{MALLOC_TRIM_THRESHOLD_} = 0;
local $ENV{MALLOC_TOP_PAD_} = 0;

my $rows = 150_000;
# without statistics, for which the server's own code fails an assertion when it lacks memory
my $node = new_node('memory', "track_counts = off\nwork_mem = 64MB\nmaintenance_work_mem = 64MB\nmax_parallel_workers_per_gather = 0\n"
	  . "max_parallel_maintenance_workers = 0\nrtscan.merge_worker = off\n");
$node->start;
create_tables($node, t => [ '', $rows ]);
$node->safe_psql('postgres', q{
	CREATE TABLE dimension AS SELECT i AS a, i % 7 AS kind, 'name' || i AS name FROM generate_series(0, 999) i;
	CREATE INDEX t_id ON t USING rtscan (id, u) INCLUDE (a, b);
	VACUUM ANALYZE t; VACUUM ANALYZE dimension});

# A stack that cannot grow is a crash, so it is first enlarged as far as it may be needed: by recursion that
# allocates nothing.
my $grow_stack = "SELECT (repeat('[', 4000) || repeat(']', 4000))::json IS NULL";

# Return the output of statements in a session that gets that many bytes more than it has before them.
sub run_with
{
	my ($bytes, @statements) = @_;
	my $limit = '$((`cut -d " " -f 1 /proc/$PID/statm` * `getconf PAGESIZE` + ' . $bytes . '))';
	$node->psql('postgres', join('', "SET enable_seqscan = off;\n$grow_stack;\nLOAD 'rtscan';\n",
			"SELECT pg_backend_pid() AS pid \\gset\n\\setenv PID :pid\n\\o\n\\! prlimit --pid \$PID --as=$limit:\n",
			(map { "$_;\n" } @statements), "\\! prlimit --pid \$PID --as=unlimited:\nROLLBACK;\nSELECT 'is alive'"),
		on_error_stop => 0, stdout => \my $out, stderr => \my $err);
	return ($out, $err);
}

my %statements = (
	groups => ['SELECT id, count(*), sum(a) FROM t WHERE a < 900 GROUP BY id'],
	'groups by text' => ['SELECT b, id, max(a) FROM t WHERE u = 0 GROUP BY b, id'],
	distinct => ['SELECT count(DISTINCT id), percentile_disc(0.5) WITHIN GROUP (ORDER BY id), mode() WITHIN GROUP (ORDER BY id) FROM t WHERE a < 900'],
	bitmap => ['SET LOCAL rtscan.enable_scan = off', 'SELECT u FROM t WHERE a < 700 AND b > $$k$$'],
	scan => ['SELECT * FROM t WHERE a < 700 AND b > $$k$$'],
	order => ['SELECT * FROM t WHERE a < 700 ORDER BY c, id'],
	star => ['SELECT kind, name, count(*) FROM t JOIN dimension USING (a) WHERE u = 0 GROUP BY kind, name'],
	insert => [ 'INSERT INTO t ' . rows($rows + 1, $rows + 9000) ],
	update => [ 'UPDATE t SET a = a + 1 WHERE id < 20000', 'COMMIT' ],
	vacuum => [ 'COMMIT', 'VACUUM t' ],
	merge => [ "SELECT rtscan_merge('t_idx')", 'COMMIT' ],
	check => ["SELECT rtscan_check('t_idx', true)"],
	reindex => [ 'REINDEX TABLE t', 'COMMIT' ],
	create => ['CREATE INDEX more ON t USING rtscan (b, c, a) INCLUDE (id)'],
	analyze => [ 'ANALYZE t', 'COMMIT' ]);

my $lacks_memory = qr/out of memory|[Cc]annot allocate memory|could not (map|resize|create) /;

# Increase the memory until it is enough. Returns how often it was not.
sub until_it_succeeds
{
	my ($name) = @_;
	my $failures = 0;
	for (my $bytes = 4096 * (1 + int(rand(8))); $bytes < 2 ** 32; $bytes *= 3)
	{
		my ($out, $err) = run_with($bytes, 'BEGIN', @{ $statements{$name} });
		return diag("$name with $bytes bytes more: $err") && -1 if $out !~ /is alive/;
		my @errors = grep { !/in failed|current transaction is aborted|no transaction in progress/ } $err =~ /ERROR: .*|FATAL: .*|PANIC: .*/g;
		return $failures if !@errors;
		my @others = grep { !/$lacks_memory/ } @errors;
		return diag("$name with $bytes bytes more: @others") && -1 if @others;
		$failures++;
	}
	return -1;
}

foreach my $name (sort keys %statements)
{
	my $failures = until_it_succeeds($name);
	cmp_ok($failures, '>', 0, "$name: lacked memory $failures times, and succeeded then");
	healthy($node, 't', $name);
}
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname = 'more'"), 0, 'no index is left of a failed build');
unlike(slurp_file($node->logfile), qr/TRAP:|PANIC:|was terminated by signal/, 'the server never crashed');
$node->stop;

done_testing();
