# Tests a device program that lies: whatever number of a reply, or of an answer, is wrong, the server must stay up,
# and if the number is impossible, the CPU must answer. A program between backends and the device program changes the
# replies.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DeviceTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

need_device();

# A wrong answer must not be an error, as it would be if answers were compared.
my $node = device_node('lies', "rtscan.debug_compare_executors = off\nautovacuum = off\nmax_parallel_workers_per_gather = 0\nmaintenance_work_mem = '64MB'\n"
	  . "rtscan.device_timeout = '20s'\nlog_min_messages = log\n");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION rtscan;
CREATE TABLE t AS SELECT i % 1000 AS a, abs(hashint4(i)) % 50000 AS b, i % 7 AS g, 'name ' || i % 90 AS name, abs(hashint4(i + 1)) % 10000 AS v,
	nullif(i % 50, 7)::int8 * 4000000000 AS wide, date '2020-01-01' + i % 700 AS day
FROM generate_series(1, 140000) AS i;
CREATE INDEX t_idx ON t USING rtscan (a, b, name) INCLUDE (g, v, wide, day);
CREATE TABLE seen (LIKE t);
INSERT INTO seen TABLE t;
CREATE INDEX seen_idx ON seen USING rtscan (a, b, name) INCLUDE (g, v, wide, day);
CREATE TABLE d AS SELECT i AS id, 'label ' || i % 11 AS label FROM generate_series(0, 999) AS i WHERE i % 3 > 0;
ALTER TABLE d ADD PRIMARY KEY (id);
VACUUM ANALYZE t, seen, d;
-- some blocks are not all-visible: their rows come as bits, beside the aggregate
UPDATE seen SET v = v + 1 WHERE ctid < '(40,0)';
SQL
wait_until('the device is there', sub { device_status($node) });

# Queries whose answers consist of counts alone, which may be accepted if they are not too large; of bits as well; of
# device aggregates.
my %questions = (
	counts => [ 'SELECT count(*) FROM t WHERE a < 300', 'SELECT count(*) FROM t WHERE a BETWEEN 100 AND 800 AND b < 20000' ],
	bits => [
		'SELECT min(a + b), sum(hashtext(name)) FROM t WHERE a < 300',
		"SELECT sum(hashtext(name) % 3) FROM t WHERE a < 100 OR b > 40000 OR name = 'name 3'",
		'SELECT a, b, name FROM t WHERE b < 5000 AND a > 3 ORDER BY b, a, name LIMIT 20',
		'SELECT a, b FROM t WHERE a < 900 ORDER BY b, a OFFSET 50000 LIMIT 5',
		"SET enable_seqscan = off; SET rtscan.enable_scan = off; SET rtscan.enable_aggregate = off; SELECT count(*), sum(v) FROM t WHERE a < 20 AND b < 25000" ],
	aggregates => [
		'SELECT g, count(*), sum(v), min(day), max(wide), avg(wide) FROM t WHERE a < 700 GROUP BY g ORDER BY g',
		'SELECT name, count(wide), sum(wide), max(v) FROM t WHERE b > 1000 GROUP BY name ORDER BY name',
		'SELECT count(*), sum(v), min(v), max(day) FROM t WHERE a < 10 OR b < 10000',
		'SELECT label, count(*), sum(v) FROM t JOIN d ON a = id WHERE b < 30000 GROUP BY label ORDER BY label',
		"SELECT g, count(*) FILTER (WHERE name LIKE '%1'), sum(CASE WHEN v < 500 THEN v ELSE 0 END) FROM t WHERE a < 500 GROUP BY g ORDER BY g",
		'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY b) FROM t WHERE a < 600' ],
	both => [ 'SELECT g, count(*), sum(v), min(v), sum(wide) FROM seen WHERE a < 700 GROUP BY g ORDER BY g' ]);
my @kinds = sort keys %questions;
my $end = '-- end of an answer';

# Run queries in one session. Returns their answers, or errors.
sub answers_of
{
	my ($executor, @asked) = @_;
	my $settings = "SET rtscan.executor = $executor; SET enable_indexscan = off; ";
	my (undef, $out, $err) = $node->psql('postgres', join(";\n\\echo '$end'\n", (map { $settings . $_ } @asked), ''), on_error_stop => 0);
	my @answers = split(/^\Q$end\E\n?/m, $out, -1);
	pop @answers;
	return (\@answers, $err);
}

my %right = map { $_ => (answers_of('cpu', @{ $questions{$_} }))[0] } @kinds;

# ---------------------------------------------------------------- the liar

my $lie = PostgreSQL::Test::Utils::tempdir() . '/lie';

sub say_lie
{
	my ($told) = @_;
	append_to_file("$lie.new", $told);
	rename("$lie.new", $lie) or die "rename: $!";
	return;
}

say_lie('');
my ($said, $complained) = ('', '');
my $liar = IPC::Run::start([ 'python3', "$FindBin::RealBin/lying_device.py", $node->data_dir, $lie ], '>', \$said, '2>', \$complained);
$liar->pump until $said =~ /ready/ || !$liar->pumpable;
like($said, qr/^ready/, 'there is somebody who lies') or BAIL_OUT($complained);

sub fallbacks { return $node->safe_psql('postgres', 'SELECT sum(fallbacks) FROM pg_stat_rtscan') }

my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
foreach my $executor (@executors)
{
	my $before = fallbacks();
	foreach my $kind (@kinds)
	{
		is(join('; ', @{ (answers_of($executor, @{ $questions{$kind} }))[0] }), join('; ', @{ $right{$kind} }), "$executor, $kind: no lie");
	}
	is(fallbacks(), $before, "$executor: without a lie the device answers");
}
my $asked = $node->safe_psql('postgres', 'SELECT requests FROM rtscan_device()');
cmp_ok($asked, '>=', @executors * 10, 'the device has been asked');

# ---------------------------------------------------------------- each field of each reply

my $evaluate = '"kind": 4';
my @values = (0, 1, 2**31 - 1, 2**31, 2**32 - 1);
my @wide = (@values, '9223372036854775807', '9223372036854775808', '18446744073709551615');

# A lie, and the queries for which it is impossible or irrelevant: their answers must be right.
sub set_lies
{
	my ($field, $more, $sure, @to) = @_;
	return map { [ "{$evaluate, \"field\": \"$field\", \"value\": $_$more}", $sure ] } @to;
}

sub add_lies
{
	my ($field, $more, $sure, @by) = @_;
	return map { [ "{$evaluate, \"field\": \"$field\", \"op\": \"add\", \"value\": $_$more}", $sure ] } @by;
}

my @all = @kinds;

# For these lies the query makes no difference: one of each kind is enough.
my @lies_to_any = (
	# the message
	(map { [ "{$evaluate, \"field\": \"reply\", \"value\": \"$_\"}", \@all ] } qw(twice short long not)),
	# struct DeviceReply
	set_lies('number', '', \@all, 18446744073709551615), add_lies('number', '', \@all, 1, -1),
	set_lies('result', '', \@all, 1 .. 8, 2**31, 2**32 - 1),
	(map { set_lies($_, ', "also": {"result": 1}', \@all, @values) } qw(segment column form)),
	(map { set_lies($_, ', "also": {"result": 1, "of_rows": 1}', \@all, @values) } qw(segment column form)),
	(map { set_lies($_, '', \@all, @values) } qw(segment column of_rows form built)),
	(map { set_lies($_, '', \@all, @wide) } qw(refined_rows rays nanoseconds)),
	# struct DeviceStatus, as sent when a connection is made
	(map { my $field = $_; map { [ "{\"kind\": 0, \"field\": \"$field\", \"value\": $_}", \@all ] } 0, 1, 2**31, 2**32 - 1 }
		qw(result number software ray_tracing can_aggregate)),
	(map { [ "{\"kind\": 0, \"field\": \"memory_limit\", \"value\": $_}", \@all ] } @wide),
	# uploads
	(map { my $kind = $_; map { [ "{\"kind\": $kind, \"field\": \"result\", \"value\": $_}", \@all ] } 1, 3, 2**32 - 1 } 1, 2, 3));
my @lies_to_all = (
	# struct ChunkCount; only the device knows whether too few or too many rows without bits match
	(map { set_lies('rows', ", \"at\": $_", \@all, 64513, 2**31 - 1, 2**31, 2**32 - 1) } 0, -1),
	(map { add_lies('rows', ", \"at\": $_", ['bits'], 1, -1) } 0, -1),
	set_lies('rows', '', [], 0, 1, 64512),
	(map { set_lies('aggregated', ", \"at\": $_", \@all, 2**31 - 1, 2**31, 2**32 - 1) } 0, -1),
	(map { add_lies('aggregated', ", \"at\": $_", [qw(bits aggregates both)], 1, -1) } 0, -1),
	# aggregates
	set_lies('entries', '', [qw(bits counts aggregates both)], 0, '18446744073709551615', 2**32, 2**31),
	add_lies('entries', '', [qw(bits counts aggregates both)], 1, -1),
	(map { set_lies('cell', ", \"at\": $_", \@all, 2**31, 2**32 - 1, '9223372036854775808', '18446744073709551615') } 0, 1),
	add_lies('cell', '', [], 1, -1), set_lies('cell', '', [], 0, 1),
	(map { set_lies('of', ", \"at\": $_", \@all, 0, 2**31, 2**32 - 1, '9223372036854775808', '18446744073709551615') } 0, 1),
	(map { add_lies('of', ", \"at\": $_", \@all, 1, -1) } 0, 1),
	(map { set_lies('measure', ", \"measure\": $_", [], @wide), add_lies('measure', ", \"measure\": $_", [], 1, -1) } 0 .. 4),
	# bits
	set_lies('page', '', \@all, 0), set_lies('bit', '', \@all, 0),
	(map { [ "{$evaluate, \"field\": \"reply\", \"value\": \"scribble\"}", [] ] } 1 .. 10));
my @lies = ((map { [ @$_, 1 ] } @lies_to_any), @lies_to_all);

# Tell a lie. Returns the queries' answers.
sub lie_and_ask
{
	my ($told, $executor, @asked) = @_;
	say_lie($told);
	my ($answers, $errors) = answers_of($executor, @asked);
	say_lie('');
	return ($answers, $errors);
}

foreach my $executor (@executors)
{
	my @failures;
	my $number = 0;
	my @told = grep { $executor eq $executors[0] || $number++ % 4 == 0 } @lies;
	foreach my $case (@told)
	{
		my ($told, $sure, $any) = @$case;
		my @chosen = map { my $kind = $_; map { [ $kind, $_ ] } 0 .. ($any ? 0 : $#{ $questions{$kind} }) } @kinds;
		my @asked = map { $questions{ $_->[0] }[ $_->[1] ] } @chosen;
		my ($answers, $errors) = lie_and_ask($told, $executor, @asked);
		my %is_sure = map { $_ => 1 } @$sure;
		push @failures, "$told: a session has ended: $errors" if $errors =~ /server closed|connection to server/ || @$answers != @asked;
		foreach my $i (0 .. $#asked)
		{
			my ($kind, $number) = @{ $chosen[$i] };
			push @failures, "$told: $asked[$i]: " . ($answers->[$i] // 'nothing') . " $errors"
			  if $is_sure{$kind} && ($answers->[$i] // '') ne $right{$kind}[$number];
		}
		if (!$liar->pumpable || $said =~ /failed/)
		{
			push @failures, "$told: who lies has ended: $said $complained";
			last;
		}
	}
	is(join("\n", @failures), '', "$executor: " . @told . ' lies');
}
$liar->pump_nb;
unlike($said, qr/failed/, 'who lies has always known what to change');
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'the server has been up all the time');

# ---------------------------------------------------------------- statistics and log

my $impossible = "{$evaluate, \"field\": \"rows\", \"value\": 4294967295}";
my $counted = "SELECT fallbacks FROM pg_stat_rtscan WHERE executor = '$executors[0]'";
my $before = $node->safe_psql('postgres', $counted);
my $offset = -s $node->logfile;
lie_and_ask($impossible, $executors[0], ($questions{counts}[0]) x 3);
is($node->safe_psql('postgres', $counted) - $before, 3, 'wrong answers are fallbacks');
my @logged = log_since($node, $offset) =~ /(DETAIL:  The device program's answer contradicts itself)/g;
is(scalar(@logged), 1, 'the log says it once');
say_lie($impossible);
my (undef, undef, $error) = $node->psql('postgres', "SET rtscan.executor = $executors[0]; SET rtscan.fallback = off; $questions{counts}[0]");
like($error, qr/ERROR:  rtscan's executor "$executors[0]" cannot evaluate the scan\nDETAIL:  The device program's answer contradicts itself/, 'without fallback it is an error');
say_lie('');

# Values that are only displayed can be anything; a device's name can be any bytes.
foreach my $field (qw(name name_end software ray_tracing can_aggregate memory_limit memory_used columns bvhs requests submissions uploads builds sorts sieves
	build_nanoseconds evictions failures))
{
	foreach my $value (0, 2**32 - 1, '18446744073709551615')
	{
		say_lie("{\"kind\": 7, \"field\": \"$field\", \"value\": $value}");
		is($node->safe_psql('postgres', 'SELECT count(d) FROM rtscan_device() AS d'), 1, "$field is $value");
	}
}
say_lie('{"kind": 7, "field": "name", "value": 18446744073709551615}');
like($node->safe_psql('postgres', 'SELECT name FROM rtscan_device()'), qr/^\?{8}/, 'a name of bytes that are no characters');
say_lie('{"kind": 7, "field": "name_end", "value": 4702111234474983745}');
cmp_ok($node->safe_psql('postgres', 'SELECT length(name) FROM rtscan_device()'), '<=', 128, 'a name without an end');
say_lie('');

# ---------------------------------------------------------------- builds

$node->safe_psql('postgres', 'CREATE TABLE built AS SELECT a, b, v FROM t');
my @build_lies = (
	(map { my $value = $_; map {; "{\"kind\": 5, \"field\": \"row\", \"at\": $_, \"value\": $value}" } 0, 1000, -1 } 0, 140000, 2**31, 2**32 - 1),
	(map { my $value = $_; map {; "{\"kind\": 5, \"field\": \"key\", \"at\": $_, \"value\": $value}" } 0, 1000, -1 } 0, '18446744073709551615'),
	(map {; "{\"kind\": 6, \"field\": \"vector\", \"at\": $_, \"op\": \"add\", \"value\": 1}" } 0, 5, 3000),
	(map {; "{\"kind\": $_, \"field\": \"result\", \"value\": 4}", "{\"kind\": $_, \"field\": \"reply\", \"value\": \"twice\"}" } 5, 6),
	(map {; ("{\"kind\": $_, \"field\": \"reply\", \"value\": \"scribble\"}") x 3 } 5, 6));
my @wrong;
foreach my $told (@build_lies)
{
	say_lie($told);
	my (undef, $out, $err) = $node->psql('postgres', "SET client_min_messages = error; DROP INDEX IF EXISTS built_idx; SET rtscan.executor = $executors[0]; "
		  . 'CREATE INDEX built_idx ON built USING rtscan (a, b) INCLUDE (v)');
	say_lie('');
	push @wrong, "$told: $err" if $err;
	my (undef, undef, $bad) = $node->psql('postgres', "SELECT rtscan_check('built_idx', true)");
	push @wrong, "$told: $bad" if $bad;
}
is(join("\n", @wrong), '', 'indexes that are built are right');

$liar->kill_kill;
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'the server has been up all the time, with builds');
server_is_healthy($node, 'lies');
program_is_healthy($node, 'lies');
done_testing();
