# Tests that indexes keep their definitions in a dump, and their pages in pg_upgrade; that indexes of another format
# version ask for REINDEX; and that the extension can be updated and dropped.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use StoredFormat;
use Test::More;

# Make changes so that the index has segments, dead and pending rows, and pages that are free or about to be.
my @history = map { my $statement = $_; map { $statement =~ s/\bt\b/$_/r } qw(t more) } (
	'INSERT INTO t ' . rows(1, 20_000), 'INSERT INTO t ' . rows(20_001, 26_000),
	'DELETE FROM t WHERE id % 5 = 0', 'VACUUM t', 'BEGIN; INSERT INTO t ' . rows(30_001, 35_000) . '; ROLLBACK',
	'UPDATE t SET a = 999 - a WHERE id % 7 = 0', 'DELETE FROM t WHERE id % 11 = 0', 'INSERT INTO t ' . rows(40_001, 40_500));
push @history, 'INSERT INTO parts SELECT id, a, b FROM t WHERE id < 10000', 'REFRESH MATERIALIZED VIEW view';

my $more_indexes = q{
CREATE TABLE more (LIKE t);
CREATE INDEX more_options ON more USING rtscan (a, c) WITH (sieve_bins = 64, sieve_components = 1);
CREATE INDEX more_include ON more USING rtscan (b) INCLUDE (id, u, b);
CREATE INDEX more_partial ON more USING rtscan (a, b) WHERE a < 500 AND b IS NOT NULL;
CREATE INDEX more_expression ON more USING rtscan ((a % 10), lower(b) COLLATE "C", (c AT TIME ZONE 'UTC'));
CREATE INDEX more_classes ON more USING rtscan (b text_pattern_ops, a int4_ops, b COLLATE "POSIX") WITH (sieve_bins = 1024);
CREATE OPERATOR FAMILY backwards USING rtscan;
CREATE FUNCTION backwards(int, int) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT btint4cmp($2, $1)';
CREATE OPERATOR CLASS backwards FOR TYPE int USING rtscan FAMILY backwards AS
	OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 backwards(int, int);
CREATE INDEX more_backwards ON more USING rtscan (a backwards, id) WHERE a IS NOT NULL;
COMMENT ON INDEX more_backwards IS 'its order is the other way round';
ALTER INDEX more_expression ALTER COLUMN 1 SET STATISTICS 300;
CREATE TABLE parts (id int, a int, b text) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (5000);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (5000) TO (100000);
CREATE INDEX parts_all ON parts USING rtscan (a, b) INCLUDE (id) WITH (sieve_bins = 32);
CREATE MATERIALIZED VIEW view AS SELECT id, a, b FROM t WHERE id < 3000;
CREATE INDEX view_idx ON view USING rtscan (a, b);
};

# Return each index with everything that is stored about it.
my $definitions = q{
SELECT indexrelid::regclass, pg_get_indexdef(indexrelid), reloptions, indisvalid, obj_description(indexrelid),
	(SELECT string_agg(attstattarget::text, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = indexrelid)
FROM pg_index JOIN pg_class c ON c.oid = indexrelid
WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'rtscan')
ORDER BY indexrelid::regclass::text};

my $check_all = q{
SELECT rtscan_check(c.oid, true) FROM pg_class c WHERE relkind = 'i' AND relam = (SELECT oid FROM pg_am WHERE amname = 'rtscan')};

# Return what scans of the other indexes find, each by the intended index.
my %queries = (
	more_options => "a BETWEEN 100 AND 300 AND c < timestamptz '2020-01-20 00:00+00'", more_include => "b >= 'k3'",
	more_partial => "a < 500 AND b IS NOT NULL AND b > 'k2'", more_expression => 'a % 10 = 3', more_classes => "b ~>=~ 'k4'",
	more_backwards => 'a IS NOT NULL AND a > 900 AND id < 30000');

my $sequential = 'SET enable_bitmapscan = off; SET rtscan.enable_scan = off; SET rtscan.enable_aggregate = off;';

sub use_other_indexes
{
	my ($node, $what) = @_;
	foreach my $index (sort keys %queries)
	{
		my $query = "SELECT count(*), sum(id) FROM more WHERE $queries{$index}";
		# the planner sees only this index
		my $only = "BEGIN; " . join('', map { "DROP INDEX $_;" } grep { $_ ne $index } sort keys %queries);
		my $bitmap = 'SET enable_seqscan = off; SET rtscan.enable_scan = off;';
		my ($plan, $found) = map { $node->safe_psql('postgres', "$bitmap $only $_ $query; ROLLBACK") } ('EXPLAIN', '');
		my $expected = $node->safe_psql('postgres', "$sequential $query");
		like($plan, qr/\b$index\b/, "$what: $index is used");
		is($found, $expected, "$what: $index and a sequential scan agree");
	}
	my ($rc, $out, $err) = $node->psql('postgres', $check_all);
	return ok($rc == 0, "$what: rtscan_check of all indexes") || diag($err);
}

sub change
{
	my ($node, $what) = @_;
	$node->safe_psql('postgres', $_) foreach ('INSERT INTO t ' . rows(50_001, 56_000), 'DELETE FROM t WHERE id % 13 = 0', 'VACUUM t',
		'UPDATE t SET a = a + 1 WHERE id % 3 = 0', 'INSERT INTO more SELECT * FROM t WHERE id > 40000', 'UPDATE more SET a = a - 1 WHERE id % 6 = 0',
		'INSERT INTO parts SELECT id, a, b FROM t WHERE id BETWEEN 20000 AND 30000', 'REFRESH MATERIALIZED VIEW view', 'VACUUM');
	healthy($node, 't', "$what, changed");
	use_other_indexes($node, "$what, changed");
	return;
}

sub unharmed
{
	my ($node, $what) = @_;
	return unlike(slurp_file($node->logfile), qr/TRAP:|PANIC:|was terminated by signal/, "$what: the server never crashed");
}

my $old = new_node('old', "rtscan.merge_worker = off\n");
$old->start;
create_tables($old, t => [ '', 100 ]);
$old->safe_psql('postgres', $_) foreach ($more_indexes, @history);
healthy($old, 't', 'before');
use_other_indexes($old, 'before');
my $defined = $old->safe_psql('postgres', $definitions);
like($defined, qr/sieve_bins='64', sieve_components='1'.*/, 'there are options to keep');
is(scalar(split(/\n/, $defined)), 11, 'there are indexes to keep');

# ---- pg_dump and pg_restore

my $store = PostgreSQL::Test::Utils::tempdir();
my $restored = new_node('restored', "rtscan.merge_worker = off\n");
$restored->start;
foreach my $format (qw(plain custom directory))
{
	$restored->safe_psql('template1', $_) foreach ('DROP DATABASE postgres', 'CREATE DATABASE postgres TEMPLATE template0');
	$old->command_ok([ 'pg_dump', "--format=$format", "--file=$store/$format", $old->connstr('postgres') ], "pg_dump, $format");
	$restored->command_ok($format eq 'plain'
		? [ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$store/$format", $restored->connstr('postgres') ]
		: [ 'pg_restore', '--exit-on-error', '--dbname', $restored->connstr('postgres'), "$store/$format" ], "restore, $format");
	is($restored->safe_psql('postgres', $definitions), $defined, "restored, $format: indexes are as they were");
	$restored->safe_psql('postgres', 'ANALYZE');
	healthy($restored, 't', "restored, $format");
	use_other_indexes($restored, "restored, $format");
}
change($restored, 'restored');

# ---- the extension itself

my ($rc, $out, $err) = $restored->psql('postgres', 'ALTER EXTENSION rtscan UPDATE');
is($rc, 0, 'ALTER EXTENSION UPDATE succeeds');
like($err, qr/NOTICE:  version "[0-9.]+" of extension "rtscan" is already installed/, 'there is nothing to update');
healthy($restored, 't', 'after ALTER EXTENSION UPDATE');
use_other_indexes($restored, 'after ALTER EXTENSION UPDATE');

($rc, $out, $err) = $restored->psql('postgres', 'DROP EXTENSION rtscan');
like($err, qr/cannot drop extension rtscan because other objects depend on it/, 'indexes keep the extension');
my $table = 'SELECT count(*), sum(hashtextextended(t::text, 0)) FROM t';
my $rows = $restored->safe_psql('postgres', $table);
$restored->safe_psql('postgres', 'DROP EXTENSION rtscan CASCADE');
is($restored->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname ~ '^(t|more)_' OR relname = 'parts_all'"), 0, 'CASCADE takes the indexes');
is($restored->safe_psql('postgres', "SELECT count(*) FROM pg_opclass WHERE opcname = 'backwards'"), 0, 'and operator classes of users');
is($restored->safe_psql('postgres', $table), $rows, 'and leaves the rows');
$restored->safe_psql('postgres', 'INSERT INTO t ' . rows(60_001, 60_100) . '; VACUUM t');
$restored->safe_psql('postgres', 'CREATE EXTENSION rtscan; CREATE INDEX t_idx ON t USING rtscan (a, b, c)');
healthy($restored, 't', 'created again');
unharmed($restored, 'restored');
$restored->stop;

# ---- pg_upgrade with the same version, so that the files are comparable

sub upgrade
{
	my ($mode) = @_;
	my $new = new_node("upgraded_$mode", "rtscan.merge_worker = off\n");
	my $bin = $old->config_data('--bindir');
	# it leaves files in the working directory
	my $directory = PostgreSQL::Test::Utils::tempdir();
	chdir($directory) or die "chdir: $!";
	command_ok([ 'pg_upgrade', '--no-sync', ($mode eq 'link' ? '--link' : ()), '--old-bindir', $bin, '--new-bindir', $bin,
			'--old-datadir', $old->data_dir, '--new-datadir', $new->data_dir,
			'--socketdir', $new->host, '--old-port', $old->port, '--new-port', $new->port ], "pg_upgrade, $mode");
	chdir($FindBin::RealBin) or die "chdir: $!";
	return $new;
}

my $files = "SELECT relname, pg_relation_size(oid), md5(pg_read_binary_file(pg_relation_filepath(oid))) FROM pg_class "
  . "WHERE relkind = 'i' AND relam = (SELECT oid FROM pg_am WHERE amname = 'rtscan') ORDER BY 1";
$old->safe_psql('postgres', 'CHECKPOINT');
my $content = $old->safe_psql('postgres', $files);
$old->stop;
my $new;
# the old files are the new ones after --link, so this is last
foreach my $mode (qw(copy link))
{
	$new = upgrade($mode);
	$new->start;
	is($new->safe_psql('postgres', $definitions), $defined, "upgraded, $mode: indexes are as they were");
	is($new->safe_psql('postgres', $files), $content, "upgraded, $mode: to the last byte");
	healthy($new, 't', "upgraded, $mode");
	use_other_indexes($new, "upgraded, $mode");
	change($new, "upgraded, $mode");
	$new->restart;
	healthy($new, 't', "upgraded, $mode, restarted");
	unharmed($new, "upgraded, $mode");
	$new->stop if $mode eq 'copy';
}

# ---- an index that another version of rtscan has built

my $header = slurp_file("$FindBin::RealBin/../src/storage/metapage.h");
my $format = $header =~ /#define RTSCAN_FORMAT_VERSION\s+(\d+)/ ? $1 : die 'no format version';
my $oldest = $header =~ /#define RTSCAN_OLDEST_FORMAT\s+(\d+)/ ? $1 : die 'no oldest format version';
# of page 0: the payload's second word (storage/page.h, RtscanMeta)
my $format_offset = 64 + 4;

sub set_format
{
	my ($name, $from, $to) = @_;
	my $file = $new->data_dir . '/' . $new->safe_psql('postgres', "SELECT pg_relation_filepath('${name}_idx')");
	$new->stop;
	open(my $handle, '+<:raw', $file) or die "open: $!";
	seek($handle, $format_offset, 0);
	read($handle, my $bytes, 4);
	is(unpack('L', $bytes), $from, "$name: format version $from");
	seek($handle, $format_offset, 0);
	print $handle pack('L', $to);
	close($handle) or die "close: $!";
	$new->start;
	return;
}

my @reading = (
	[ scan => "SET enable_seqscan = off; SELECT * FROM stamped WHERE a < 10" ],
	[ aggregate => "SET enable_seqscan = off; SELECT count(*) FROM stamped WHERE a < 10" ],
	[ insert => 'INSERT INTO stamped ' . rows(1, 1) ],
	[ copy => "COPY stamped (id) FROM PROGRAM 'echo 1'" ],
	[ update => 'UPDATE stamped SET a = a + 1 WHERE id = 2' ],
	[ vacuum => 'VACUUM stamped' ], [ 'vacuum without dead rows' => 'VACUUM undead' ], [ merge => "SELECT rtscan_merge('stamped_idx')" ],
	[ check => "SELECT rtscan_check('stamped_idx')" ], [ stats => "SELECT rtscan_stats('stamped_idx')" ]);

foreach my $name (qw(stamped undead))
{
	$new->safe_psql('postgres', "CREATE TABLE $name (LIKE t); INSERT INTO $name " . rows(1, 3000)
		  . "; CREATE INDEX ${name}_idx ON $name USING rtscan (a, b, c)");
	$new->safe_psql('postgres', "VACUUM ANALYZE $name");
}
foreach my $other ($oldest - 1, $format + 1, 4294967295)
{
	my $hint = $other > $format ? 'A newer version of rtscan has written the index\. .* Or REINDEX the index\.' : 'Please REINDEX it\.';
	my $message = qr/ERROR:  index "(stamped|undead)_idx" has format version $other, but this rtscan reads versions $oldest to $format\nHINT:  $hint/;
	$new->safe_psql('postgres', 'DELETE FROM stamped WHERE id % 31 = 0');
	set_format($_, $format, $other) foreach qw(stamped undead);
	my $log = -s $new->logfile;
	foreach my $case (@reading)
	{
		my ($what, $statement) = @$case;
		$new->psql('postgres', $statement, stderr => \my $error);
		like($error, $message, "format $other: $what");
	}
	# operations that do not need the index
	$new->safe_psql('postgres', $_) foreach ("$sequential SELECT * FROM stamped",
		'DELETE FROM stamped WHERE id = 5', 'ANALYZE stamped', 'VACUUM (INDEX_CLEANUP OFF) stamped', 'BEGIN; DROP INDEX stamped_idx; ROLLBACK');
	$new->safe_psql('postgres', $other > $format ? 'REINDEX INDEX stamped_idx' : 'REINDEX TABLE CONCURRENTLY stamped');
	$new->safe_psql('postgres', 'REINDEX INDEX undead_idx; INSERT INTO stamped ' . rows(1, 2000));
	$new->safe_psql('postgres', 'VACUUM stamped');
	healthy($new, 'stamped', "format $other, after REINDEX");
}

# ---- indexes of earlier formats, which can be read

# Return the fields of a metapage.
sub stored_format
{
	my ($name) = @_;
	return $new->safe_psql('postgres', "SELECT rtscan_format('${name}_idx')");
}

# Return whether RtscanMeta of format 3 names a sealed list.
sub names_sealed_list
{
	my ($name) = @_;
	$new->safe_psql('postgres', 'CHECKPOINT');
	return 0 + (unpack('x152 Q', slurp_file($new->data_dir . '/' . $new->safe_psql('postgres', "SELECT pg_relation_filepath('${name}_idx')"))) != 0);
}

# Dead and pending rows, and sieve vectors, all of which exist.
sub parts
{
	my ($name) = @_;
	return $new->safe_psql('postgres', qq{
		SELECT concat_ws(' ', CASE WHEN dead > 0 THEN 'dead' END, CASE WHEN pending > 0 THEN 'pending' END,
			CASE WHEN vectors > 0 THEN 'vectors' END)
		FROM rtscan_stats('${name}_idx')});
}

my %stored = (3 => { large => 'dead vectors', sealed => 'dead pending', pending => 'pending' });
# the first statement to change anything
my %first_change = (insert => 'INSERT INTO TABLE_ ' . rows(200_001, 204_000), vacuum => 'VACUUM TABLE_', merge => q{SELECT rtscan_merge('TABLE__idx')});

sub loaded
{
	my ($stored, $name, $parts) = @_;
	if ($stored =~ /large/) { define_large($new, $name); }
	else { define_table($new, $name); }
	load_table($new, $name, $stored);
	$new->safe_psql('postgres', "ANALYZE $name");
	is(parts($name), $parts, "$name: what there is in it");
	return;
}

# Bytes of an INCLUDEd int: 4 in format 3, which had no frames.
sub include_width
{
	my ($name) = @_;
	return $new->safe_psql('postgres', "SELECT round(include_bytes::numeric / rows, 1) FROM rtscan_stats('${name}_idx')");
}

# A segment half of whose rows are dead is merged alone: it is written in the newest format, as by REINDEX.
sub rewritten
{
	my ($name) = @_;
	my $memory = large_segments();
	$new->safe_psql('postgres', $_) foreach ("DELETE FROM $name WHERE id % 2 = 0", "$memory; VACUUM $name",
		"$memory; SELECT rtscan_merge('${name}_idx')");
	is($new->safe_psql('postgres', "SELECT dead FROM rtscan_stats('${name}_idx')"), 0, "$name: merged");
	cmp_ok(include_width($name), '<', 2.5, "$name: values are in frames");
	healthy($new, $name, "$name, merged");
	$new->safe_psql('postgres', "$memory; REINDEX INDEX ${name}_idx");
	cmp_ok(include_width($name), '<', 2.5, "$name: by REINDEX as well");
	healthy($new, $name, "$name, REINDEXed");
	return;
}

define_comparison($new);
foreach my $number ($oldest .. $format - 1)
{
	ok(exists $stored{$number}, "there are indexes of format $number") or next;
	foreach my $kind (sort keys %{ $stored{$number} })
	{
		foreach my $change (sort keys %first_change)
		{
			my $name = "format_${number}_${kind}_$change";
			loaded("format-$number/$kind", $name, $stored{$number}{$kind});
			is(stored_format($name), $number, "$name: so the metapage says");
			is(names_sealed_list($name), $kind eq 'sealed' ? 1 : 0, "$name: a sealed list") if $number == 3;
			healthy($new, $name, $name);
			cmp_ok(include_width($name), '>', 3.9, "$name: values have their own width") if $kind eq 'large';
			$new->safe_psql('postgres', "INSERT INTO $name " . rows(100_001, 100_001));
			is(stored_format($name), $number, "$name: as long as only rows change") if $kind ne 'large';
			healthy($new, $name, "$name, a row more");
			$new->safe_psql('postgres', $first_change{$change} =~ s/TABLE_/$name/r);
			is(stored_format($name), $format, "$name: the first change of the image writes format $format");
			healthy($new, $name, "$name, changed");
			$new->stop('immediate');
			$new->start;
			healthy($new, $name, "$name, crashed");
			vacuum_completely($new, $name);
			is($new->safe_psql('postgres',
					"SELECT pending, rows - dead = (SELECT count(*) FROM $name) FROM rtscan_stats('${name}_idx')"),
				'0|t', "$name: vacuumed")
			  || diag($new->safe_psql('postgres', "SELECT * FROM rtscan_stats('${name}_idx')"));
			healthy($new, $name, "$name, vacuumed");
			rewritten($name) if $kind eq 'large';
			$new->safe_psql('postgres', "DROP TABLE $name");
		}
	}
}

# ---- images of values that are equal but look different: rtscan 1.0 kept only one

# Columns of which the index has all values.
sub returned_columns
{
	return $new->safe_psql('postgres', q{
		SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute
		WHERE attrelid = 'images'::regclass AND attnum > 0 AND pg_index_column_has_property('images_idx', attnum, 'returnable')});
}

# Return values from the index, or the rows, and from a sequential scan.
sub same_images
{
	my ($what, $returned) = @_;
	my $by_index = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';
	is(returned_columns(), $returned, "images, $what: columns that are returned");
	foreach my $query ('SELECT f, n, v FROM images WHERE id > 50', 'SELECT n::text, count(*), min(id) FROM images WHERE f = 0 GROUP BY 1',
		'SELECT id, f FROM images WHERE n BETWEEN 7 AND 9', 'SELECT min(f), max(f), min(n), max(n) FROM images WHERE id = 666')
	{
		my $hash = "SELECT count(*), sum(hashtextextended(q::text, 0)) FROM ($query) q";
		is($new->safe_psql('postgres', "$by_index $hash"), $new->safe_psql('postgres', "$sequential $hash"), "images, $what: $query");
		like($new->safe_psql('postgres', "$by_index EXPLAIN $query"), qr/Index: images_idx|on images_idx/, "images, $what: by the index");
	}
	$new->safe_psql('postgres', q{SELECT rtscan_check('images_idx', true)});
	return;
}

$new->safe_psql('postgres', 'CREATE TABLE images (id int, f float8, n numeric, v text) WITH (autovacuum_enabled = off);'
	  . 'CREATE INDEX images_idx ON images USING rtscan (id, f, n, v)');
load_table($new, 'images', 'format-3/images');
$new->safe_psql('postgres', 'ANALYZE images');
is(stored_format('images'), 3, 'images: format 3');
same_images('as they were', 'id n v');
$new->safe_psql('postgres', $_) foreach ("INSERT INTO images SELECT i, CASE i % 2 WHEN 0 THEN '-0' ELSE 0::float8 END, round(i % 50, i % 3), 'w' "
	  . 'FROM generate_series(4001, 6000) i', 'VACUUM images', 'DELETE FROM images WHERE id % 2 = 0', 'VACUUM images');
same_images('beside others', 'id n v');
$new->safe_psql('postgres', q{SELECT rtscan_merge('images_idx')});
is($new->safe_psql('postgres', q{SELECT dead FROM rtscan_stats('images_idx')}), 0, 'images: merged');
same_images('merged', 'id n v');
$new->safe_psql('postgres', 'REINDEX INDEX images_idx');
same_images('after REINDEX', 'id f n v');
unharmed($new, 'other formats');
$new->stop;

done_testing();
