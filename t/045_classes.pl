# Tests operator classes for another extension's type: they are dumped and upgraded like objects that users create,
# are dropped with rtscan, and depend on the other extension. Those for PostgreSQL's own types belong to rtscan.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $node = new_node('classes', '');
my $extensions = $node->config_data('--sharedir') . '/extension';
my @files = map { "$extensions/rtscan_words$_" } ('.control', '--1.sql');
plan(skip_all => "cannot write to $extensions") unless -w $extensions;
END { unlink(@files) if @files; }

append_to_file($files[0], "default_version = '1'\nrelocatable = false\n");
append_to_file($files[1], slurp_file("$FindBin::RealBin/../sql/include/words.psql"));

# Return the index with its operator class, and the plan and the answer of a query that only the type's own class can
# look up.
my $index = q{SELECT pg_get_indexdef('words_idx'::regclass), count(*) FROM words};
my $query = q{SELECT count(*) FROM words WHERE word = 'x7'};
my $classes = q{SELECT n.nspname, opcname, opcdefault, amvalidate(c.oid)
	FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod JOIN pg_namespace n ON n.oid = opcnamespace
	WHERE amname = 'rtscan' AND opcintype = '"%I word"'::regtype ORDER BY opcname};

sub is_used
{
	my ($server, $what) = @_;
	like($server->safe_psql('postgres', "SET enable_seqscan = off; EXPLAIN $query"),
		qr/Index: words_idx\n\s+Index Cond: \(word = 'x7'::"%I word"\)/, "$what: the type's operator is looked up");
	is($server->safe_psql('postgres', "SET enable_seqscan = off; $query"), 500, "$what: and finds what there is");
	return is($server->safe_psql('postgres', $classes), "public|word's|t|t\npublic|word_ops|f|t", "$what: the classes");
}

$node->start;
$node->safe_psql('postgres', $_) foreach ('CREATE EXTENSION rtscan', 'CREATE EXTENSION rtscan_words',
	q{CREATE TABLE words AS SELECT ((ARRAY['x', 'X'])[1 + i % 2] || i / 2 % 10)::"%I word" AS word, i AS n FROM generate_series(1, 5000) i});
my ($rc, $out, $err) = $node->psql('postgres', 'CREATE INDEX words_idx ON words USING rtscan (word)');
like($err, qr/NOTICE:  column "word" of index "words_idx" is compared as text, not as public."%I word"\n.*\n.*rtscan_mirror_classes\('rtscan_words'\)/,
	'the extension is named that the type is of');

# the error's hint works, and REINDEX does not
$node->safe_psql('postgres', "SELECT rtscan_mirror_classes('rtscan_words')");
$node->safe_psql('postgres', 'REINDEX INDEX words_idx');
like($node->safe_psql('postgres', $index), qr/\(word text_ops\)/, 'REINDEX keeps the class');
$node->safe_psql('postgres', 'DROP INDEX words_idx; CREATE INDEX words_idx ON words USING rtscan (word, n)');
is_used($node, 'created again');

# of a type that was added to PostgreSQL since
my $own = "SELECT count(*) FROM pg_opclass WHERE opcname = 'bool_ops' AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'rtscan')";
$node->safe_psql('postgres', $_) foreach ('ALTER EXTENSION rtscan DROP OPERATOR CLASS bool_ops USING rtscan',
	'ALTER EXTENSION rtscan DROP OPERATOR FAMILY bool_ops USING rtscan', 'DROP OPERATOR FAMILY bool_ops USING rtscan CASCADE');
is($node->safe_psql('postgres', $own), 0, 'a class is missing');
$node->safe_psql('postgres', 'SELECT rtscan_mirror_classes()');
is($node->safe_psql('postgres', $own), 1, 'and has been created');

# ---- pg_dump

my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->command_ok([ 'pg_dump', "--file=$dump", $node->connstr('postgres') ], 'pg_dump');
my @created = slurp_file($dump) =~ /^CREATE OPERATOR CLASS (\S+)/mg;
is("@created", q{public."word's" public.word_ops}, 'classes of the other extension are dumped, and no others');
my $restored = new_node('restored', '');
$restored->start;
$restored->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $restored->connstr('postgres') ], 'restored');
is($restored->safe_psql('postgres', $index), $node->safe_psql('postgres', $index), 'restored: the index');
is_used($restored, 'restored');
is($restored->safe_psql('postgres', 'SELECT rtscan_mirror_classes()'), '', 'restored: nothing is missing');

# ---- DROP EXTENSION

($rc, $out, $err) = $restored->psql('postgres', 'DROP TABLE words; DROP EXTENSION rtscan_words');
like($err, qr/cannot drop extension rtscan_words because other objects depend on it\n.*operator class "word's" for access method rtscan/s,
	'classes hold the extension that they are for');
$restored->safe_psql('postgres', 'DROP EXTENSION rtscan_words CASCADE');
is($restored->safe_psql('postgres', "SELECT count(*) FROM pg_opclass WHERE opcname = 'word_ops'"), 0, 'CASCADE takes them');
is($restored->safe_psql('postgres', "SELECT count(*) FROM pg_extension WHERE extname = 'rtscan'"), 1, 'and not rtscan');
$restored->safe_psql('postgres', "CREATE EXTENSION rtscan_words; SELECT rtscan_mirror_classes('rtscan_words')");
$restored->safe_psql('postgres', 'DROP EXTENSION rtscan');
is($restored->safe_psql('postgres', "SELECT count(*) FROM pg_extension WHERE extname = 'rtscan_words'"), 1,
	'rtscan can be dropped before the other extension');
$restored->stop;

# ---- pg_upgrade

$node->stop;
my $new = new_node('upgraded', '');
my $bin = $node->config_data('--bindir');
my $directory = PostgreSQL::Test::Utils::tempdir();
chdir($directory) or die "chdir: $!";
command_ok([ 'pg_upgrade', '--no-sync', '--old-bindir', $bin, '--new-bindir', $bin, '--old-datadir', $node->data_dir,
	'--new-datadir', $new->data_dir, '--socketdir', $new->host, '--old-port', $node->port, '--new-port', $new->port ], 'pg_upgrade');
chdir($FindBin::RealBin) or die "chdir: $!";
$new->start;
is_used($new, 'upgraded');
is($new->safe_psql('postgres', 'SELECT rtscan_mirror_classes()'), '', 'upgraded: nothing is missing');
$new->stop;

done_testing();
