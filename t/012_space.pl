# Pages are used again: a table that is rewritten over and over, with vacuums, has an index that does not grow after a few
# rounds; also where the server crashes each time, and with it what the free space map knew.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $rows = 100_000;
my $node = new_node('space', "maintenance_work_mem = 64MB\nrtscan.merge_worker = off\nrtscan.pending_list_limit = 1MB\n");
$node->start;
create_tables($node, calm => [ '', $rows ], crashing => [ '', $rows ]);

sub size
{
	my ($name) = @_;
	return $node->safe_psql('postgres', "SELECT pg_relation_size('${name}_idx')");
}

# Every row gets other values, in a few transactions; what that leaves behind nobody sees any more.
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

# The sizes after each round, in sizes of a fresh index.
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
	cmp_ok($sizes[7], '<=', 1.1 * $sizes[3], "$name: the file does not grow after some rounds");
	cmp_ok($sizes[7], '<=', 3.2, "$name: it is not much larger than a fresh one");
	healthy($node, $name, "$name, after all rounds");
}

$node->stop;
done_testing();
