# Functions for the tests of the device: a server with software Vulkan, its processes, and queries whose answers are
# known.
package DeviceTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Socket;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(@executors @questions need_device device_node create_big expected ask device_answers comes_back under_faults
  cpu_answers says configure wait_until children worker_pid program_pid program_pids is_running device_status connect_device log_since server_is_healthy
  program_is_healthy);
our @EXPORT_OK = qw(compare sorted right change answered are_right explained);
our %EXPORT_TAGS = (compare => \@EXPORT_OK);

# The executors to test.
our @executors = split(' ', $ENV{RTSCAN_EXECUTORS} // 'compute rt rtcudb');

# The queries on table big. No answer is empty, and none is known without reading rows.
our @questions = (
	'a < 300', "a BETWEEN 200 AND 900 AND b > 'k3'", "b = 'k7' AND c < timestamptz '2020-01-20 00:00+00'",
	"a = ANY (ARRAY[17, 18, 500]) AND b <= ANY (ARRAY['k1', 'k40'])", "a > 100 AND b < 'k4' AND id > 70000",
	"a IS NULL AND c >= timestamptz '2020-02-01 00:00+00'");

my %expected;    # a sequential scan's answers, of each node

# ---- setup

# Return the description of Mesa's software device.
sub driver
{
	return (glob('/usr/share/vulkan/icd.d/lvp_icd*.json'))[0];
}

# Skip the test if there is no device program or no software device.
sub need_device
{
	chomp(my $folder = `pg_config --pkglibdir`);
	plan skip_all => 'rtscan was built without the device program' unless -x "$folder/rtscan_device";
	plan skip_all => 'there is no software Vulkan device (mesa-vulkan-drivers)' unless driver();
	$ENV{VK_DRIVER_FILES} = $ENV{VK_ICD_FILENAMES} = driver();
	# freed memory, including the software device's, is overwritten at once
	$ENV{MALLOC_PERTURB_} = 165;
	return;
}

# Return a cluster that uses the software device. Answers of the device are also compared with the CPU's bits. There
# are no unrequested merges, since the tests know how large segments are. A device is not regarded as lost when it
# shares the processors with another test.
sub device_node
{
	my ($name, $conf, %init) = @_;
	return new_node($name, "shared_preload_libraries = 'rtscan'\nrtscan.device = 'llvmpipe'\nmax_connections = 200\n"
		  . "rtscan.debug_compare_executors = on\nrtscan.merge_worker = off\nrtscan.page_worker_rate = 0\nrtscan.device_timeout = '2min'\nlog_min_messages = debug1\n" . ($conf // ''), %init);
}

# Create the table of the queries, in one segment: only whole chunks are evaluated by the device.
sub create_big
{
	my ($node) = @_;
	create_tables($node, small => [ '', 1000 ]);
	$node->safe_psql('postgres', 'CREATE TABLE big (LIKE small); INSERT INTO big ' . rows(1, 140_000)
		  . '; ' . large_segments() . "; CREATE INDEX big_idx ON big USING rtscan (a, b, c, id)");
	return;
}

# Change settings without a restart; undef resets one.
sub configure
{
	my ($node, %settings) = @_;
	my @statements = map { "ALTER SYSTEM " . (defined $settings{$_} ? "SET $_ = '$settings{$_}'" : "RESET $_") } sort keys %settings;
	$node->safe_psql('postgres', $_) foreach @statements, 'SELECT pg_reload_conf()';
	return;
}

# ---- waiting, processes, the log

# Wait until a condition holds, with a time limit.
sub wait_until
{
	my ($what, $condition, $limit) = @_;
	my $end = time() + ($limit // 60);
	until ($condition->())
	{
		return ok(0, "$what, in time") if time() > $end;
		sleep(0.02);
	}
	return 1;
}

sub is_running
{
	my ($pid) = @_;
	open(my $file, '<', "/proc/$pid/stat") or return 0;
	return (<$file> // '') !~ /\) Z /;
}

# Return the children of a process.
sub children
{
	my ($parent) = @_;
	my @found;
	foreach my $folder (glob('/proc/[0-9]*'))
	{
		open(my $stat, '<', "$folder/stat") or next;
		push @found, $folder =~ s{.*/}{}r if (<$stat> // '') =~ /\) [^Z] $parent /;
	}
	return @found;
}

# Return the children of these processes whose command lines match.
sub children_like
{
	my ($parent, $pattern) = @_;
	my %found;
	foreach my $pid (children($parent))
	{
		open(my $command, '<', "/proc/$pid/cmdline") or next;
		my $line = <$command> // '';
		$found{$line} = $pid if $line =~ $pattern;
	}
	return map { $found{$_} } sort keys %found;
}

sub worker_pid
{
	my ($node) = @_;
	my ($postmaster) = split(/\n/, slurp_file($node->data_dir . '/postmaster.pid'));
	return (children_like($postmaster, qr/rtscan device worker/))[0];
}

# Return the programs of all devices that have one, in the order of rtscan.device if all have the same name.
sub program_pids
{
	my ($node) = @_;
	my $worker = worker_pid($node) or return;
	return children_like($worker, qr/^rtscan_device/);
}

sub program_pid
{
	my ($node) = @_;
	return (program_pids($node))[0];
}

sub log_since
{
	my ($node, $offset) = @_;
	return substr(slurp_file($node->logfile), $offset);
}

# Check that no backend and no worker has crashed. (The program may have.)
sub server_is_healthy
{
	my ($node, $what) = @_;
	my $bad = qr/(server process|worker.*) was terminated by signal|PANIC: |TRAP: |ERROR:  (MISMATCH|executors differ)/;
	return is(join("\n", grep { $_ =~ $bad } split(/\n/, slurp_file($node->logfile))), '', "$what: nothing has crashed");
}

# Check that the program has not crashed either, if the test has not killed it.
sub program_is_healthy
{
	my ($node, $what) = @_;
	my @lines = grep { /rtscan device program was terminated by signal/ } split(/\n/, slurp_file($node->logfile));
	return is(join("\n", @lines), '', "$what: no program has crashed");
}

# ---- the program

# Return a connection to the program, as a backend makes one, or undef.
sub connect_device
{
	my ($node) = @_;
	socket(my $socket, AF_UNIX, SOCK_SEQPACKET, 0) or die "socket: $!";
	setsockopt($socket, SOL_SOCKET, SO_RCVTIMEO, pack('l!l!', 10, 0));
	# the folder's name may be too long for an address
	opendir(my $here, '.') or die "opendir: $!";
	chdir($node->data_dir) or die "chdir: $!";
	my $connected = connect($socket, pack_sockaddr_un('pg_stat_tmp/rtscan_device.0'));
	chdir($here) or die "chdir: $!";
	return $connected ? $socket : undef;
}

# Return the row of rtscan_device(), or undef.
sub device_status
{
	my ($node) = @_;
	my %status = map { split(/\|/) } split(/\n/, $node->safe_psql('postgres',
			'SELECT key, value FROM rtscan_device() d, jsonb_each_text(to_jsonb(d))'));
	return %status ? \%status : undef;
}

# ---- queries

# Return all queries as one statement, by a sequential or an index scan.
sub answers
{
	my ($use_index) = @_;
	return "SELECT concat_ws(' ', " . join(', ', map { "answer('big', \$\$$_\$\$, $use_index)" } @questions) . ')';
}

# Return their answers by a sequential scan.
sub expected
{
	my ($node) = @_;
	return $expected{ $node->name } //= $node->safe_psql('postgres', answers('false'));
}

# Run all queries in a new session. Returns the answers, which executor answered (compute if rt needs no ray), the
# log's lines, and errors.
sub ask
{
	my ($node, $executor, %settings) = @_;
	my $counters = "SELECT sum(scans) FILTER (WHERE executor IN ('compute', '$executor')), sum(scans) FILTER (WHERE executor = 'cpu'), "
	  . "sum(fallbacks) FROM pg_stat_rtscan";
	my $offset = -s $node->logfile;
	my $set = join('', map { "SET $_ = '$settings{$_}';\n" } sort keys %settings);
	$node->psql('postgres', "SET rtscan.executor = '$executor';\n$set$counters;\n" . answers('true') . ";\n$counters;\n",
		stdout => \my $out, stderr => \my $err, on_error_stop => 0);
	my @lines = split(/\n/, $out);
	my @before = split(/\|/, shift(@lines) // '');
	my @after = split(/\|/, pop(@lines) // '');
	return { answers => join("\n", @lines), errors => $err, log => log_since($node, $offset),
		map { ((qw(device cpu fallbacks))[$_] => ($after[$_] // 0) - ($before[$_] // 0)) } 0 .. 2 };
}

# Return a line that says how a query was answered.
sub told
{
	my ($asked, $node) = @_;
	my $right = $asked->{answers} eq expected($node) ? 'right' : "not right: $asked->{answers} $asked->{errors}";
	return "$right; device $asked->{device}, cpu $asked->{cpu}, fallbacks $asked->{fallbacks}";
}

# Check that the device answers all queries correctly.
sub device_answers
{
	my ($node, $executor, $what, %settings) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $asked = ask($node, $executor, %settings);
	return is(told($asked, $node), 'right; device ' . @questions . ', cpu 0, fallbacks 0', "$what: $executor answers")
	  || diag($asked->{log});
}

# Check the same within some time, since a program has just been started.
sub comes_back
{
	my ($node, $executor, $what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	wait_until("$what: the device is there", sub { ask($node, $executor)->{fallbacks} == 0 });
	return device_answers($node, $executor, $what);
}

# Check something while the program has each of some faults in turn; then all executors must answer again.
sub under_faults
{
	my ($node, $check, @faults) = @_;
	foreach my $fault (@faults)
	{
		my $offset = -s $node->logfile;
		configure($node, 'rtscan.device_fault' => $fault);
		ok($node->wait_for_log(qr/rtscan uses the device llvmpipe/, $offset), "$fault: a new program");
		$check->($fault);
	}
	configure($node, 'rtscan.device_fault' => undef);
	comes_back($node, $_, 'after all faults') foreach @executors;
	return;
}

# Return the log's message if the CPU answers instead of an executor.
sub says
{
	my ($executor, $why) = @_;
	return qr/executor "$executor" cannot evaluate a scan, so the CPU evaluates it\n.*DETAIL:  $why/;
}

# Check that the CPU answers all queries correctly instead of an executor, and that the server says why. Without
# fallback it is an error.
sub cpu_answers
{
	my ($node, $executor, $what, $why, %settings) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $asked = ask($node, $executor, %settings);
	my $good = is(told($asked, $node), 'right; device 0, cpu ' . @questions . ', fallbacks ' . @questions,
		"$what: the CPU answers for $executor");
	$good &= like($asked->{log}, qr/executor "$executor" cannot evaluate a scan, so the CPU evaluates it\n.*DETAIL:  $why/, "$what: the log says why");
	$asked = ask($node, $executor, %settings, 'rtscan.fallback' => 'off');
	$good &= like($asked->{errors}, qr/ERROR:  rtscan's executor "$executor" cannot evaluate the scan\nDETAIL:  $why/,
		"$what: an error without fallback");
	return $good;
}

# ---- other queries, compared with PostgreSQL's own plans

my %compared;    # the node, settings for executors' plans, and what PostgreSQL itself is asked instead of a query
my %right;

# Set the node for the following queries.
sub compare
{
	my ($node, $settings, $asked_instead) = @_;
	%compared = (node => $node, settings => $settings, instead => $asked_instead // sub { return $_[0]; });
	%right = ();
	return;
}

sub sorted { return join("\n", sort split(/\n/, $_[0])); }

# Return PostgreSQL's own answer, which is cached until something changes.
sub right
{
	my ($query) = @_;
	my $own = 'SET rtscan.enable_aggregate = off; SET rtscan.enable_scan = off; SET rtscan.enable_star = off; SET enable_bitmapscan = off; ';
	return $right{$query} //= sorted($compared{node}->safe_psql('postgres', $own . $compared{instead}->($query)));
}

sub change
{
	my ($statements) = @_;
	%right = ();
	return $compared{node}->safe_psql('postgres', $statements);
}

sub asked_of
{
	my ($executor, $query, $settings) = @_;
	return "SET rtscan.executor = $executor; $compared{settings}" . ($settings // '') . $query;
}

# Return an executor's answer, or its error.
sub answered
{
	my ($executor, $query, $settings) = @_;
	my ($rc, $out, $err) = $compared{node}->psql('postgres', asked_of($executor, $query, $settings));
	return $rc == 0 ? sorted($out) : $err;
}

# Check that an executor's answers are right, in one session.
sub are_right
{
	my ($what, $executor, $settings, @queries) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $end = '-- end of an answer';
	my (undef, $out, $err) = $compared{node}->psql('postgres', join(";\n\\echo '$end'\n", (map { asked_of($executor, $_, $settings) } @queries), ''));
	my @answers = split(/^\Q$end\E\n?/m, $out, -1);
	pop @answers;    # what is behind the last end
	foreach my $i (0 .. $#queries)
	{
		is(defined $answers[$i] ? sorted($answers[$i]) : "no answer: $err", right($queries[$i]), "$what, $executor: $queries[$i]");
	}
	return;
}

# Return the lines of EXPLAIN (ANALYZE), by label: the topmost ones.
sub explained
{
	my ($executor, $query, $settings) = @_;
	my $plan = $compared{node}->safe_psql('postgres', asked_of($executor, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query", $settings));
	return { map { /^\s*([A-Z]\w+(?: \w+)*): (.*)/ ? ($1 => $2) : () } reverse split(/\n/, $plan) };
}

1;
