# Tests pending lists that cannot be made into segments: insertions go on, the next list and the next index are
# served, all rows are found, and the file does not grow by failed attempts. Crashes change nothing, and everything
# is repaired when the reason is gone.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $node = new_node('flush_fails', "rtscan.merge_worker = off\nrestart_after_crash = on\n");
$node->start;

# A comparison that fails for values in the table poison, except with themselves; or that takes long.
$node->safe_psql('postgres', q{
CREATE EXTENSION rtscan;
CREATE TABLE poison (value int PRIMARY KEY);
CREATE TABLE slowness (seconds float8);
CREATE FUNCTION fragile(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF $1 <> $2 AND EXISTS (SELECT FROM public.poison WHERE value IN ($1, $2)) THEN
		RAISE 'comparing % with %', $1, $2;
	END IF;
	PERFORM pg_sleep(seconds) FROM public.slowness WHERE $1 <> $2;
	RETURN btint4cmp($1, $2);
END $$;
CREATE OPERATOR CLASS fragile FOR TYPE int USING rtscan AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 fragile(int, int);
});

# Create a table whose list is 64 kB long after about 130 rows.
sub create_fragile
{
	my ($name) = @_;
	$node->safe_psql('postgres', qq{
		CREATE TABLE $name (a int, filler text);
		CREATE INDEX ${name}_idx ON $name USING rtscan (a fragile) INCLUDE (filler)});
	return;
}

my %inserted;

# Run single-row statements in one session, and return their errors. The table other has no value 50.
sub insert_singly
{
	my ($name, $count, $settings) = @_;
	my $first = $inserted{$name} // 0;
	$inserted{$name} += $count;
	return finish_script(start_script($node, $settings // (), map { "INSERT INTO $name VALUES ($_, repeat('x', 480))" }
		map { $name eq 'other' ? $_ + 1000 : $_ } $first + 1 .. $first + $count));
}

sub stats
{
	my ($name, $columns) = @_;
	return $node->safe_psql('postgres', "SELECT $columns FROM rtscan_stats('${name}_idx')");
}

# Check that all rows are found by an index that need not compare with failing values, and that the index's structure
# is right.
sub right
{
	my ($name, $what, $lost) = @_;
	my $rows = $inserted{$name} - ($lost // 0);
	foreach my $scan ('enable_bitmapscan', 'rtscan.enable_scan', 'rtscan.enable_aggregate')
	{
		my $settings = join('', map { "SET $_ = " . ($_ eq $scan ? 'on;' : 'off;') }
			qw(enable_seqscan enable_indexscan enable_bitmapscan rtscan.enable_scan rtscan.enable_aggregate));
		is($node->safe_psql('postgres', "$settings SELECT count(*) FROM $name WHERE a > 0"), $rows, "$what: all rows by $scan");
	}
	return check_index($node, $name, $what);
}

# Return the entries of an index's directory that are sealed lists.
sub sealed_lists
{
	my ($name) = @_;
	my $file = $node->data_dir . '/' . $node->safe_psql('postgres', "CHECKPOINT; SELECT pg_relation_filepath('${name}_idx')");
	my @pages = unpack('(a8192)*', slurp_file($file));
	return scalar(grep { my ($safe_xid, $kind) = unpack('x16 Q x12 L', $_); $kind == 1 && $safe_xid == 0 } directory_entries(\@pages));
}

sub failures
{
	my ($from) = @_;
	return scalar(() = substr(slurp_file($node->logfile), $from) =~ /could not flush pending rows of index/g);
}

sub crash
{
	$node->stop('immediate');
	$node->start;
	return;
}

# ---- no list can be flushed, and there is no worker

create_fragile('t');
insert_singly('t', 100);
$node->safe_psql('postgres', 'INSERT INTO poison SELECT generate_series(1, 100000)');
my $log = -s $node->logfile;
is(insert_singly('t', 100), '', '100 of 100 insertions succeed at the limit');
is(failures($log), 1, 'the first one has logged that the list cannot be flushed');
my $size = $node->safe_psql('postgres', "SELECT pg_relation_size('t_idx')");
is(insert_singly('t', 100), '', '100 of 100 insertions succeed beyond the limit');
cmp_ok($node->safe_psql('postgres', "SELECT pg_relation_size('t_idx')") - $size, '<', 15 * 8192, 'the file grows by what the rows take');
right('t', 'lists fail');
is(insert_singly('t', 1200), '', '1200 more');
cmp_ok(failures($log), '<', 10, 'attempts become rare');
my $lists = sealed_lists('t');
cmp_ok($lists, '>', 1, 'there are several sealed lists');
cmp_ok($lists, '<', 5, 'but few, the longer the more there are');
right('t', 'several lists');
crash();
right('t', 'several lists, crashed');
$node->psql('postgres', 'VACUUM t', stderr => \my $error);
like($error, qr/ERROR:  comparing \d+ with \d+/, 'VACUUM fails');
is(sealed_lists('t'), $lists, 'and seals no list to no avail');
$node->safe_psql('postgres', 'TRUNCATE poison; DELETE FROM t WHERE a % 3 = 0');
my $deleted = $inserted{t} / 3;
right('t', 'the reason is gone', $deleted);
$node->safe_psql('postgres', 'VACUUM t');
is(stats('t', 'pending, rows - dead'), '0|' . ($inserted{t} - $deleted), 'VACUUM flushes, and removes the dead rows');
is(sealed_lists('t'), 0, 'no list is left');
right('t', 'vacuumed', $deleted);

# ---- one list cannot be flushed, the next ones can

create_fragile('one');
insert_singly('one', 100);
$node->safe_psql('postgres', 'INSERT INTO poison VALUES (50)');
is(insert_singly('one', 600), '', '600 insertions beside one list that fails');
is(sealed_lists('one'), 1, 'one list stays');
cmp_ok(stats('one', 'segments'), '>', 0, 'others become segments');
cmp_ok(stats('one', 'rows'), '>', 300, 'with most rows');
right('one', 'one list fails');
crash();
right('one', 'one list fails, crashed');
is(insert_singly('one', 300), '', '300 insertions after the crash');
is(sealed_lists('one'), 1, 'one list stays after the crash');

# ---- a worker skips the list, and serves the next one and the next index

$node->append_conf('postgresql.conf', 'rtscan.merge_worker = on');
$node->restart;
create_fragile('other');
$log = -s $node->logfile;
is(insert_singly($_, 400), '', "400 insertions into $_ with a worker") foreach qw(one other);
# if there is a failing list, of about 130 rows, the next one is sealed at twice the limit
ok($node->poll_query_until('postgres', "SELECT pending < 400 FROM rtscan_stats('one_idx')"), 'the worker flushes the next list')
  || diag(stats('one', 'pending, pending_bytes'));
ok($node->poll_query_until('postgres', "SELECT pending < 150 FROM rtscan_stats('other_idx')"), 'the worker flushes the next index')
  || diag(stats('other', 'pending, pending_bytes'));
is(sealed_lists('one'), 1, 'the list that fails stays');
ok($node->poll_query_until('postgres',
		"SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'rtscan merge worker')"), 'the worker ends');
my $logged = substr(slurp_file($node->logfile), $log);
my $runs = () = $logged =~ /ERROR:  comparing/g;
cmp_ok($runs, '>', 0, 'the worker has logged why');
cmp_ok($runs, '<', 8, 'once a run');
like($logged, qr/CONTEXT:.*\n\twhile flushing pending rows of index "one_idx"/, 'and about which index');
right($_, 'served by a worker') foreach qw(one other);
$node->safe_psql('postgres', 'TRUNCATE poison; VACUUM one');
is(stats('one', 'pending'), 0, 'VACUUM flushes what is left');
right('one', 'put right');

# ---- flushes take longer than statement_timeout: those of a worker are not cancelled

create_fragile('slow');
$node->safe_psql('postgres', 'INSERT INTO slowness VALUES (0.005)');
insert_singly('slow', 130);
is(insert_singly('slow', 100, "SET statement_timeout = '150ms'"), '', '100 of 100 insertions succeed beside a slow worker');
# cancelled, then killed in the middle of its work
my $find = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'rtscan merge worker' AND query LIKE 'flushing%\"slow_idx\"'";
ok($node->poll_query_until('postgres', "SELECT EXISTS ($find)"), 'a worker flushes');
is($node->safe_psql('postgres', "SELECT bool_and(pg_cancel_backend(pid)) FROM ($find) w"), 't', 'and is cancelled');
is(insert_singly('slow', 100, "SET statement_timeout = '150ms'"), '', '100 of 100 insertions succeed after that');
right('slow', 'a worker was cancelled');
$node->restart;
insert_singly('slow', 200);
ok($node->poll_query_until('postgres', "SELECT EXISTS ($find)"), 'another worker flushes');
$log = -s $node->logfile;
kill('KILL', $node->safe_psql('postgres', $find));
$node->wait_for_log(qr/all server processes terminated; reinitializing/, $log);
$node->poll_query_until('postgres', 'SELECT true');
right('slow', 'a worker was killed');

# ---- flushes take longer than statement_timeout, and there is no worker: rows are inserted or not, and few
# statements fail

$node->append_conf('postgresql.conf', 'rtscan.merge_worker = off');
$node->restart;
create_fragile('late');
insert_singly('late', 100);
my $errors = insert_singly('late', 200, "SET statement_timeout = '150ms'");
my $timeouts = () = $errors =~ /ERROR:  canceling statement due to statement timeout/g;
cmp_ok($timeouts, '>', 0, 'who flushes runs into its timeout');
cmp_ok($timeouts, '<', 4, 'and the next ones do not try at once');
is(scalar(() = $errors =~ /ERROR/g), $timeouts, 'there is no other error');
right('late', 'flushes were cancelled', $timeouts);
$node->safe_psql('postgres', 'TRUNCATE slowness');
$node->safe_psql('postgres', "VACUUM $_") foreach qw(slow late);
is(join(' ', map { stats($_, 'pending') } qw(slow late)), '0 0', 'VACUUM flushes what is left');
right('slow', 'vacuumed');
right('late', 'vacuumed', $timeouts);

unlike(slurp_file($node->logfile), qr/TRAP:|PANIC:/, 'no assertion failed');
$node->stop;
done_testing();
