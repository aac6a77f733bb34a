# Cancels builds, VACUUM and loads at many points: the server must stay up, no index may be left behind, existing
# indexes must stay right, and a second attempt must succeed.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $points = $ENV{RTSCAN_CANCEL_POINTS} // 20;

my $node = new_node('cancel', "restart_after_crash = off\nmaintenance_work_mem = 1MB\n");
$node->start;
create_tables($node, t => [ '', 20_000 ]);
$node->safe_psql('postgres', 'CREATE TABLE big (LIKE t); INSERT INTO big ' . rows(1, 150_000) . '; ANALYZE big');

my $build = 'CREATE INDEX big_idx ON big USING rtscan (a, b, c, id) INCLUDE (u)';

# Return the milliseconds that a statement takes.
sub duration
{
	my ($statement) = @_;
	my $start = time();
	$node->safe_psql('postgres', $statement);
	return int(1000 * (time() - $start));
}

# Run a statement with a time limit. Returns its error, or ''.
sub limited
{
	my ($statement, $milliseconds) = @_;
	$node->psql('postgres', "SET statement_timeout = $milliseconds; $statement", stderr => \my $err);
	return $err;
}

# Return the files of the database that belong to no relation.
sub orphans
{
	my $database = $node->safe_psql('postgres', "SELECT pg_relation_filepath('pg_class')") =~ s{/[^/]*$}{}r;
	my %owned = map { $_ => 1 } split(/\n/, $node->safe_psql('postgres', 'CHECKPOINT; SELECT pg_relation_filenode(oid) FROM pg_class'));
	return join(' ', grep { /^\d+/ && !$owned{ $_ =~ s/\D.*//r } } slurp_dir($node->data_dir . "/$database"));
}

sub cancelled_builds
{
	my ($statement, $limit, $what) = @_;
	my $cancelled = 0;
	foreach my $point (1 .. $points)
	{
		my $err = limited($statement, 1 + int($limit * $point / ($points + 1)));
		$cancelled++ if $err =~ /canceling statement due to statement timeout/;
		unlike($err, qr/ERROR(?!:  canceling statement)/, "$what, point $point: cancelled or done");
		$node->safe_psql('postgres', 'DROP INDEX IF EXISTS big_idx');
	}
	cmp_ok($cancelled, '>', $points / 3, "$what was cancelled in the middle");
	is(orphans(), '', "$what: no file is left");
	return;
}

foreach my $memory ('1MB', '64MB')
{
	$node->safe_psql('postgres', "ALTER SYSTEM SET maintenance_work_mem = '$memory'; SELECT pg_reload_conf()");
	my $limit = duration($build);
	$node->safe_psql('postgres', 'DROP INDEX big_idx');
	cancelled_builds($build, $limit, "build with $memory");
	cancelled_builds($build =~ s/INDEX/INDEX CONCURRENTLY/r, $limit, "concurrent build with $memory");
	$node->safe_psql('postgres', $build);
	healthy($node, 'big', "built with $memory after all");
	$node->safe_psql('postgres', 'DROP INDEX big_idx');
}
$node->safe_psql('postgres', $build);

# REINDEX keeps the old index
my $limit = duration('REINDEX INDEX big_idx');
limited('REINDEX INDEX big_idx', 1 + int($limit * $_ / 6)) foreach 1 .. 5;
healthy($node, 'big', 'reindex cancelled');
is(orphans(), '', 'reindex cancelled: no file is left');

# loads and VACUUM, with the flushes and merges that they start
my $next = 1_000_001;
foreach my $point (1 .. $points)
{
	limited('INSERT INTO big ' . rows($next, $next + 9999), 5 + 10 * $point);
	$next += 10_000;
	limited("DELETE FROM big WHERE id % 37 = $point", 20 * $point);
	limited('VACUUM big', 2 + 3 * $point);
	compare_scans($node, 'big', "load and vacuum cancelled, point $point", 10);
}
healthy($node, 'big', 'loads and vacuums cancelled');
$node->safe_psql('postgres', 'VACUUM big');
healthy($node, 'big', 'vacuum completed');

# sessions that are cancelled, or end, while they write
foreach my $point (1 .. $points)
{
	my $script = start_script($node, map { ('INSERT INTO t ' . rows($next + 500 * $_, $next + 500 * $_ + 499),
			"DELETE FROM t WHERE id % 53 = $_", 'VACUUM t') } 1 .. 20);
	$next += 20_000;
	my $function = $point % 2 ? 'pg_cancel_backend' : 'pg_terminate_backend';
	foreach (1 .. 5)
	{
		sleep(0.02);
		$node->safe_psql('postgres', "SELECT $function(pid) FROM pg_stat_activity "
			  . "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
	}
	finish_script($script);
	healthy($node, 't', "$function, point $point");
}
unlike(slurp_file($node->logfile), qr/was terminated by signal|PANIC|TRAP:/, 'the server never crashed');
$node->stop;

done_testing();
