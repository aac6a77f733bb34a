# Tests what is remembered of heap pages while many sessions change them: each transaction moves an amount from one row to
# another, so the sum of all rows is constant, for every snapshot, on the primary and on a standby. Some transactions are
# rolled back, use savepoints, lock rows, or are prepared; VACUUM runs, and an old snapshot is held.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my ($rows, $seconds) = (20000, 12);
my $preload = "shared_preload_libraries = rtscan\nshared_buffers = 32MB\nmax_prepared_transactions = 20\nmax_parallel_workers_per_gather = 0\n";
my $primary = new_node('primary', $preload, allows_streaming => 1);
$primary->start;
$primary->safe_psql('postgres', qq{
	CREATE EXTENSION rtscan;
	CREATE TABLE account (id int PRIMARY KEY, branch int, note text, amount int) WITH (fillfactor = 90);
	INSERT INTO account SELECT i, i % 50, 'note', 100 FROM generate_series(1, $rows) i;
	CREATE INDEX account_idx ON account USING rtscan (branch, amount);
	VACUUM ANALYZE account;
});
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = 100ms\n");
$standby->start;

my $total = 100 * $rows;
my $move = 'UPDATE account SET amount = amount - :n WHERE id = least(:a, :b);'
  . ' UPDATE account SET amount = amount + :n WHERE id = greatest(:a, :b);';
my $touch = "UPDATE account SET note = 'note ' || :n WHERE id = :a;";
my %scripts = (
	move => "BEGIN; $move COMMIT;",
	hot => "BEGIN; $touch COMMIT;",
	undone => "BEGIN; UPDATE account SET amount = amount - 1000 WHERE id = :a; ROLLBACK;",
	savepoint => "BEGIN; SAVEPOINT s; UPDATE account SET amount = 0 WHERE id = least(:a, :b); ROLLBACK TO s; $move COMMIT;",
	lock => 'BEGIN; SELECT FROM account WHERE id = :a FOR SHARE; COMMIT;',
	prepared => "BEGIN; $move PREPARE TRANSACTION 'p:client_id'; COMMIT PREPARED 'p:client_id';",
);

sub script_file
{
	my ($node, $name, $text) = @_;
	my $file = $node->basedir . "/$name.sql";
	append_to_file($file, "\\set a random(1, $rows)\n\\set b random(1, $rows)\n\\set n random(1, 9)\n"
		  . ($text =~ /:b/ ? "\\if :a = :b\n\\set b :a % $rows + 1\n\\endif\n" : '') . join("\n", split(/(?<=;) /, $text)) . "\n");
	return $file;
}

my @files = map { ('-f', script_file($primary, $_, $scripts{$_})) } sort keys %scripts;
my $writers = IPC::Run::start([ 'pgbench', '-n', '-c', 6, '-j', 2, '-T', $seconds, @files, $primary->connstr('postgres') ],
	'>', \my $written, '2>', \my $trouble);

# Return the answers of queries, in one session, that are not as they should be.
my $queries = q{
	SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off;
	SELECT 'sum ' || sum(amount) FROM account HAVING sum(amount) <> %1$s;
	SELECT 'groups ' || sum(s) FROM (SELECT branch, sum(amount) s FROM account GROUP BY branch) q HAVING sum(s) <> %1$s;
	SELECT 'count ' || count(*) FROM account WHERE branch < 50 HAVING count(*) <> %2$s;
	SELECT 'rows ' || sum(amount) FROM (SELECT amount FROM account WHERE branch >= 0 OFFSET 0) q HAVING sum(amount) <> %1$s;
};
sub wrong_answers
{
	my ($node) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', sprintf($queries, $total, $rows) x 5);
	return $out . ($err =~ /conflict with recovery/ ? '' : $err);
}

my $reader = $primary->background_psql('postgres');
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SET enable_seqscan = off; SET enable_bitmapscan = off');
my $seen = $reader->query_safe('SELECT sum(amount * branch) FROM account');
my ($wrong, $rounds, $start) = ('', 0, time);
while (time < $start + $seconds - 1)
{
	$wrong .= wrong_answers($_) foreach $primary, $standby;
	is($reader->query_safe('SELECT sum(amount * branch) FROM account'), $seen, 'an old snapshot sees what it saw') if $rounds % 5 == 0;
	$primary->safe_psql('postgres', 'VACUUM account') if $rounds % 4 == 3;
	$rounds++;
}
$reader->query_safe('COMMIT');
$reader->quit;
$writers->finish;
is($writers->result(0), 0, 'the writers had no error') || diag($trouble);
cmp_ok($rounds, '>', 2, 'queries ran beside them');
is($wrong, '', 'each sum is that of all rows');
is(wrong_answers($primary), '', 'also afterwards');
$primary->wait_for_catchup($standby);
is(wrong_answers($standby), '', 'and on the standby');

my $explain = 'SET enable_seqscan = off; EXPLAIN (ANALYZE) SELECT sum(amount) FROM account';
like($_->safe_psql('postgres', $explain), qr/Heap Pages Remembered: [1-9]/, $_->name . ': pages are remembered for other sessions')
  foreach $primary, $standby;
check_index($primary, 'account', 'after all');

# If nothing is logged meanwhile, pages are remembered though they have been evicted from shared buffers. The first query
# looks into all of them, the second one into evicted ones. The server logs something now and then. The page worker would look
# into some of them meanwhile.
$primary->append_conf('postgresql.conf', 'rtscan.page_worker_rate = 0');
$primary->reload;
$primary->poll_query_until('postgres', 'SHOW rtscan.page_worker_rate', '0') or die 'the setting was not reloaded';
$primary->safe_psql('postgres', q{
	CREATE TABLE large (a int, filler text) WITH (autovacuum_enabled = off);
	INSERT INTO large SELECT i, repeat('x', 500) FROM generate_series(1, 100000) i;
	CREATE INDEX ON large USING rtscan (a);
	VACUUM large;
	UPDATE large SET a = a WHERE a % 10 = 3;
	CHECKPOINT;
});
my $count = 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM large;';
my @counts = $primary->safe_psql('postgres', "SET enable_seqscan = off; $count");
like($counts[0], qr/Heap Pages Looked Into: [67]\d\d\d/, 'all pages are looked into once');
push @counts, $primary->safe_psql('postgres', "SET enable_seqscan = off; $count") while @counts < 20 && $counts[-1] =~ /Looked Into/;
unlike($counts[-1], qr/Looked Into/, 'and remembered after they were evicted');
my $writing = $primary->safe_psql('postgres', "SET enable_seqscan = off; BEGIN; CREATE TABLE written (); " . $count x 3 . 'ROLLBACK');
is(scalar(() = $writing =~ /Looked Into/g), 3, 'but not by a transaction that writes: its own records can be older than an LSN');
$primary->safe_psql('postgres', 'DELETE FROM large WHERE a % 1000 = 1');
is($primary->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM large'), 99900, 'until something is logged');

# Hint bits cannot be set for transactions that have committed asynchronously until the log is on disk. Their rows are
# remembered all the same.
$primary->append_conf('postgresql.conf', "wal_writer_delay = 10s\nwal_writer_flush_after = 0\n");
$primary->reload;
$primary->safe_psql('postgres', q{
	CREATE TABLE later (a int) WITH (autovacuum_enabled = off);
	INSERT INTO later SELECT generate_series(1, 20000);
	CREATE INDEX ON later USING rtscan (a);
	VACUUM later;
});
my $asynchronous = $primary->safe_psql('postgres', q{
	SET synchronous_commit = off; SET enable_seqscan = off;
	UPDATE later SET a = a WHERE a % 10 = 3;
	DELETE FROM later WHERE a % 100 = 7;
	SELECT count(*) FROM later;
	EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM later;
});
like($asynchronous, qr/^19800$/m, 'rows of asynchronous commits are counted');
unlike($asynchronous, qr/Looked Into/, 'and remembered');

# After a crash nothing is remembered, and the log may have lost what was.
$primary->stop('immediate');
$primary->start;
is(wrong_answers($primary), '', 'after a crash');
$standby->promote;
$standby->safe_psql('postgres', 'UPDATE account SET amount = amount - 1 WHERE id = 1; UPDATE account SET amount = amount + 1 WHERE id = 2');
is(wrong_answers($standby), '', 'after a promotion');

done_testing();
