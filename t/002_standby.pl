# Tests that queries on a streaming standby are right during and after inserts, deletes, VACUUM, flushes and REINDEX
# on the primary. With wal_consistency_checking = all, replay compares every page that it changes with the primary's.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

# Errors that a query on a standby may raise, since the primary's VACUUM does not wait for it.
my $cancelled = join('|', 'conflict with recovery', 'could not serialize access', 'terminating connection',
	'server closed the connection', 'current transaction is aborted');

my $primary = new_node('primary', "wal_consistency_checking = 'all'\nwal_keep_size = 4GB\n", allows_streaming => 1);
$primary->start;
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = 200ms\nhot_standby_feedback = off\n");
$standby->start;

create_tables($primary, t => [ '', 20_000 ], u => [ 'UNLOGGED', 1000 ]);
$primary->safe_psql('postgres', 'CREATE TABLE big (LIKE t); INSERT INTO big ' . rows(1, 130_000)
	  . '; ' . large_segments() . "; CREATE INDEX big_idx ON big USING rtscan (a, b, c) WITH (sieve_components = 1)");

sub caught_up
{
	my ($what) = @_;
	$primary->wait_for_catchup($standby);
	compare_scans($standby, $_, "standby, $what") foreach qw(t big);
	is(answers($standby), answers($primary), "$what: the standby's answers are the primary's");
	return;
}

sub answers
{
	my ($node) = @_;
	my @queries = map { my $qual = $_; map { "SELECT answer('t', \$\$$qual\$\$, '$_', " . ($_ eq 'columns' ? 'true' : 'false') . ')' } qw(bitmap heap columns) }
	  ('a < 300', "b = 'k7' AND a IS NOT NULL", 'c IS NULL', 'a >= 0');
	return $node->safe_psql('postgres', join(';', @queries));
}

caught_up('after the build');

my $feedback = 0;
my @changes = (
	[ 'insert', 'INSERT INTO t ' . rows(20_001, 30_000) ],
	[ 'delete and vacuum', 'DELETE FROM t WHERE id % 3 = 0', 'DELETE FROM big WHERE id % 5 = 0', 'VACUUM t', 'VACUUM big' ],
	[ 'reuse', 'INSERT INTO t ' . rows(30_001, 45_000), 'INSERT INTO big ' . rows(130_001, 150_000) ],
	[ 'abort', 'BEGIN; INSERT INTO t ' . rows(50_001, 55_000) . '; ROLLBACK', 'VACUUM t' ],
	[ 'update', 'UPDATE t SET a = 999 - a WHERE id % 7 = 0', 'UPDATE t SET u = 1 WHERE id % 11 = 0', 'VACUUM t' ],
	[ 'reindex', 'REINDEX INDEX t_idx', 'INSERT INTO t ' . rows(60_001, 61_000), 'REINDEX INDEX CONCURRENTLY t_idx' ],
	[ 'after a checkpoint', 'CHECKPOINT', 'INSERT INTO t ' . rows(61_001, 63_000), 'DELETE FROM t WHERE id % 13 = 0', 'VACUUM t' ],
	[ 'recycling', map { ("DELETE FROM t WHERE id % 17 = $_", 'VACUUM t',
				'INSERT INTO t ' . rows(70_000 + 2000 * $_, 71_999 + 2000 * $_)) } 0 .. 5 ]);

foreach my $change (@changes)
{
	my ($what, @statements) = @$change;
	# with feedback the primary keeps what the readers can see
	$feedback = !$feedback;
	$standby->append_conf('postgresql.conf', 'hot_standby_feedback = ' . ($feedback ? 'on' : 'off'));
	$standby->reload;
	my @reader = map { ('BEGIN ISOLATION LEVEL REPEATABLE READ', "SELECT compare_scans('$_', 4)", 'SELECT pg_sleep(0.1)',
			"SELECT compare_scans('$_', 4)", 'COMMIT') } ('t', 't', 'big', 't');
	my @holder = map { ('BEGIN ISOLATION LEVEL REPEATABLE READ', "SELECT compare_held('t', '$_', 0.1)", 'COMMIT') } ('columns', 'heap', 'columns');
	my @readers = ((map { start_script($standby, @reader, @reader) } 1 .. 2), start_script($standby, @holder, @holder));
	$primary->safe_psql('postgres', $_) foreach @statements;
	caught_up($what);
	foreach my $reader (@readers)
	{
		my $unexpected = join("\n", grep { /ERROR|FATAL/ && !/$cancelled/ }
			  split(/\n/, finish_script($reader)));
		is($unexpected, '', "$what: readers on the standby are right, or cancelled");
	}
}

# A snapshot that prevents recycling makes the directory long, so that the metapage lists differences from it, until
# there are too many.
my $holder = $primary->background_psql('postgres');
$holder->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
foreach my $round (1, 2)
{
	$primary->safe_psql('postgres', join(';', map { my $id = 65_000 + 1000 * $round + 10 * $_;
				('INSERT INTO t ' . rows($id, $id + 9), "SELECT rtscan_merge('t_idx')") } 1 .. 40));
	caught_up("many changes, round $round");
}
$holder->query_safe('COMMIT');
$holder->quit;
$primary->safe_psql('postgres', $_) foreach 'SELECT txid_current()', 'VACUUM t', 'DELETE FROM t WHERE id % 31 = 0', 'VACUUM t';
caught_up('when they are forgotten');

check_index($primary, $_, 'primary') foreach qw(t big);
$standby->psql('postgres', 'SELECT count(*) FROM u', stderr => \my $message);
like($message, qr/cannot access temporary or unlogged relations during recovery/, 'an unlogged table is not there');

# Functions on all indexes skip an unlogged one. For the others they return the same on the standby.
my %calls = (
	verify => 'rtscan_check(oid)', 'verify all rows' => 'rtscan_check(oid, true)', measure => 'rtscan_stats(oid)',
	read => 'rtscan_format(oid)', prewarm => 'rtscan_prewarm(oid)');
my $indexes = "FROM pg_class WHERE relkind = 'i' AND relam = (SELECT oid FROM pg_am WHERE amname = 'rtscan') ORDER BY relname";
foreach my $what (sort keys %calls)
{
	my ($verb) = split(/ /, $what);
	# there is no device for the other segments
	my $of = $verb eq 'prewarm' ? $indexes =~ s/ORDER/AND relpersistence = 'u' ORDER/r : $indexes;
	my ($rc, $out, $err) = $standby->psql('postgres', "SELECT relname, $calls{$what} IS NULL $of");
	is($rc, 0, "$what: a standby is asked about all indexes") || diag($err);
	is($err, qq{psql:<stdin>:1: NOTICE:  cannot $verb unlogged index "u_idx" during recovery, skipping}, "$what: it skips the unlogged one");
	like($out, qr/^u_idx\|[tf]$/m, "$what: and goes on");
	like($out, qr/^t_idx\|f$/m, "$what: to others") unless $verb eq 'prewarm';
}
is($standby->safe_psql('postgres', q{SELECT num_nulls(segments, total_bytes), rtscan_format('u_idx') IS NULL FROM rtscan_stats('u_idx')}),
	'2|t', 'there is nothing to tell of it');
$standby->psql('postgres', "SELECT rtscan_merge('u_idx')", stderr => \$message);
like($message, qr/recovery is in progress/, 'nor to merge');

# Temporary indexes of other sessions on the primary.
my $temporary = $primary->background_psql('postgres');
$temporary->query_safe('CREATE TEMPORARY TABLE own AS SELECT 1 AS a; CREATE INDEX own_idx ON own USING rtscan (a)');
foreach my $call (map { s/oid/(SELECT oid FROM pg_class WHERE relname = 'own_idx')/r } sort(values %calls), 'rtscan_merge(oid)')
{
	$primary->psql('postgres', "SELECT $call", stderr => \$message);
	like($message, qr/ERROR:  cannot access temporary indexes of other sessions/, $call =~ s/\(.*//r . ' of a temporary index');
}
$temporary->quit;

# Kill the standby and let it continue; then promote it.
$standby->stop('immediate');
$primary->safe_psql('postgres', 'DELETE FROM t WHERE id % 19 = 0; VACUUM t; INSERT INTO t ' . rows(90_001, 95_000));
$standby->start;
caught_up('after a crash of the standby');
unlike(slurp_file($standby->logfile), qr/inconsistent page/, 'replay wrote the same pages');

$primary->stop('immediate');
$standby->promote;
healthy($standby, $_, 'promoted') foreach qw(t big u);
$standby->safe_psql('postgres', 'INSERT INTO t ' . rows(100_001, 120_000));
$standby->safe_psql('postgres', 'DELETE FROM t WHERE id % 23 = 0');
$standby->safe_psql('postgres', 'INSERT INTO u ' . rows(1, 3000));
$standby->safe_psql('postgres', "VACUUM $_") foreach qw(t u);
healthy($standby, $_, 'promoted, changed') foreach qw(t u);
$standby->stop;

done_testing();
