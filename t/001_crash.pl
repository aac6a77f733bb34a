# Kills the server in the middle of inserts, deletes, VACUUM and flushes. After recovery index scans must return what
# sequential scans return, and rtscan_check() must find nothing.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;
use Time::HiRes qw(sleep);

my $rounds = $ENV{RTSCAN_CRASH_ROUNDS} // 10;
my $next = 10_001;
my $cut_short = 0;

sub new_rows
{
	my ($count) = @_;
	$next += $count;
	return rows($next - $count, $next - 1);
}

# Return a random statement or transaction on table t or u.
sub change
{
	my $name = rand() < 0.8 ? 't' : 'u';
	my $kind = int(rand(10));
	my $some = 'id % ' . (3 + int(rand(20))) . ' = 1';
	return "INSERT INTO $name " . new_rows(1 + int(rand(2000))) if $kind < 3;
	return "UPDATE $name SET a = a + 1 WHERE $some" if $kind < 5;
	return "UPDATE $name SET u = u + 1 WHERE $some" if $kind < 6;
	return "DELETE FROM $name WHERE $some" if $kind < 7;
	return "VACUUM $name" if $kind < 8;
	return "BEGIN; INSERT INTO $name " . new_rows(500) . '; ROLLBACK' if $kind < 9;
	return rand() < 0.5 ? 'CHECKPOINT' : "REINDEX INDEX ${name}_idx";
}

# Kill a backend, and wait until all sessions have been terminated and recovery is over.
sub kill_backend
{
	my ($node) = @_;
	my $offset = -s $node->logfile;
	my $pid = $node->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity '
		  . "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1");
	die 'the loads were over too early' unless $pid;
	kill 'KILL', $pid;
	$node->wait_for_log('all server processes terminated; reinitializing', $offset);
	$node->wait_for_log('database system is ready to accept connections', $offset);
	return;
}

sub crash
{
	my ($node, $round) = @_;
	return kill_backend($node) if $round % 2;
	$node->stop('immediate');
	# full-page images would hide errors in the replay of changes to a page
	$node->append_conf('postgresql.conf', 'full_page_writes = ' . ($round % 4 ? 'on' : 'off'));
	$node->start;
	return;
}

my $node = new_node('crash', "restart_after_crash = on\nmax_wal_size = 64MB\n");
$node->start;
create_tables($node, t => [ '', 10_000 ], u => [ 'UNLOGGED', 1000 ]);
# with sieve vectors: more rows than a chunk has
$node->safe_psql('postgres', 'CREATE TABLE big (LIKE t); INSERT INTO big ' . rows(1, 130_000)
	  . '; ' . large_segments() . "; CREATE INDEX big_idx ON big USING rtscan (a, b, c); CHECKPOINT;");

foreach my $round (1 .. $rounds)
{
	my @scripts = map { start_script($node, map { change() } 1 .. 200) } 1 .. 3;
	push @scripts, start_script($node, 'DELETE FROM big WHERE id % 1000 = ' . $round, 'VACUUM big',
		'INSERT INTO big ' . rows(200_000 + 20_000 * $round, 219_999 + 20_000 * $round), 'VACUUM big');
	sleep(0.1 + rand(1.5));
	crash($node, $round);
	$cut_short += finish_script($_) =~ /server closed the connection|connection to server was lost/ foreach @scripts;
	healthy($node, 't', "round $round");
	healthy($node, 'big', "round $round");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM u'), '0', "round $round: the unlogged table is empty");
	healthy($node, 'u', "round $round, reset");
	$node->safe_psql('postgres', 'INSERT INTO u ' . new_rows(1000));
	healthy($node, 'u', "round $round, loaded again");
	$node->safe_psql('postgres', 'VACUUM t; VACUUM u; VACUUM big');
	healthy($node, 't', "round $round, vacuumed");
}
$node->stop;
cmp_ok($cut_short, '>', $rounds, 'the crashes came in the middle of loads');

done_testing();
