# Tests wal_level = minimal: an index created in the transaction that loads it is not WAL-logged but synced at
# commit. After a crash the index must have the same rows.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $columns = '(id int, a int, b text, c timestamptz, u int)';

sub index_on
{
	my ($name) = @_;
	return "CREATE INDEX ${name}_idx ON $name USING rtscan (a, b, c);";
}

# name => statements of one transaction; a table exists before only if the transaction truncates or reindexes it
my %stories = (
	load_then_build => sub { "CREATE TABLE $_[0] $columns; INSERT INTO $_[0] " . rows(1, 5000) . ';' . index_on($_[0]) },
	build_then_load => sub { "CREATE TABLE $_[0] $columns;" . index_on($_[0]) . "INSERT INTO $_[0] " . rows(1, 5000) },
	load_twice => sub { "CREATE TABLE $_[0] $columns; INSERT INTO $_[0] " . rows(1, 5000) . ';' . index_on($_[0])
		  . "INSERT INTO $_[0] " . rows(5001, 9000) . "; DELETE FROM $_[0] WHERE id % 3 = 0" },
	savepoint => sub { "CREATE TABLE $_[0] $columns; INSERT INTO $_[0] " . rows(1, 3000) . '; SAVEPOINT s;' . index_on($_[0])
		  . 'ROLLBACK TO s;' . index_on($_[0]) . "INSERT INTO $_[0] " . rows(3001, 4000) },
	truncated => sub { "TRUNCATE $_[0]; INSERT INTO $_[0] " . rows(10_001, 14_000) },
	reindexed => sub { "REINDEX INDEX $_[0]_idx; INSERT INTO $_[0] " . rows(10_001, 14_000) },
	reindex_aborted => sub { "SAVEPOINT s; REINDEX INDEX $_[0]_idx; INSERT INTO $_[0] " . rows(10_001, 12_000)
		  . "; ROLLBACK TO s; INSERT INTO $_[0] " . rows(12_001, 13_000) },
	rewritten => sub { "ALTER TABLE $_[0] ALTER COLUMN u TYPE bigint; INSERT INTO $_[0] " . rows(10_001, 11_000) });

my $node = new_node('minimal', "wal_level = minimal\nmax_wal_senders = 0\nfsync = on\n");
$node->start;
create_tables($node, map { $_ => [ '', 3000 ] } grep { /trunc|reindex|rewrit/ } keys %stories);

# 0: always sync the files; a large value: write the pages of small relations to WAL at commit instead
foreach my $threshold ('0', '1GB')
{
	$node->safe_psql('postgres', 'DROP TABLE IF EXISTS load_then_build, build_then_load, load_twice, savepoint; CHECKPOINT');
	foreach my $name (sort keys %stories)
	{
		my $ddl = $stories{$name}->($name);
		$node->safe_psql('postgres', "SET wal_skip_threshold = '$threshold'; BEGIN; $ddl; COMMIT;");
	}
	$node->stop('immediate');
	$node->start;
	foreach my $name (sort keys %stories)
	{
		isnt($node->safe_psql('postgres', "SELECT count(*) FROM $name"), '0', "wal_skip_threshold $threshold: $name has rows");
		healthy($node, $name, "wal_skip_threshold $threshold");
	}
	$node->safe_psql('postgres', "INSERT INTO $_ " . rows(20_001, 24_000) . "; DELETE FROM $_ WHERE id % 5 = 0") foreach sort keys %stories;
	$node->safe_psql('postgres', 'VACUUM');
	healthy($node, $_, "wal_skip_threshold $threshold, changed") foreach sort keys %stories;
}

# a transaction that the crash interrupts leaves nothing behind
my $script = start_script($node, 'BEGIN', "CREATE TABLE unfinished $columns", 'INSERT INTO unfinished ' . rows(1, 20_000),
	index_on('unfinished'), 'REINDEX INDEX load_twice_idx', 'INSERT INTO load_twice ' . rows(30_001, 32_000), 'SELECT pg_sleep(600)');
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'")
  or die 'the transaction does not get that far';
$node->stop('immediate');
finish_script($script);
$node->start;
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname LIKE 'unfinished%'"), '0', 'nothing is left');
healthy($node, 'load_twice', 'after a transaction that was cut short');
$node->stop;

done_testing();
