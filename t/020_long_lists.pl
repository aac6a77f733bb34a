# Tests that a statement that looks up a long list can be cancelled at any time: while the list is sorted, and while
# its elements are looked up in the segments.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $points = 8;
my $attempts = 15;

my $node = new_node('lists', "rtscan.merge_worker = off\nmax_parallel_workers_per_gather = 0\nenable_seqscan = off\n"
	  . "log_line_prefix = '%n '\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION rtscan;
	CREATE TABLE one (a int8, b text);
	INSERT INTO one SELECT i, 'k' || i % 5000 FROM generate_series(1, 20000) i;
	CREATE INDEX one_idx ON one USING rtscan (a, b);
	CREATE TABLE several (a int8);
	CREATE INDEX several_idx ON several USING rtscan (a);
	DO $$
	BEGIN
		FOR n IN 1 .. 12 LOOP
			INSERT INTO several SELECT i * 12 + n FROM generate_series(1, 3000) i;
		END LOOP;
	END $$;
	-- while PostgreSQL decompresses it, or makes another array of it, nobody can cancel
	CREATE TABLE lists (numbers int8[], texts text[]);
	ALTER TABLE lists ALTER numbers SET STORAGE EXTERNAL;
	INSERT INTO lists
		SELECT (SELECT array_agg(i ORDER BY hashint8(i)) FROM generate_series(1::int8, 1500000) i) AS numbers,
			(SELECT array_agg('k' || i ORDER BY hashint8(i)) FROM generate_series(1, 300000) i) AS texts;
	VACUUM ANALYZE one});
cmp_ok($node->safe_psql('postgres', q{SELECT segments FROM rtscan_stats('several_idx')}), '>', 4, 'there are several segments');

# Return the milliseconds until a statement with a time limit (0: none) ended or said that it was cancelled, as the
# server's log has them. (After an error the server frees what the statement allocated, which takes long where
# assertions overwrite it.)
sub duration
{
	my ($statement, $limit) = @_;
	my $start = -s $node->logfile;
	$node->psql('postgres', "SET statement_timeout = $limit; $statement; SET statement_timeout = 0", on_error_stop => 0);
	my $log = slurp_file($node->logfile, $start);
	my ($begin, $end) =
	  $log =~ /^([\d.]+) LOG:  statement: \Q$statement\E.*?^([\d.]+) (?:ERROR:  canceling|LOG:  statement: SET statement_timeout = 0)/ms
	  or die "the log lacks the statement or its end";
	return 1000 * ($end - $begin);
}

foreach my $statement (
	'SELECT count(*) FROM one WHERE b = ANY ((SELECT texts FROM lists)::text[])',
	'SELECT count(*) FROM several WHERE a = ANY ((SELECT numbers FROM lists)::int8[])',
	'SELECT sum(a) FROM several WHERE a = ANY ((SELECT numbers FROM lists)::int8[])')
{
	like($node->safe_psql('postgres', "EXPLAIN $statement"), qr/(one|several)_idx/, "$statement: the index is used");
	my $whole = duration($statement, 0);
	note("$statement: $whole ms");
	# copying a large array takes some milliseconds, as does waiting for a busy processor
	my $allowed = $whole / 6 > 50 ? $whole / 6 : 50;
	foreach my $point (1 .. $points)
	{
		my $limit = 1 + int($whole * $point / ($points + 1));
		my $late = $whole;
		# the machine may have been busy
		for (my $i = 0; $i < $attempts && $late > $allowed; $i++)
		{
			my $waited = duration($statement, $limit) - $limit;
			$late = $waited if $waited < $late;
		}
		cmp_ok($late, '<=', $allowed, sprintf('%s: cancelled at %d of %d', $statement, $point, $points + 1));
	}
}
$node->stop;

done_testing();
