# Tests builds with parallel workers that are cancelled, whose workers are terminated or killed, and after which the
# server crashes: an index exists and is right, or it does not exist and leaves no file. With wal_level = minimal its
# pages are not logged; a standby has what is logged.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $build = 'CREATE INDEX big_idx ON big USING rtscan (a, b, c, id) INCLUDE (u)';
my $settings = "restart_after_crash = on\nmaintenance_work_mem = '8MB'\nmax_parallel_maintenance_workers = 3\nmax_worker_processes = 16\n";

# A table whose builds have parallel workers.
sub create_big
{
	my ($node) = @_;
	$node->safe_psql('postgres', 'CREATE TABLE big (LIKE t) WITH (parallel_workers = 3); INSERT INTO big ' . rows(1, 150_000));
	return;
}

sub orphans
{
	my ($node) = @_;
	my $database = $node->safe_psql('postgres', "SELECT pg_relation_filepath('pg_class')") =~ s{/[^/]*$}{}r;
	my %owned = map { $_ => 1 } split(/\n/, $node->safe_psql('postgres', 'CHECKPOINT; SELECT pg_relation_filenode(oid) FROM pg_class'));
	return join(' ', grep { /^\d+/ && !$owned{ $_ =~ s/\D.*//r } } slurp_dir($node->data_dir . "/$database"));
}

# Begin a build, and signal one of its workers. Returns the build's errors, '' if it was faster, and undef if no
# worker was started.
sub hit_worker
{
	my ($node, $statement, $hit) = @_;
	my $script = start_script($node, $statement);
	my $until = time() + 60;
	my $pid = '';
	while ($pid eq '' && time() < $until)
	{
		$pid = $node->safe_psql('postgres', "SELECT min(pid) FROM pg_stat_activity WHERE backend_type = 'parallel worker'");
		last if !$script->{run}->pumpable;
	}
	$hit->($pid) if $pid ne '';
	my $errors = finish_script($script);
	return $pid eq '' ? undef : $errors;
}

# Signal workers until that many builds that were not faster have failed. Returns their errors.
sub fail_builds
{
	my ($node, $wanted, $hit) = @_;
	my @errors;
	foreach (1 .. 30)
	{
		last if @errors == $wanted;
		$node->safe_psql('postgres', 'DROP INDEX IF EXISTS big_idx');
		my $errors = hit_worker($node, $build, $hit);
		push @errors, $errors if $errors;
		$node->poll_query_until('postgres', 'SELECT true') or BAIL_OUT('the server did not come back');
	}
	return @errors;
}

my $node = new_node('build', $settings);
$node->start;
create_tables($node, t => [ '', 2000 ]);
create_big($node);

my $start = time();
$node->safe_psql('postgres', $build);
my $duration = time() - $start;
is($node->safe_psql('postgres', "SELECT segments >= 4 FROM rtscan_stats('big_idx')"), 't', 'several processes took part');
healthy($node, 'big', 'built');
$node->safe_psql('postgres', 'DROP INDEX big_idx');

foreach my $statement ($build, $build =~ s/INDEX/INDEX CONCURRENTLY/r)
{
	my $cancelled = 0;
	foreach my $point (1 .. 10)
	{
		my $limit = 1 + int(1000 * $duration * $point / 11);
		$node->psql('postgres', "SET statement_timeout = $limit; $statement", stderr => \my $err);
		$cancelled++ if $err =~ /canceling statement due to statement timeout/;
		unlike($err, qr/ERROR(?!:  canceling statement)/, "point $point: cancelled or done");
		$node->safe_psql('postgres', 'DROP INDEX IF EXISTS big_idx');
	}
	cmp_ok($cancelled, '>', 2, 'cancelled in the middle');
	is(orphans($node), '', 'cancelled: no file is left');
}

# Terminating a worker, as by pg_terminate_backend(), is an error of the build.
my @ended = fail_builds($node, 3, sub { kill 'TERM', $_[0] });
is(scalar @ended, 3, 'workers were ended');
foreach my $errors (@ended)
{
	like($errors, qr/terminating (?:connection|background worker)|parallel worker/, 'worker ended: an error');
	unlike($errors, qr/PANIC|already contains|corrupted/, 'worker ended: a clean one');
}
is(orphans($node), '', 'worker ended: no file is left');

# A worker that cannot be started is an error as well, as it is for a btree.
my $session = $node->background_psql('postgres', on_error_stop => 0);
$session->query('SELECT 1');
my $postmaster = $node->safe_psql('postgres', "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)");
my $before = -s $node->logfile;
chomp(my $processes = `prlimit --pid $postmaster --nproc --noheadings --raw --output SOFT`);
system_or_bail('prlimit', '--pid', $postmaster, '--nproc=1:');
eval { $session->query("SET statement_timeout = '60s'; $build") };
system_or_bail('prlimit', '--pid', $postmaster, "--nproc=$processes:");
eval { $session->quit };
like(substr(slurp_file($node->logfile), $before), qr/ERROR:  parallel worker failed to initialize/, 'worker did not start: an error');
$node->safe_psql('postgres', 'DROP INDEX IF EXISTS big_idx');

# Killing a worker makes the server restart, as for any backend.
my ($killed) = fail_builds($node, 1, sub { kill 'KILL', $_[0] });
like($killed // '', qr/terminat|closed/, 'worker killed');
is($node->safe_psql('postgres', "SELECT to_regclass('big_idx') IS NULL"), 't', 'worker killed: no index');
$node->safe_psql('postgres', $build);
healthy($node, 'big', 'built after all');

# A completed index exists after a crash.
$node->stop('immediate');
$node->start;
healthy($node, 'big', 'after a crash');
$node->safe_psql('postgres', 'INSERT INTO big ' . rows(200_001, 210_000) . '; DELETE FROM big WHERE id % 9 = 0');
$node->safe_psql('postgres', 'VACUUM big');
healthy($node, 'big', 'changed');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP:/, 'no other crash');
$node->stop;

# The index of a new table is not logged.
my $minimal = new_node('minimal', "${settings}wal_level = minimal\nmax_wal_senders = 0\nwal_skip_threshold = 0\n");
$minimal->start;
create_tables($minimal, t => [ '', 2000 ]);
$minimal->safe_psql('postgres', 'BEGIN; CREATE TABLE big (LIKE t) WITH (parallel_workers = 3); INSERT INTO big '
	  . rows(1, 100_000) . "; $build; COMMIT");
$minimal->stop('immediate');
$minimal->start;
healthy($minimal, 'big', 'not logged, after a crash');
is($minimal->safe_psql('postgres', "SELECT segments >= 4 FROM rtscan_stats('big_idx')"), 't', 'not logged: several processes took part');
$minimal->safe_psql('postgres', 'REINDEX INDEX big_idx');
$minimal->stop('immediate');
$minimal->start;
healthy($minimal, 'big', 'built again, after a crash');
$minimal->stop;

my $primary = new_node('primary', "${settings}wal_consistency_checking = 'all'\nwal_keep_size = 4GB\n", allows_streaming => 1);
$primary->start;
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
create_tables($primary, t => [ '', 2000 ]);
create_big($primary);
$primary->safe_psql('postgres', $build =~ s/INDEX/INDEX CONCURRENTLY/r);
$primary->wait_for_catchup($standby);
compare_scans($standby, 'big', 'standby');
$primary->stop('immediate');
$standby->promote;
healthy($standby, 'big', 'promoted');
$standby->safe_psql('postgres', 'REINDEX INDEX big_idx');
healthy($standby, 'big', 'promoted, built again');
$standby->stop;

done_testing();
