# Tests that pages are reused: a table that is repeatedly rewritten and vacuumed has an index that stops growing
# after a few rounds, even if the server crashes each time and loses the free space map. Merge workers immediately
# free what VACUUM has retired, and merge only small segments while an old snapshot prevents reuse.

use strict;
use warnings;

use FindBin;
use List::Util qw(max);
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $rows = 100_000;
my $node = new_node('space', "maintenance_work_mem = 64MB\nrtscan.merge_worker = off\nrtscan.pending_list_limit = 1MB\n");
$node->start;
create_tables($node, calm => [ '', $rows ], crashing => [ '', $rows ], helped => [ '', $rows ], watched => [ '', $rows ]);
$node->safe_psql('postgres', 'CREATE EXTENSION pageinspect');

sub size
{
	my ($name) = @_;
	return $node->safe_psql('postgres', "SELECT pg_relation_size('${name}_idx')");
}

# Give every row new values, in a few transactions; no snapshot sees the old rows afterwards.
sub rewrite
{
	my ($name) = @_;
	foreach my $part (0 .. 2)
	{
		$node->safe_psql('postgres', "UPDATE $name SET a = (a + 1) % 1000, b = 'k' || (random() * 50)::int WHERE id % 3 = $part");
		$node->safe_psql('postgres', "VACUUM $name");
	}
	$node->safe_psql('postgres', "SELECT txid_current()");
	$node->safe_psql('postgres', "VACUUM $name");
	return;
}

# Return the sizes after each round, relative to a new index.
sub churn
{
	my ($name, $between) = @_;
	my $fresh = size($name);
	my @sizes;
	foreach my $round (1 .. 8)
	{
		rewrite($name);
		$between->();
		push @sizes, size($name) / $fresh;
	}
	note("$name: " . join(' ', map { sprintf('%.2f', $_) } @sizes));
	return @sizes;
}

sub crash
{
	$node->stop('immediate');
	$node->start;
	return;
}

foreach my $case ([ 'calm', sub { } ], [ 'crashing', \&crash ])
{
	my ($name, $between) = @$case;
	my @sizes = churn($name, $between);
	cmp_ok($sizes[7], '<=', 1.1 * max(@sizes[0 .. 3]), "$name: the file does not grow after some rounds");
	cmp_ok($sizes[7], '<=', 3.2, "$name: it is not much larger than a fresh one");
	healthy($node, $name, "$name, after all rounds");
}

# Transactions in other databases do not prevent reuse of pages.
my $calm = size('calm');
my $elsewhere = $node->background_psql('template1');
$elsewhere->query_safe('BEGIN; SELECT txid_current()');
rewrite('calm') foreach 1 .. 4;
cmp_ok(size('calm'), '<=', 1.5 * $calm, 'calm: a transaction in another database does not make it grow');
$elsewhere->query_safe('COMMIT');
$elsewhere->quit;

# With a merge worker all pages are free or in use. A free page has the kind 0 in the two bytes before its last two
# (storage/page.h).
my $fresh = size('helped');
my $with_worker = "SET rtscan.merge_worker = on; SET rtscan.pending_list_limit = '64kB';";
my $in_use = "(SELECT 8192 * count(*) FROM generate_series(0, pg_relation_size('helped_idx') / 8192 - 1) block, "
  . "get_raw_page('helped_idx', block) page WHERE get_byte(page, 8188) <> 0 OR get_byte(page, 8189) <> 0)";
foreach my $round (1 .. 4)
{
	$node->safe_psql('postgres', "$with_worker UPDATE helped SET a = (a + 1) % 1000, b = 'k' || (random() * 50)::int");
	$node->safe_psql('postgres', "$with_worker VACUUM helped");
	ok($node->poll_query_until('postgres', "SELECT $in_use < 1.5 * $fresh"), "helped, round $round: what vacuum retired is free")
	  || diag($node->safe_psql('postgres', "SELECT 1.0 * $in_use / $fresh"));
}
my $size = size('helped') / $fresh;
note(sprintf('helped: %.2f', $size));
# updating all rows in one transaction lets small segments be merged meanwhile, more of them the longer it takes
cmp_ok($size, '<=', 5, 'helped: the file is not much larger than a fresh one');
healthy($node, 'helped', 'helped, after all rounds');

# With an old snapshot only full tiers of less than a chunk are merged; the others when it is gone.
my $reader = $node->background_psql('postgres');
$reader->query_safe("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM watched");
$node->safe_psql('postgres', join(";\n", "SET rtscan.pending_list_limit = '64kB'",
		map { 'INSERT INTO watched ' . rows($rows + 10_000 * $_ + 1, $rows + 10_000 * $_ + 10_000) . "; SELECT rtscan_merge('watched_idx')" } 0 .. 29));
$size = size('watched') / $fresh;
note(sprintf('watched: %.2f', $size));
cmp_ok($size, '<=', 10.5, 'watched: merges beside an old snapshot write each row only a few times');
# three tiers below a chunk of 64,512 rows; the others have at least that many (merge.h)
cmp_ok($node->safe_psql('postgres', "SELECT segments FROM rtscan_stats('watched_idx')"), '<=', 21 + (4 * $rows) / 64_512, 'watched: few segments pile up beside it');
$reader->query_safe('COMMIT');
$reader->quit;
$node->safe_psql('postgres', "SELECT txid_current(); SELECT rtscan_merge('watched_idx')");
cmp_ok($node->safe_psql('postgres', "SELECT segments FROM rtscan_stats('watched_idx')"), '<', 25, 'watched: then all tiers are merged');
healthy($node, 'watched', 'watched, after that');

$node->stop;
done_testing();
