# Functions for the tests in this directory: a table with an rtscan index, and the comparison of its scans with a
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
  directory_entries page_use vacuum_completely large_segments $random_seed);

# For the tests in sql/ and specs/: Makefile.
delete $ENV{PGOPTIONS};

# Printed with the test's output, so that a failure can be repeated: RTSCAN_TEST_SEED=n.
our $random_seed = $ENV{RTSCAN_TEST_SEED} // time() % 1_000_000;

# compare_scans(n) runs n random conjunctions, each by one kind of scan of the index and by a sequential scan. Call
# it in a REPEATABLE READ transaction, so that both see the same rows.
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

-- By a sequential or bitmap scan, or by RtscanScan, of rows in the heap or of columns in the index: which rows, or what the
-- index's columns have. The index is looked up by the snapshot: meanwhile REINDEX CONCURRENTLY may have given its name to another.
CREATE FUNCTION answer(name text, qual text, kind text, by_values bool DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	columns text := (
		SELECT string_agg(attname, ', ' ORDER BY n)
		FROM pg_class i JOIN pg_index ON indexrelid = i.oid, unnest(indkey) WITH ORDINALITY k (number, n), pg_attribute
		WHERE i.relname = name || '_idx' AND attrelid = indrelid AND attnum = number AND number > 0);
	query text := format('SELECT count(*) || md5(string_agg(%1$s, %2$L ORDER BY %1$s)) FROM %3$I WHERE %4$s',
		CASE WHEN by_values THEN format('ROW(%s)::text', columns) ELSE 'ctid::text' END, ',', name, qual);
	node text := CASE kind
		WHEN 'sequential' THEN 'Seq Scan on ' || name
		WHEN 'bitmap' THEN 'Bitmap Index Scan on ' || name || '_idx'
		-- where a table has several indexes another may be cheaper, with INCLUDEd values for a filter
		ELSE 'RtscanScan) on ' || name
	END;
	line text;
	plan text := '';
	result text;
BEGIN
	PERFORM set_config('enable_seqscan', (kind = 'sequential')::text, true),
		set_config('enable_bitmapscan', (kind = 'bitmap')::text, true),
		set_config('enable_indexscan', 'off', true),
		set_config('rtscan.enable_scan', (kind IN ('heap', 'columns'))::text, true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	IF plan NOT LIKE '%' || node || '%' AND plan LIKE '%Scan%' THEN
		RAISE EXCEPTION 'MISMATCH: not the plan that is tested: %', plan;
	END IF;
	EXECUTE query INTO result;
	RETURN coalesce(result, 'no row');
END $$;

CREATE FUNCTION answer(name text, qual text, use_index bool) RETURNS text LANGUAGE sql AS $$
	SELECT answer(name, qual, CASE WHEN use_index THEN 'bitmap' ELSE 'sequential' END)
$$;

-- Conditions that exclude each other are asked of the index, too.
CREATE FUNCTION compare_scans(name text, n int) RETURNS void LANGUAGE plpgsql SET jit = off SET constraint_exclusion = off AS $$
DECLARE
	qual text;
	kind text;
	by_scan text;
	by_index text;
BEGIN
	FOR i IN 1 .. n LOOP
		qual := random_qual();
		kind := (ARRAY['bitmap', 'heap', 'columns'])[1 + i % 3];
		by_index := answer(name, qual, kind, kind = 'columns');
		by_scan := answer(name, qual, 'sequential', kind = 'columns');
		IF by_index <> by_scan THEN
			RAISE EXCEPTION 'MISMATCH: % WHERE %: % scan % sequential %, snapshot %',
				name, qual, kind, by_index, by_scan, pg_current_snapshot();
		END IF;
	END LOOP;
END $$;

-- RtscanScan, of rows in the heap or of columns in the index, that is held open for a while after its first row; in a
-- REPEATABLE READ transaction.
CREATE FUNCTION compare_held(name text, kind text, seconds float8) RETURNS void LANGUAGE plpgsql SET jit = off AS $$
DECLARE
	qual text := format('a >= %s', (random() * 800)::int);
	held refcursor;
	r record;
	n int := 0;
	hash numeric := 0;
	by_cursor text;
	expected text;
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
		set_config('rtscan.enable_scan', 'on', true);
	OPEN held FOR EXECUTE format('SELECT hashtextextended(ROW(a, b, c)::text, 0) AS h%s FROM %I WHERE %s',
		CASE kind WHEN 'heap' THEN ', ctid' END, name, qual);
	LOOP
		FETCH held INTO r;
		EXIT WHEN NOT FOUND;
		n := n + 1;
		hash := hash + r.h;
		PERFORM pg_sleep(seconds) WHERE n IN (1, 1500);
	END LOOP;
	CLOSE held;
	by_cursor := n || ' ' || hash;
	PERFORM set_config('enable_seqscan', 'on', true), set_config('rtscan.enable_scan', 'off', true);
	EXECUTE format('
		SELECT concat_ws(%L, count(*), coalesce(sum(hashtextextended(ROW(a, b, c)::text, 0)), 0))
		FROM %I
		WHERE %s', ' ', name, qual) INTO expected;
	IF by_cursor <> expected THEN
		RAISE EXCEPTION 'MISMATCH: % WHERE %: held % scan % sequential %, snapshot %',
			name, qual, kind, by_cursor, expected, pg_current_snapshot();
	END IF;
END $$;
};

# Return SQL that lets the session write segments of many rows, which have sieve vectors.
sub large_segments { return "SET maintenance_work_mem = '64MB'; SET rtscan.debug_segment_rows = 1000000" }

# Return a cluster that is initialised but not started. Unless its memory is set, its segments have few rows.
sub new_node
{
	my ($name, $conf, %init) = @_;
	my $few = ($conf // '') =~ /maintenance_work_mem/ ? '' : "rtscan.debug_segment_rows = 18000\n";
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(%init);
	$node->append_conf('postgresql.conf', "autovacuum = off\njit = off\nmaintenance_work_mem = 1MB\n"
		  . "rtscan.pending_list_limit = 64\n$few" . ($conf // ''));
	note("seed $random_seed");
	srand($random_seed);
	return $node;
}

# Return the rows first .. last, as a SELECT.
sub rows
{
	my ($first, $last) = @_;
	return "SELECT i, CASE WHEN i % 17 <> 0 THEN i::int8 * 7919 % 1000 END, CASE WHEN i % 11 <> 0 THEN 'k' || i % 50 END, "
	  . "'2020-01-01 00:00+00'::timestamptz + i % 1000 * interval '1 hour', 0 FROM generate_series($first, $last) i";
}

# Create the comparison's functions, and tables: name => [ '' or UNLOGGED, rows ], each with an index name_idx on
# three columns.
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

# Check that the table's index answers correctly, and that its structure is right.
sub healthy
{
	my ($node, $name, $what) = @_;
	my $agree = compare_scans($node, $name, $what);
	return check_index($node, $name, $what) && $agree;
}

# Run VACUUM, which flushes pending rows, and then again, which frees what the first one retired, once no snapshot
# can see it.
sub vacuum_completely
{
	my ($node, $name) = @_;
	$node->safe_psql('postgres', $_) foreach ("VACUUM $name", 'SELECT txid_current()', "VACUUM $name");
	return;
}

# Return the pages of a directory, or of the spare one, from a block on. As in rtscan, it ends at a page that is not
# of its version.
sub directory_chain
{
	my ($pages, $block, $version) = @_;
	my @chain;
	while ($block < @$pages && unpack('x8188 S', $pages->[$block]) == 2 && unpack('x8128 Q', $pages->[$block]) == $version)
	{
		push(@chain, $pages->[$block]);
		$block = unpack('x8140 L', $pages->[$block]);
	}
	return @chain;
}

# Return the bytes of a page's content, from an offset on.
sub page_content
{
	my ($page, $from) = @_;
	my $end = unpack('x12 S', $page);
	return $end > $from ? substr($page, $from, $end - $from) : '';
}

# Return the entries of an index's image (storage/directory.h), each with the bounds of that many key columns: those
# of the directory that the metapage names, without the differences after RtscanMeta.
sub directory_entries
{
	my ($pages) = @_;
	my ($directory, $version, $bounded) = unpack('x104 L x12 Q x60 L', $pages->[0]);
	my $size = 40 + 16 * $bounded;
	my @differences = unpack("(a$size)*", page_content($pages->[0], 200));
	my @entries;
	foreach my $entry (map { unpack("(a$size)*", page_content($_, 64)) } directory_chain($pages, $directory, $version))
	{
		$entry = shift(@differences) if @differences && unpack('Q', $differences[0]) == unpack('Q', $entry);
		push(@entries, $entry) unless unpack('x36 L', $entry) == 2;
	}
	return (@entries, @differences);
}

# Return what the pages of name_idx are used for, read from its files: how many there are, are free, are free but not
# in the free space map, and are lost, that is, neither free nor referenced. Pages of retired entries seem lost until
# they are freed; retired is the number of such entries.
sub page_use
{
	my ($node, $name) = @_;
	my ($path, $live) = split(/\|/, $node->safe_psql('postgres',
			"CHECKPOINT; SELECT pg_relation_filepath('${name}_idx'), (total_bytes - other_bytes) / 8192 FROM rtscan_stats('${name}_idx')"));
	my $file = $node->data_dir . "/$path";
	# a full disk may leave a part of a page at the end
	my @pages = grep { length($_) == 8192 } unpack('(a8192)*', slurp_file($file));
	my $map = -e "${file}_fsm" ? slurp_file("${file}_fsm") : '';
	my %use = (pages => scalar(@pages), free => 0, unproposed => 0);

	foreach my $block (1 .. $#pages)
	{
		my ($kind, $id) = unpack('x8188 S S', $pages[$block]);
		next unless ($kind == 0 && $id == 0xFF52) || $pages[$block] !~ /[^\0]/;
		$use{free}++;
		# the first leaf of the map is its third page; its slots follow the header and the inner nodes
		my $slot = 2 * 8192 + 28 + 4095 + $block;
		$use{unproposed}++ unless $slot < length($map) && ord(substr($map, $slot, 1)) > 0;
	}
	my ($directory, $spare, $version, $spare_version) = unpack('x104 L L x8 Q Q', $pages[0]);
	my $directories = directory_chain(\@pages, $directory, $version) + directory_chain(\@pages, $spare, $spare_version);
	$use{retired} = grep { unpack('x16 Q', $_) } directory_entries(\@pages);
	# the pages of the two writing slots (RtscanMeta), up to the first that is not chained
	my $taken = 0;
	foreach my $block (unpack('x192 L L', $pages[0]))
	{
		for (; $block > 0 && $block < @pages; $block = unpack('x8140 L', $pages[$block])) { $taken++ }
	}
	$use{lost} = $use{pages} - 1 - $live - $directories - $taken - $use{free};
	return \%use;
}

# Run statements in a separate psql, in the background; a failing one does not end it.
sub start_script
{
	my ($node, @statements) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/script.sql';
	append_to_file($file, join('', map { "$_;\n" } @statements));
	my $run = IPC::Run::start([ 'psql', '-X', '-q', '-A', '-t', '-d', $node->connstr('postgres'), '-f', $file ],
		'<', '/dev/null', '>', '/dev/null', '2>', "$file.err");
	return { run => $run, errors => "$file.err" };
}

# Return its errors, once it is done.
sub finish_script
{
	my ($script) = @_;
	$script->{run}->finish;
	return slurp_file($script->{errors});
}

1;
