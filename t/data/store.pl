# Stores tables and their indexes in the format that this version of rtscan writes, for the tests of later versions:
#
#   make installcheck REGRESS= ISOLATION= PROVE_TESTS=t/data/store.pl RTSCAN_STORE=/a/directory
#
# The files become t/data/format-N before the format changes; format 3 was written by rtscan 1.0.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use StoredFormat;
use Test::More;

my $directory = $ENV{RTSCAN_STORE} // die 'RTSCAN_STORE names no directory';
my $node = new_node('store', "rtscan.merge_worker = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION rtscan');
define_comparison($node);

define_large($node, 'large');
fill_large($node, 'large');
$node->safe_psql('postgres', 'VACUUM large');
store_table($node, 'large', $directory);

# Segments, dead rows, retired pages, a list that could not be flushed, and one after it.
define_table($node, 'sealed');
$node->safe_psql('postgres', $_) foreach ('INSERT INTO sealed ' . rows(1, 1200), 'INSERT INTO sealed ' . rows(2001, 3200),
	'DELETE FROM sealed WHERE id % 19 = 0', 'VACUUM sealed', 'INSERT INTO sealed ' . rows(4001, 4300), 'UPDATE sealed SET a = 999 - a WHERE id % 97 = 0');
$node->psql('postgres', 'SET fragile.broken = on; INSERT INTO sealed SELECT id, a, b, c, id FROM (' . rows(5001, 6500) . ') r (id, a, b, c, u)');
$node->safe_psql('postgres', 'INSERT INTO sealed ' . rows(7001, 7100));
store_table($node, 'sealed', $directory);

# Equal values that look different, of which 1.0 kept one.
$node->safe_psql('postgres', $_) foreach ('CREATE TABLE images (id int, f float8, n numeric, v text)', 'CREATE INDEX images_idx ON images USING rtscan (id, f, n, v)',
	"INSERT INTO images SELECT i, CASE i % 3 WHEN 0 THEN '-0' WHEN 1 THEN 0 ELSE i::float8 END, round(i % 50, i % 2), 'v' || i % 9 FROM generate_series(1, 3000) i",
	'VACUUM images', 'DELETE FROM images WHERE id % 10 = 1', 'VACUUM (INDEX_CLEANUP ON) images');
store_table($node, 'images', $directory);

# Only pending rows.
define_table($node, 'pending');
$node->safe_psql('postgres', 'INSERT INTO pending ' . rows(1, 300));
store_table($node, 'pending', $directory);

foreach my $name (qw(large sealed images pending))
{
	my ($rc, $out, $error) = $node->psql('postgres', "SELECT rtscan_check('${name}_idx', true)");
	is($error, '', "$name is sound");
}
done_testing();
