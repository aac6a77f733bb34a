# Kills all processes of the server at once, at random moments of inserts, updates, deletes, subtransactions,
# two-phase commits, VACUUM and merges. After recovery index scans must be right, including rows of prepared
# transactions, and after VACUUM all pages must be in use or free.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;
use Time::HiRes qw(usleep);

my $rounds = $ENV{RTSCAN_KILL_ROUNDS} // 10;
my $next = 10_001;
my $transactions = 0;

my $node = new_node('kills', "max_prepared_transactions = 20\nmax_wal_size = 128MB\n");
$node->start;
create_tables($node, t => [ '', 10_000 ]);

sub new_rows
{
	my ($count) = @_;
	$next += $count;
	return rows($next - $count, $next - 1);
}

# Return a random transaction of a writer.
sub transaction
{
	my $kind = int(rand(8));
	my $some = 'id % ' . (5 + int(rand(20))) . ' = 1';
	my $name = 'prepared_' . ++$transactions;
	return 'INSERT INTO t ' . new_rows(1 + int(rand(2000))) if $kind < 2;
	return "UPDATE t SET a = a + 1 WHERE $some" if $kind < 3;
	return "DELETE FROM t WHERE $some" if $kind < 4;
	return ('BEGIN', 'INSERT INTO t ' . new_rows(200), 'SAVEPOINT s', 'INSERT INTO t ' . new_rows(300), "DELETE FROM t WHERE $some",
		'ROLLBACK TO s', 'INSERT INTO t ' . new_rows(200), 'COMMIT') if $kind < 6;
	return ('BEGIN', 'INSERT INTO t ' . new_rows(300), "PREPARE TRANSACTION '$name'", (rand() < 0.5 ? 'COMMIT' : 'ROLLBACK') . " PREPARED '$name'")
	  if $kind < 7 || rand() < 0.7;
	# left for the next one after the crash
	return ('BEGIN', 'INSERT INTO t ' . new_rows(300), "PREPARE TRANSACTION '$name'");
}

# Return the ids of all processes, and of their parents.
sub processes
{
	return map { [ split(' ') ] } split(/\n/, `ps -e -o pid= -o ppid=`);
}

# Kill the postmaster and all its children, and wait until they have ended.
sub kill_server
{
	my $postmaster = (split(/\n/, slurp_file($node->data_dir . '/postmaster.pid')))[0];
	# so that it starts no more of them
	kill('STOP', $postmaster);
	my %killed = map { $_->[0] => 1 } grep { $_->[0] == $postmaster || $_->[1] == $postmaster } processes();
	kill('KILL', keys %killed);
	$node->kill9;
	usleep(20_000) while grep { $killed{ $_->[0] } } processes();
	return;
}

# Commit or roll back the transactions that were prepared when the server died.
sub finish_prepared
{
	my @names = split(/\n/, $node->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts'));
	$node->safe_psql('postgres', (rand() < 0.5 ? 'COMMIT' : 'ROLLBACK') . " PREPARED '$_'") foreach @names;
	return scalar(@names);
}

my $cut_short = 0;
my $prepared = 0;
foreach my $round (1 .. $rounds)
{
	my @scripts = map { start_script($node, map { transaction() } 1 .. 200) } 1 .. 2;
	push @scripts, start_script($node, ('VACUUM t') x 200), start_script($node, ("SELECT rtscan_merge('t_idx')") x 1000);
	usleep(50_000 + int(rand(350_000)));
	kill_server();
	$cut_short += finish_script($_) =~ /server closed the connection|connection to server was lost/ foreach @scripts;
	$node->start;
	healthy($node, 't', "round $round");
	my $finished = finish_prepared();
	healthy($node, 't', "round $round, prepared transactions finished") if $finished;
	$prepared += $finished;
}
cmp_ok($cut_short, '>=', $rounds, 'the kills came in the middle of loads');
cmp_ok($prepared, '>', 0, 'and between the two phases of commits');

vacuum_completely($node, 't');
healthy($node, 't', 'vacuumed');
my $use = page_use($node, 't');
note(join(', ', map { "$_: $use->{$_}" } sort keys %$use));
is($use->{retired}, 0, 'nothing is left to be freed');
is($use->{lost}, 0, 'no page is lost');
is($use->{unproposed}, 0, 'free pages are proposed');

# so that the next load finds them
$node->safe_psql('postgres', 'INSERT INTO t ' . new_rows(2000)) for 1 .. 5;
my $after = page_use($node, 't');
cmp_ok($after->{pages}, '<=', $use->{pages}, 'free pages are used again') if $use->{free} > 100;
healthy($node, 't', 'loaded again');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP:/, 'no assertion failed');
$node->stop;

done_testing();
