# Functions for indexes in formats of earlier versions of rtscan: t/data/format-N/*.bz2 are the files of tables and
# of their indexes, written by t/data/store.pl. Tables are frozen, so that they need no transaction status; pages
# have no LSN. A large table has no file, because statements make it again, with each row at the same place.
package StoredFormat;

use strict;
use warnings;

use Exporter 'import';
use FindBin;
use IO::Compress::Bzip2 qw(bzip2 $Bzip2Error);
use IO::Uncompress::Bunzip2 qw(bunzip2 $Bunzip2Error);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

our @EXPORT = qw(define_comparison define_table define_large fill_large store_table load_table);

# The error with which flushing values fails while fragile.broken is on.
sub define_comparison
{
	my ($node) = @_;
	$node->safe_psql('postgres', q{
CREATE FUNCTION fragile(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF current_setting('fragile.broken', true) = 'on' AND $1 <> $2 THEN RAISE 'broken'; END IF;
	RETURN btint4cmp($1, $2);
END $$;
CREATE OPERATOR CLASS fragile FOR TYPE int USING rtscan AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 fragile(int, int);
});
	return;
}

# Create a table for rows(), and its index name_idx.
sub define_table
{
	my ($node, $name, $index) = @_;
	$node->safe_psql('postgres', "CREATE TABLE $name (id int, a int, b text, c timestamptz, u int);"
		  . "CREATE INDEX ${name}_idx ON $name USING rtscan " . ($index // '(a, b, c, u fragile) INCLUDE (id, u)'));
	return;
}

# Create a table with more rows than a chunk, so that its index, made by fill_large(), has sieve vectors.
sub define_large
{
	my ($node, $name) = @_;
	define_table($node, $name, '(a, b, c) INCLUDE (u) WITH (sieve_bins = 64)');
	return;
}

sub fill_large
{
	my ($node, $name) = @_;
	$node->safe_psql('postgres', qq{
		INSERT INTO $name
		SELECT i, CASE WHEN i % 6000 >= 500 THEN i / 60 % 1000 END,
			CASE WHEN i % 7000 >= 300 THEN 'k' || i / 1000 % 40 END,
			'2020-01-01 00:00+00'::timestamptz + i / 50 % 1000 * interval '1 hour', i / 100
		FROM generate_series(1, 66000) i});
	$node->safe_psql('postgres', $_) foreach (large_segments() . "; REINDEX INDEX ${name}_idx", "DELETE FROM $name WHERE id % 190 = 1");
	return;
}

sub paths
{
	my ($node, $name) = @_;
	return map { [ $_, $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$_')") ] } ($name, "${name}_idx");
}

# Restart the running node.
sub store_table
{
	my ($node, $name, $directory) = @_;
	$node->safe_psql('postgres', "VACUUM (FREEZE, INDEX_CLEANUP OFF, TRUNCATE OFF) $name");
	my @paths = paths($node, $name);
	$node->stop;
	shift @paths if $name eq 'large';
	foreach my $path (@paths)
	{
		my ($relation, $file) = @$path;
		my $pages = join('', map { "\0" x 8 . substr($_, 8) } unpack('(a8192)*', slurp_file($file)));
		bzip2(\$pages, "$directory/$relation.bz2") or die "bzip2: $Bzip2Error";
	}
	$node->start;
	return;
}

# Give a table that has just been created the rows of a stored one, and its index the pages. Restarts the running
# node.
sub load_table
{
	my ($node, $name, $stored) = @_;
	my $is_large = $stored =~ /large$/;
	fill_large($node, $name) if $is_large;
	my @paths = paths($node, $name);
	shift @paths if $is_large;
	my $checksums = $node->safe_psql('postgres', 'SHOW data_checksums');
	$node->stop;
	foreach my $path (@paths)
	{
		my ($relation, $file) = @$path;
		my $from = "$FindBin::RealBin/data/$stored" . ($relation =~ /_idx$/ ? '_idx' : '') . '.bz2';
		bunzip2($from, $file) or die "$from: $Bunzip2Error";
	}
	if ($checksums eq 'on')
	{
		system_or_bail('pg_checksums', "--$_", '-D', $node->data_dir) foreach qw(disable enable);
	}
	$node->start;
	# the index has retired something at an xid of the server that it comes from
	$node->safe_psql('postgres', 'DO $$ BEGIN FOR i IN 1 .. 1000 LOOP PERFORM txid_current(); COMMIT; END LOOP; END $$');
	return;
}

1;
