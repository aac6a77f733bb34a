# Tests that an index keeps its pages and its answers when pg_upgrade upgrades a cluster from an older major version
# of PostgreSQL. RTSCAN_OLD_SERVER is the directory with bin/ of the older version, which has rtscan:
# tools/check-major.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/..";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

plan skip_all => 'RTSCAN_OLD_SERVER names no older server' unless $ENV{RTSCAN_OLD_SERVER};

my $settings = "rtscan.merge_worker = off\nrtscan.pending_list_limit = 64kB\njit = off\n";
my $old = PostgreSQL::Test::Cluster->new('old', install_path => $ENV{RTSCAN_OLD_SERVER});
$old->init(extra => [ '--locale=C.UTF-8', '--encoding=UTF8' ]);
$old->append_conf('postgresql.conf', $settings);
$old->start;

# Segments, dead and pending rows, pages that are free or about to be; transactions of long ago, and recent ones.
create_tables($old, t => [ '', 100 ]);
$old->safe_psql('postgres', $_) foreach (
	'INSERT INTO t ' . rows(1, 20_000), 'INSERT INTO t ' . rows(20_001, 26_000), 'DELETE FROM t WHERE id % 5 = 0', 'VACUUM FREEZE t',
	'BEGIN; INSERT INTO t ' . rows(30_001, 35_000) . '; ROLLBACK', 'UPDATE t SET a = 999 - a WHERE id % 7 = 0', 'VACUUM t',
	'DELETE FROM t WHERE id % 11 = 0', 'INSERT INTO t ' . rows(40_001, 40_500));
$old->safe_psql('postgres', 'CREATE TABLE one (LIKE t); INSERT INTO one SELECT * FROM t; CREATE INDEX one_idx ON one USING rtscan (a, b, c) INCLUDE (id) WITH (sieve_components = 1)');
healthy($old, $_, 'before') foreach qw(t one);
$old->safe_psql('postgres', 'CREATE DATABASE old_extension');
$old->safe_psql('old_extension', "CREATE EXTENSION rtscan VERSION '1.0'");

my $files = q{SELECT relname, md5(pg_read_binary_file(pg_relation_filepath(oid))) FROM pg_class
WHERE relkind = 'i' AND relam = (SELECT oid FROM pg_am WHERE amname = 'rtscan') ORDER BY 1};
my $sums = 'SELECT count(*), sum(a), min(b), max(c), sum(hashtextextended(t::text, 0)) FROM t WHERE a BETWEEN 100 AND 700';
$old->safe_psql('postgres', 'CHECKPOINT');
my ($content, $summed) = map { $old->safe_psql('postgres', $_) } ($files, $sums);
my ($old_version, $old_bin) = ($old->safe_psql('postgres', 'SHOW server_version_num'), $old->config_data('--bindir'));
$old->stop;

my $new = PostgreSQL::Test::Cluster->new('new');
my $new_bin = $new->config_data('--bindir');
# 18 enables checksums by default, and the old cluster has none
my $checksums = `$new_bin/initdb --help` =~ /--no-data-checksums/ ? ['--no-data-checksums'] : [];
$new->init(extra => [ '--locale=C.UTF-8', '--encoding=UTF8', @$checksums ]);
$new->append_conf('postgresql.conf', $settings);
# it leaves files in the working directory
chdir(PostgreSQL::Test::Utils::tempdir()) or die "chdir: $!";
command_ok([ 'pg_upgrade', '--no-sync', '--old-bindir', $old_bin, '--new-bindir', $new_bin, '--old-datadir', $old->data_dir,
		'--new-datadir', $new->data_dir, '--socketdir', $new->host, '--old-port', $old->port, '--new-port', $new->port ], 'pg_upgrade');
chdir($FindBin::RealBin) or die "chdir: $!";

$new->start;
cmp_ok($new->safe_psql('postgres', 'SHOW server_version_num'), '>', $old_version, 'it is a newer version');
is($new->safe_psql('postgres', $files), $content, 'indexes are what they were, to the last byte');
$new->safe_psql('postgres', 'ANALYZE');
is($new->safe_psql('postgres', $sums), $summed, 'so are rows');
healthy($new, $_, 'upgraded') foreach qw(t one);

# Types of the newer version, such as oid8 of 19, get operator classes by the function, or with a newer version of
# the extension.
my $missing = q{SELECT opcname FROM pg_opclass c WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'btree')
AND NOT EXISTS (SELECT FROM pg_opclass m WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'rtscan')
	AND m.opcname = c.opcname AND m.opcintype = c.opcintype AND m.opcdefault = c.opcdefault) ORDER BY opcname};
my $others = q{SELECT count(*) FROM pg_opclass c WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'rtscan')
AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_opclass'::regclass AND objid = c.oid AND deptype = 'e')};
my $classes = $new->safe_psql('postgres', $missing);
is($new->safe_psql('old_extension', $missing), $classes, 'the same operator classes are missing in all databases');
note("classes that are missing: $classes");
is($new->safe_psql('postgres', q{SELECT replace(class, 'public.', '') FROM rtscan_mirror_classes() AS class ORDER BY 1}), $classes,
	'what is missing is created');
$new->safe_psql('old_extension', 'ALTER EXTENSION rtscan UPDATE');
foreach my $database (qw(postgres old_extension))
{
	is($new->safe_psql($database, $missing), '', "$database: no class is missing");
	is($new->safe_psql($database, $others), 0, "$database: all belong to the extension");
	is($new->safe_psql($database, 'SELECT rtscan_mirror_classes()'), '', "$database: nothing is left to do");
}
SKIP:
{
	skip('there is no oid8', 2) if $classes !~ /oid8/;
	$new->safe_psql('postgres', 'CREATE TABLE eights AS SELECT (i * 4294967296)::bigint::text::oid8 AS o FROM generate_series(1, 10000::bigint) i');
	$new->safe_psql('postgres', 'CREATE INDEX eights_idx ON eights USING rtscan (o); VACUUM ANALYZE eights');
	like($new->safe_psql('postgres', "EXPLAIN SELECT count(*) FROM eights WHERE o < '42949672960'"), qr/Rtscan.*eights_idx/s, 'oid8 is looked up');
	is($new->safe_psql('postgres', "SELECT count(*) FROM eights WHERE o < '42949672960'"), 9, 'and found');
}

$new->safe_psql('postgres', $_) foreach ('INSERT INTO t ' . rows(50_001, 56_000), 'DELETE FROM t WHERE id % 13 = 0', 'VACUUM t',
	'UPDATE t SET a = a + 1 WHERE id % 3 = 0', 'INSERT INTO one SELECT * FROM t WHERE id > 40000', 'VACUUM', "SELECT rtscan_merge('one_idx')");
healthy($new, $_, 'upgraded, changed') foreach qw(t one);
$new->stop('immediate');
$new->start;
healthy($new, $_, 'upgraded, changed, crashed') foreach qw(t one);
unlike(slurp_file($new->logfile), qr/TRAP:|PANIC:|was terminated by signal/, 'the server never crashed');
$new->stop;

done_testing();
