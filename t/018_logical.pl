# Tests logical replication of tables with an rtscan index on both sides, on different columns: rows are copied, then
# changed while flushes, merges and VACUUM run on both sides.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $publisher = new_node('publisher', '', allows_streaming => 'logical');
my $subscriber = new_node('subscriber', '', allows_streaming => 'logical');
$_->start foreach ($publisher, $subscriber);

# rows of t are found by its key, those of whole by all columns, since it has no key
create_tables($publisher, t => [ '', 20_000 ], whole => [ '', 500 ]);
create_tables($subscriber, t => [ '', 0 ], whole => [ '', 0 ]);
$_->safe_psql('postgres', 'ALTER TABLE t ADD PRIMARY KEY (id); ALTER TABLE whole REPLICA IDENTITY FULL') foreach ($publisher, $subscriber);
$subscriber->safe_psql('postgres', q{
	DROP INDEX t_idx, whole_idx;
	CREATE INDEX t_idx ON t USING rtscan (c, u, b, a) INCLUDE (id) WITH (sieve_bins = 16);
	CREATE INDEX t_other ON t USING rtscan ((id % 100)) WHERE u > 0;
	CREATE INDEX whole_idx ON whole USING rtscan (b, a, c) WITH (sieve_components = 1)});

sub content
{
	my ($node, $name) = @_;
	return $node->safe_psql('postgres', "SELECT count(*), sum(hashtextextended(n::text, 0)) FROM $name n");
}

# Check that the subscriber has the publisher's rows, and that all indexes have them.
sub caught_up
{
	my ($what) = @_;
	$publisher->wait_for_catchup('all');
	foreach my $name (qw(t whole))
	{
		is(content($subscriber, $name), content($publisher, $name), "$what: the same rows of $name");
		healthy($publisher, $name, "publisher, $what");
		healthy($subscriber, $name, "subscriber, $what");
	}
	my ($rc, $out, $err) = $subscriber->psql('postgres', "SELECT rtscan_check('t_other', true)");
	ok($rc == 0, "subscriber, $what: rtscan_check of t_other") || diag($err);
	return;
}

$publisher->safe_psql('postgres', 'CREATE PUBLICATION everything FOR TABLE t, whole');
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION \"all\" CONNECTION \$\$" . $publisher->connstr('postgres') . "\$\$ PUBLICATION everything");
$subscriber->wait_for_subscription_sync($publisher, 'all');
caught_up('copied');

# Changes in several sessions, each on rows of its own.
sub changes
{
	my ($session) = @_;
	my $own = "id % 3 = $session";
	my $insert = "INSERT INTO t SELECT 3 * id + $session, a, b, c, u FROM (";
	my $as = ') r (id, a, b, c, u)';
	return map { my $first = 100_000 + 3000 * $_ + 1000 * $session; (
			$insert . rows($first, $first + 499) . $as, "UPDATE t SET a = 999 - a, b = 'k' || a % 50 WHERE $own AND id % 97 = $_",
			"UPDATE t SET u = u + 1 WHERE $own AND id % 89 = $_", "DELETE FROM t WHERE $own AND id % 83 = $_",
			'BEGIN', $insert . rows($first + 500, $first + 899) . $as, 'SAVEPOINT s', "DELETE FROM t WHERE $own AND id % 7 = 0", 'ROLLBACK TO s',
			"UPDATE t SET id = id + 30000000 WHERE $own AND id % 301 = $_", $_ % 4 ? 'COMMIT' : 'ROLLBACK') } 1 .. 15;
}

sub maintenance
{
	my ($node) = @_;
	return (start_script($node, map { ("SELECT rtscan_merge('t_idx')", 'VACUUM whole', 'SELECT pg_sleep(0.05)') } 1 .. 40),
		start_script($node, map { ('VACUUM t', "SELECT rtscan_merge('whole_idx')", 'SELECT pg_sleep(0.2)') } 1 .. 10));
}

my @scripts = ((map { start_script($publisher, changes($_)) } 0 .. 2), (map { maintenance($_) } ($publisher, $subscriber)),
	start_script($publisher, map { ('INSERT INTO whole ' . rows(1000 + 100 * $_, 1099 + 100 * $_),
			"UPDATE whole SET a = a + 1 WHERE id % 101 = $_", "DELETE FROM whole WHERE id % 103 = $_") } 1 .. 20));
is(join('', grep { /ERROR|FATAL/ } map { finish_script($_) } @scripts), '', 'no statement failed');
caught_up('changed');

$publisher->safe_psql('postgres', 'TRUNCATE t; INSERT INTO t ' . rows(1, 3000) . '; UPDATE t SET u = id WHERE id % 2 = 0');
$publisher->safe_psql('postgres', 'BEGIN; TRUNCATE whole; INSERT INTO whole ' . rows(1, 300) . '; COMMIT; BEGIN; TRUNCATE t; ROLLBACK');
caught_up('truncated');

# a transaction that arrives during the subscriber's own maintenance, and a restart of each
my $script = start_script($subscriber, map { ("SELECT rtscan_merge('t_idx')", 'VACUUM t', "REINDEX INDEX CONCURRENTLY t_idx") } 1 .. 5);
$publisher->safe_psql('postgres', join(';', 'BEGIN', map { ('INSERT INTO t ' . rows(10_000 + 1000 * $_, 10_999 + 1000 * $_),
			"DELETE FROM t WHERE id % 10 = $_") } 1 .. 8) . '; COMMIT');
is(finish_script($script), '', 'the subscriber maintains and builds anew');
caught_up('a large transaction');
$subscriber->stop('immediate');
$publisher->safe_psql('postgres', 'UPDATE t SET a = a + 1 WHERE id % 3 = 0');
$publisher->restart;
$subscriber->start;
$publisher->safe_psql('postgres', 'INSERT INTO t ' . rows(50_000, 52_000));
caught_up('after a crash of the subscriber');

# the subscriber is used on its own
$subscriber->safe_psql('postgres', $_) foreach ('DROP SUBSCRIPTION "all"', 'INSERT INTO t ' . rows(90_000, 95_000), 'DELETE FROM t WHERE id % 2 = 0', 'VACUUM t');
healthy($subscriber, 't', 'on its own');
unlike(slurp_file($_->logfile), qr/TRAP:|PANIC:|was terminated by signal|ERROR/, $_->name . ' never failed') foreach ($publisher, $subscriber);

$_->stop foreach ($subscriber, $publisher);
done_testing();
