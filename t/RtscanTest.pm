# What the tests in this directory share: a table with an rtscan index, and the comparison of an index scan with a
# sequential scan.
package RtscanTest;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(new_node create_tables rows compare_scans check_index healthy start_script finish_script
  $random_seed);

# Printed with the test's output, so that a failure can be run again: RTSCAN_TEST_SEED=n.
our $random_seed = $ENV{RTSCAN_TEST_SEED} // time() % 1_000_000;

# compare_scans(n): n random conjunctions, each answered through the index and by a sequential scan.  Call it in a
# REPEATABLE READ transaction, so that both see the same rows.
my $functions = q{
CREATE FUNCTION random_qual() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int := (random() * 1000)::int;
	quals text[] := ARRAY[
		format('a < %s', n), format('a >= %s', n), format('a BETWEEN %s AND %s', n, n + 100), format('a = %s', n),
		format('a = ANY (ARRAY[%s, %s, NULL])', n, n + 1), 'a IS NULL', 'a IS NOT NULL',
		format('b > %L', 'k' || n % 50), format('b = %L', 'k' || n % 50), format('b <= ANY (ARRAY[%L, %L])', 'k1', 'k' || n % 50),
		'b IS NULL', format('c < timestamptz %L', '2020-01-01 00:00+00'::timestamptz + n * interval '1 hour'),
		format('c >= timestamptz %L', '2020-01-01 00:00+00'::timestamptz + n * interval '1 hour')];
	chosen text[] := '{}';
BEGIN
	FOR i IN 1 .. 1 + (random() * 3)::int LOOP
		chosen := chosen || quals[1 + (random() * (array_length(quals, 1) - 1))::int];
	END LOOP;
	RETURN array_to_string(chosen, ' AND ');
END $$;

CREATE FUNCTION answer(name text, qual text, use_index bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT count(*) || md5(string_agg(ctid::text, %L ORDER BY ctid)) FROM %I WHERE %s', ',', name, qual);
	line text;
	plan text := '';
	result text;
BEGIN
	PERFORM set_config('enable_seqscan', CASE WHEN use_index THEN 'off' ELSE 'on' END, true);
	PERFORM set_config('enable_bitmapscan', CASE WHEN use_index THEN 'on' ELSE 'off' END, true);
	PERFORM set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	IF (plan LIKE '%Index Scan on ' || name || '_idx%') <> use_index AND plan LIKE '%Scan%' THEN
		RAISE EXCEPTION 'MISMATCH: not the plan that is tested: %', plan;
	END IF;
	EXECUTE query INTO result;
	RETURN coalesce(result, 'no row');
END $$;

CREATE FUNCTION compare_scans(name text, n int) RETURNS void LANGUAGE plpgsql SET jit = off AS $$
DECLARE
	qual text;
	by_scan text;
	by_index text;
BEGIN
	FOR i IN 1 .. n LOOP
		qual := random_qual();
		by_index := answer(name, qual, true);
		by_scan := answer(name, qual, false);
		IF by_index <> by_scan THEN
			RAISE EXCEPTION 'MISMATCH: % WHERE %: index % scan %, snapshot %', name, qual, by_index, by_scan, pg_current_snapshot();
		END IF;
	END LOOP;
END $$;
};

# A cluster that is initialised but not started.
sub new_node
{
	my ($name, $conf, %init) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(%init);
	$node->append_conf('postgresql.conf', "autovacuum = off\njit = off\nmaintenance_work_mem = 1MB\n"
		  . "rtscan.pending_list_limit = 64\n" . ($conf // ''));
	note("seed $random_seed");
	srand($random_seed);
	return $node;
}

# The rows first .. last, as a SELECT.
sub rows
{
	my ($first, $last) = @_;
	return "SELECT i, CASE WHEN i % 17 <> 0 THEN i::int8 * 7919 % 1000 END, CASE WHEN i % 11 <> 0 THEN 'k' || i % 50 END, "
	  . "'2020-01-01 00:00+00'::timestamptz + i % 1000 * interval '1 hour', 0 FROM generate_series($first, $last) i";
}

# The comparison's functions, and tables: name => [ '' or UNLOGGED, rows ], each with an index name_idx on three columns.
sub create_tables
{
	my ($node, %tables) = @_;
	$node->safe_psql('postgres', "CREATE EXTENSION rtscan; $functions");
	foreach my $name (sort keys %tables)
	{
		my ($kind, $rows) = @{ $tables{$name} };
		$node->safe_psql('postgres', "CREATE $kind TABLE $name (id int, a int, b text, c timestamptz, u int);"
			  . "INSERT INTO $name " . rows(1, $rows) . ";"
			  . "CREATE INDEX ${name}_idx ON $name USING rtscan (a, b, c);");
	}
	return;
}

sub compare_scans
{
	my ($node, $name, $what, $count) = @_;
	$count //= 40;
	my ($rc, $out, $err) = $node->psql('postgres',
		"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT compare_scans('$name', $count); COMMIT;", on_error_stop => 1);
	return ok($rc == 0, "$what: index and sequential scan of $name agree") || diag($err);
}

sub check_index
{
	my ($node, $name, $what) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT rtscan_check('${name}_idx', true)");
	return ok($rc == 0, "$what: rtscan_check of ${name}_idx") || diag($err);
}

# The table's index answers right, and its structure is right.
sub healthy
{
	my ($node, $name, $what) = @_;
	my $agree = compare_scans($node, $name, $what);
	return check_index($node, $name, $what) && $agree;
}

# Run statements in a psql of their own, in the background; a failing one does not end it.
sub start_script
{
	my ($node, @statements) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/script.sql';
	append_to_file($file, join('', map { "$_;\n" } @statements));
	my $run = IPC::Run::start([ 'psql', '-X', '-q', '-A', '-t', '-d', $node->connstr('postgres'), '-f', $file ],
		'<', '/dev/null', '>', '/dev/null', '2>', "$file.err");
	return { run => $run, errors => "$file.err" };
}

# Its errors, once it is done.
sub finish_script
{
	my ($script) = @_;
	$script->{run}->finish;
	return slurp_file($script->{errors});
}

1;
