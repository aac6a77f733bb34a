# Tests that data on the device is never confused with other data: indexes are dropped, rebuilt, rolled back, moved,
# copied with their database, changed on primary and standby, and in between scanned by the device, on both servers.

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

# The program and its memory treat all rays alike, so one executor of them suffices.
@executors = grep { $_ ne 'rt' } @executors if @executors > 2;

my $settings = "maintenance_work_mem = '64MB'\nshared_buffers = '64MB'\nallow_in_place_tablespaces = on\nmax_wal_size = '1GB'\n";
my $primary = device_node('primary', $settings, allows_streaming => 1);
$primary->start;
create_big($primary);
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
my $next = 1_000_000;

# Return that many new rows, unlike all others.
sub more_rows
{
	my ($count) = @_;
	$next += 200_003;
	return rows($next, $next + $count - 1);
}

# Return the number of an executor's scans (compute's if rt needs no ray) and of all fallbacks so far.
sub counted
{
	my ($node, $executor) = @_;
	return split(/\|/, $node->safe_psql('postgres',
			"SELECT sum(scans) FILTER (WHERE executor IN ('compute', '$executor')), sum(fallbacks) FROM pg_stat_rtscan"));
}

# Queries that match rows in every large segment, so that the device is needed.
my @certain = ("a < 300 AND b > 'k3'", "c >= timestamptz '2020-01-15 00:00+00' AND a > 100");

# Check that each executor, or the named ones, finds a table's rows by its index, and that the device answers.
sub device_agrees
{
	my ($node, $what, $table, $database, @by) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	foreach my $executor (@by ? @by : @executors)
	{
		my $offset = -s $node->logfile;
		my ($scans, $fallbacks) = counted($node, $executor);
		my ($rc, $out, $err) = $node->psql($database // 'postgres', "SET rtscan.executor = $executor;"
			  . "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT compare_scans('$table', 6);"
			  . join('', map { "SELECT answer('$table', \$\$$_\$\$, true) = answer('$table', \$\$$_\$\$, false);" } @certain) . 'COMMIT;',
			on_error_stop => 1);
		ok($rc == 0 && $out =~ /^\s*t\s+t\s*$/, "$what: $executor and sequential scan of $table agree on " . $node->name) || diag("$out\n$err");
		my ($scans_then, $fallbacks_then) = counted($node, $executor);
		cmp_ok($scans_then - $scans, '>=', @certain, "$what: the device did it");
		is($fallbacks_then - $fallbacks, 0, "$what: the CPU was not needed") || diag(log_since($node, $offset));
	}
	return;
}

sub both_agree
{
	my ($what) = @_;
	device_agrees($primary, $what, 'big');
	$primary->wait_for_catchup($standby);
	# what the last executor needs on the device, the others need as well
	device_agrees($standby, $what, 'big', 'postgres', $executors[-1]);
	return;
}

foreach my $node ($primary, $standby)
{
	wait_until('there is a device on ' . $node->name, sub { $node->log_contains('rtscan uses the device') });
}
both_agree('built');

# ---------------------------------------------------------------- one table

my $create = 'CREATE INDEX big_idx ON big USING rtscan';
my $ask = "SET LOCAL rtscan.executor = $executors[0]; SELECT compare_scans('big', 4)";
my @changes = (
	[ 'DROP INDEX', 'DROP INDEX big_idx', "$create (c, b, a)" ],
	[ 'REINDEX', 'REINDEX INDEX big_idx' ],
	[ 'REINDEX CONCURRENTLY', 'REINDEX INDEX CONCURRENTLY big_idx' ],
	[ 'TRUNCATE', 'BEGIN; TRUNCATE big; INSERT INTO big ' . more_rows(140_000) . '; COMMIT', 'VACUUM big' ],
	[ 'new rows', 'INSERT INTO big ' . more_rows(70_000), 'DELETE FROM big WHERE id % 7 = 0', 'VACUUM big' ],
	[ 'merges', map { ('INSERT INTO big ' . more_rows(3000), 'VACUUM big') } 1 .. 4 ],
	[ 'small segments and pending rows', "SET rtscan.pending_list_limit = '64kB'; INSERT INTO big " . more_rows(2000) ],
	[ 'CREATE INDEX rolled back', "BEGIN; DROP INDEX big_idx; $create (b, c, a); $ask; ROLLBACK" ],
	[ 'and again', "BEGIN; DROP INDEX big_idx; $create (a, c, b) WITH (sieve_components = 1); $ask; COMMIT" ],
	[ 'CREATE INDEX CONCURRENTLY', 'DROP INDEX big_idx', 'CREATE INDEX CONCURRENTLY big_idx ON big USING rtscan (a, b, c, id)' ],
	[ 'TRUNCATE rolled back', 'BEGIN; TRUNCATE big; INSERT INTO big ' . more_rows(140_000) . "; $ask; ROLLBACK" ],
	[ 'REINDEX rolled back to a savepoint', "BEGIN; SAVEPOINT s; REINDEX INDEX big_idx; $ask; ROLLBACK TO s; $ask; COMMIT" ],
	[ 'insertion rolled back', 'BEGIN; INSERT INTO big ' . more_rows(70_000) . "; $ask; ROLLBACK", 'VACUUM big',
		'INSERT INTO big ' . more_rows(70_000), 'VACUUM big' ],
	[ 'index moved', "CREATE TABLESPACE other LOCATION ''", 'ALTER INDEX big_idx SET TABLESPACE other' ],
	[ 'table and index moved', 'ALTER TABLE big SET TABLESPACE other' ],
	[ 'changed there', 'DELETE FROM big WHERE id % 5 = 0', 'VACUUM big', 'INSERT INTO big ' . more_rows(70_000) ],
	[ 'moved back', 'ALTER INDEX big_idx SET TABLESPACE pg_default', 'ALTER TABLE big SET TABLESPACE pg_default' ],
	[ 'VACUUM FULL', 'VACUUM FULL big' ],
	[ 'rewritten', 'ALTER TABLE big ALTER COLUMN a TYPE bigint' ],
	[ 'exchanged', 'ALTER TABLE big RENAME TO other', 'ALTER INDEX big_idx RENAME TO other_idx',
		'CREATE TABLE big (LIKE other)', 'INSERT INTO big ' . more_rows(140_000), "$create (a, b, c)", 'DROP TABLE other' ]);

foreach my $change (@changes)
{
	my ($what, @statements) = @$change;
	foreach my $statement (@statements)
	{
		my ($rc, $out, $err) = $primary->psql('postgres', $statement, on_error_stop => 1);
		is($rc, 0, "$what: " . substr($statement, 0, 60)) || diag($err);
	}
	both_agree($what);
}

# After a crash an unlogged index begins again from its init fork.
$primary->safe_psql('postgres', 'CREATE UNLOGGED TABLE u (LIKE big); INSERT INTO u ' . more_rows(70_000)
	  . '; CREATE INDEX u_idx ON u USING rtscan (a, b, c)');
device_agrees($primary, 'unlogged', 'u');
$_->stop('immediate') foreach $primary, $standby;
$_->start foreach $primary, $standby;
foreach my $node ($primary, $standby)
{
	local $ENV{PGOPTIONS} = "-c rtscan.executor=$executors[0] -c rtscan.fallback=off";
	wait_until('the device is there after a crash of ' . $node->name,
		sub { $node->psql('postgres', 'SELECT compare_scans(\'big\', 3)') == 0 }, 60);
}
both_agree('after a crash');
$primary->safe_psql('postgres', 'INSERT INTO u ' . more_rows(80_000) . '; VACUUM u; REINDEX TABLE u');
device_agrees($primary, 'unlogged, after a crash', 'u');

# Temporary tables of two sessions at the same time.
my $temporary = 'CREATE TEMP TABLE mine (LIKE big); INSERT INTO mine %s; CREATE INDEX mine_idx ON mine USING rtscan (a, b, c)';
my @sessions = map { $primary->background_psql('postgres', on_error_stop => 0) } 1 .. 2;
$_->query_safe(sprintf($temporary, more_rows(70_000))) foreach @sessions;
foreach my $round (1 .. 3)
{
	foreach my $session (@sessions)
	{
		$session->query("SET rtscan.executor = $executors[0]; SELECT compare_scans('mine', 10)");
		is($session->{stderr}, '', "temporary tables, round $round");
		$session->query_safe('DELETE FROM mine WHERE id % 11 = ' . $round . '; VACUUM mine; REINDEX INDEX mine_idx') if $round < 3;
	}
}
$_->quit foreach @sessions;

# ---------------------------------------------------------------- copies of a database

foreach my $strategy ('wal_log', 'file_copy')
{
	$primary->safe_psql('postgres', "CREATE DATABASE origin STRATEGY $strategy");
	$primary->psql('origin', $primary->safe_psql('postgres',
			'SELECT string_agg(pg_get_functiondef(oid), $$;$$) FROM pg_proc WHERE proname IN ($$random_qual$$, $$answer$$, $$compare_scans$$)')
		  . '; CREATE EXTENSION rtscan; CREATE TABLE big (id int, a int, b text, c timestamptz, u int); INSERT INTO big '
		  . more_rows(140_000) . "; $create (a, b, c)", on_error_stop => 1, on_error_die => 1);
	device_agrees($primary, "$strategy: the template", 'big', 'origin');
	$primary->safe_psql('postgres', "CREATE DATABASE copy TEMPLATE origin STRATEGY $strategy");
	device_agrees($primary, "$strategy: the copy", 'big', 'copy');
	my $same = "SELECT pg_relation_filenode('big_idx')";
	is($primary->safe_psql('copy', $same), $primary->safe_psql('origin', $same), "$strategy: the same file number");

	# the same number of the same segment, with different rows
	foreach my $round (1 .. 2)
	{
		foreach my $database ('origin', 'copy')
		{
			$primary->safe_psql($database, $_) foreach "DELETE FROM big WHERE id % 3 = $round", 'VACUUM big',
			  'INSERT INTO big ' . more_rows(70_000), 'VACUUM big';
			device_agrees($primary, "$strategy, round $round: $database changed", 'big', $database);
		}
		device_agrees($primary, "$strategy, round $round: $_", 'big', $_) foreach 'origin', 'copy';
		$primary->wait_for_catchup($standby);
		device_agrees($standby, "$strategy, round $round: $_", 'big', $_) foreach 'origin', 'copy';
	}
	$primary->safe_psql('postgres', 'DROP DATABASE origin');
	$primary->safe_psql('postgres', 'ALTER DATABASE copy SET TABLESPACE other');
	device_agrees($primary, "$strategy: moved with its database", 'big', 'copy');
	$primary->safe_psql('postgres', 'DROP DATABASE copy');
}

# ---------------------------------------------------------------- promotion

$primary->wait_for_catchup($standby);
$primary->stop('immediate');
my $program = program_pid($standby);
$standby->promote;
device_agrees($standby, 'promoted', 'big');
$standby->safe_psql('postgres', $_) foreach 'DELETE FROM big WHERE id % 4 = 0', 'VACUUM big', 'INSERT INTO big ' . more_rows(70_000), 'VACUUM big';
device_agrees($standby, 'promoted and changed', 'big');
is(program_pid($standby), $program, 'promoted: it is still the same program');
$standby->stop;
foreach my $node ($primary, $standby)
{
	server_is_healthy($node, $node->name);
	program_is_healthy($node, $node->name);
}

done_testing();
