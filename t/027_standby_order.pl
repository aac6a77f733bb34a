# Tests that a streaming standby returns rows in the order of a key like a sort of a sequential scan, while the
# primary inserts, deletes, flushes, merges and vacuums, and after promotion: all rows, the first ones, and from a
# cursor that stays open for a while. Queries that cannot continue are cancelled with PostgreSQL's errors.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $cancelled = join('|', 'conflict with recovery', 'terminating connection', 'server closed the connection',
	'current transaction is aborted');

my $primary = new_node('primary', "wal_keep_size = 4GB\n", allows_streaming => 1);
$primary->start;
create_tables($primary, t => [ '', 20_000 ]);
$primary->safe_psql('postgres', q{
CREATE FUNCTION ordered(node text, selected text, key text, qual text, part text) RETURNS text LANGUAGE plpgsql
	SET jit = off SET constraint_exclusion = off AS $$
DECLARE
	query text := format('SELECT %s AS selected, %s AS key FROM t WHERE %s ORDER BY %s %s', selected, split_part(key, ' ', 1), qual, key, part);
	line text;
	plan text := '';
	result text;
BEGIN
	PERFORM set_config('enable_seqscan', (node = 'Seq Scan')::text, true), set_config('enable_sort', (node = 'Seq Scan')::text, true),
		set_config('enable_bitmapscan', 'off', true), set_config('enable_indexscan', 'off', true),
		set_config('rtscan.enable_scan', (node <> 'Seq Scan')::text, true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	-- (a key that is equal to a constant needs no order)
	IF plan NOT LIKE '%' || node || '%' AND (plan LIKE '%Sort%' OR plan NOT LIKE '%Cond: %') THEN
		RAISE EXCEPTION 'MISMATCH: not the plan that is tested: %', plan;
	END IF;
	-- the keys in their order; and all rows, where that is not some of those with equal keys
	EXECUTE format('SELECT count(*) || md5(string_agg(key::text, %L)) || CASE WHEN %L = %L THEN sum(hashtextextended(selected::text, 0)) ELSE 0 END FROM (%s) q',
		',', part, '', query) INTO result;
	RETURN coalesce(result, 'no row');
END $$;
-- In a REPEATABLE READ transaction.
CREATE FUNCTION compare_orders(n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	arguments text[];
	found text;
	expected text;
BEGIN
	FOR i IN 1 .. n LOOP
		arguments := ARRAY[
			(ARRAY['b', 'ctid'])[1 + i % 2],
			(ARRAY['a', 'a DESC', 'b NULLS FIRST', 'b DESC', 'c', 'c DESC NULLS LAST'])[1 + (random() * 5)::int],
			CASE WHEN i % 3 > 0 THEN random_qual() ELSE 'true' END,
			(ARRAY['', 'LIMIT 10', 'LIMIT 1', 'LIMIT 3000'])[1 + (random() * 3)::int]];
		found := ordered('Order: ', arguments[1], arguments[2], arguments[3], arguments[4]);
		expected := ordered('Seq Scan', arguments[1], arguments[2], arguments[3], arguments[4]);
		IF found <> expected THEN
			RAISE EXCEPTION 'MISMATCH: %: % instead of %, snapshot %', arguments, found, expected, pg_current_snapshot();
		END IF;
	END LOOP;
END $$;
-- A cursor that is held open for a while after its first row and later.
CREATE FUNCTION compare_held_order(selected text, seconds float8) RETURNS void LANGUAGE plpgsql SET jit = off AS $$
DECLARE
	held refcursor;
	r record;
	last int;
	n int := 0;
	hash numeric := 0;
	expected text;
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true),
		set_config('rtscan.enable_scan', 'on', true);
	OPEN held NO SCROLL FOR EXECUTE format('SELECT a, hashtextextended(ROW(a, b)::text, 0) AS h, %s FROM t WHERE a > 100 ORDER BY a', selected);
	LOOP
		FETCH held INTO r;
		EXIT WHEN NOT FOUND;
		IF r.a < last THEN
			RAISE EXCEPTION 'MISMATCH: % after %', r.a, last;
		END IF;
		last := r.a;
		n := n + 1;
		hash := hash + r.h;
		PERFORM pg_sleep(seconds) WHERE n IN (1, 20, 1500, 5000);
	END LOOP;
	CLOSE held;
	PERFORM set_config('enable_seqscan', 'on', true), set_config('rtscan.enable_scan', 'off', true);
	SELECT count(*) || ' ' || coalesce(sum(hashtextextended(ROW(a, b)::text, 0)), 0) FROM t WHERE a > 100 INTO expected;
	IF n || ' ' || hash <> expected THEN
		RAISE EXCEPTION 'MISMATCH: held % % sequential %, snapshot %', n, hash, expected, pg_current_snapshot();
	END IF;
END $$;
});
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = 100ms\nhot_standby_feedback = off\n");
$standby->start;
$primary->wait_for_catchup($standby);

my $begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_am';
my @reader = map { ($begin, 'SELECT compare_orders(4)', 'SELECT pg_sleep(0.05)', 'SELECT compare_orders(4)', 'COMMIT') } 1 .. 3;
my @holder = map { ($begin, "SELECT compare_held_order('$_', 0.1)", 'COMMIT') } ('b', 'ctid');

sub right
{
	my ($node, $what, $n) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "$begin; SELECT compare_orders($n); SELECT compare_held_order('b', 0); COMMIT", on_error_stop => 1);
	return ok($rc == 0, "$what: rows are in order") || diag($err);
}

right($standby, 'at first', 30);
my $conflicts = 0;
my @changes = (
	[ 'insert', map { 'INSERT INTO t ' . rows(20_001 + 2000 * $_, 22_000 + 2000 * $_) } 0 .. 5 ],
	[ 'delete and vacuum', 'DELETE FROM t WHERE id % 3 = 0', 'VACUUM t', 'INSERT INTO t ' . rows(40_001, 45_000), 'VACUUM t' ],
	[ 'abort', 'BEGIN; INSERT INTO t ' . rows(50_001, 55_000) . '; ROLLBACK', 'VACUUM t', 'INSERT INTO t ' . rows(55_001, 56_000) ],
	[ 'update', 'UPDATE t SET a = 999 - a WHERE id % 7 = 0', 'UPDATE t SET u = 1 WHERE id % 11 = 0', 'VACUUM t' ],
	[ 'merges', map { ('INSERT INTO t ' . rows(60_000 + 1000 * $_, 60_999 + 1000 * $_), "SELECT rtscan_merge('t_idx')",
				"DELETE FROM t WHERE id % 17 = $_", 'VACUUM t') } 0 .. 5 ],
	[ 'truncate', 'DELETE FROM t WHERE id > 50000', 'VACUUM (TRUNCATE) t', 'REINDEX INDEX CONCURRENTLY t_idx' ]);
my $feedback = 0;
foreach my $change (@changes)
{
	my ($what, @statements) = @$change;
	$feedback = !$feedback;
	$standby->append_conf('postgresql.conf', 'hot_standby_feedback = ' . ($feedback ? 'on' : 'off'));
	$standby->reload;
	my @scripts = (start_script($standby, @reader), start_script($standby, @holder, @holder));
	foreach (@statements)
	{
		my ($rc, $out, $err) = $primary->psql('postgres', $_);
		is($err, '', "$what on the primary");
	}
	$primary->wait_for_catchup($standby);
	foreach my $script (@scripts)
	{
		my @errors = grep { /ERROR|FATAL/ } split(/\n/, finish_script($script));
		$conflicts += grep { /conflict with recovery/ } @errors;
		is(join("\n", grep { !/$cancelled/ } @errors), '', "$what: readers on the standby are right, or cancelled");
	}
	right($standby, $what, 12);
}
note("$conflicts readers were cancelled");
right($primary, 'primary', 20);

# A query whose snapshot sees rows that are removed later is cancelled.
$standby->append_conf('postgresql.conf', 'hot_standby_feedback = off');
$standby->reload;
my $log = -s $standby->logfile;
my $reader = $standby->background_psql('postgres', on_error_stop => 0);
$reader->query_safe("$begin; SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;"
	  . 'DECLARE c CURSOR FOR SELECT a, b FROM t ORDER BY a; FETCH 1 FROM c');
$primary->safe_psql('postgres', 'DELETE FROM t WHERE id % 2 = 0');
$primary->safe_psql('postgres', 'VACUUM t');
$primary->wait_for_catchup($standby);
eval { $reader->query('FETCH ALL FROM c') };
like(substr(slurp_file($standby->logfile), $log), qr/(canceling statement|terminating connection) due to conflict with recovery/,
	'a cursor that is too old is cancelled');
eval { $reader->quit };

$primary->stop('immediate');
$standby->promote;
right($standby, 'promoted', 20);
$standby->safe_psql('postgres', 'INSERT INTO t ' . rows(100_001, 110_000));
right($standby, 'promoted, inserted', 20);
$standby->safe_psql('postgres', 'DELETE FROM t WHERE id % 23 = 0; VACUUM t');
healthy($standby, 't', 'promoted, vacuumed');
right($standby, 'promoted, vacuumed', 20);
unlike(slurp_file($_->logfile), qr/was terminated by signal|PANIC|TRAP:/, 'no crash') foreach $primary, $standby;
$standby->stop;

done_testing();
