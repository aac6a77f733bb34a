# Kills, stalls and overloads the device program, kills its worker, and cancels sessions that wait for it: queries
# must be answered correctly and in time all the same, the server must stay up, and the device must be used again.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DeviceTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Socket;
use Test::More;
use Time::HiRes qw(sleep time);

need_device();

# The program and its memory treat all rays alike, so one executor of them suffices.
@executors = grep { $_ ne 'rt' } @executors if @executors > 2;

my $node = device_node('program', "restart_after_crash = on\n");
$node->start;
create_big($node);
comes_back($node, $_, 'first use') foreach @executors;
my $started = start_time();
my $level = device_status($node)->{memory_used};
my @answers = split(/ /, expected($node));

# The program of another server is stalled now and checked at the end, after two minutes.
my $stuck = device_node('stuck');
$stuck->start;
create_big($stuck);
comes_back($stuck, $executors[0], 'to be stalled');
my $stuck_program = program_pid($stuck);
kill 'STOP', $stuck_program;
cpu_answers($stuck, $executors[0], 'stalled', qr/(There is no device|The device program has not answered|The connection to the device program was lost)/,
	'rtscan.device_timeout' => '100ms');

sub start_time { return $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'); }

# Return one query, as a statement.
sub question
{
	my ($number) = @_;
	return "SELECT answer('big', \$\$$questions[$number]\$\$, true)";
}

# Return a session whose scans use an executor.
sub session
{
	my ($executor, %settings) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	$session->query_safe("SET rtscan.executor = '$executor'");
	$session->query_safe("SET $_ = '$settings{$_}'") foreach sort keys %settings;
	$session->{pid} = $session->query_safe('SELECT pg_backend_pid()');
	return $session;
}

# Send a query in a session without waiting for the answer, except for an answer that is as fast as the echo.
sub start_asking
{
	my ($session, $number) = @_;
	my $said = $session->query_until(qr/^asking$/m, "\\echo asking\n" . question($number) . ";\n");
	$session->{stdout} = $said =~ s/^asking\n//r;
	return;
}

# Return what a session has answered, result or error.
sub finish_asking
{
	my ($session) = @_;
	my $answer = $session->query('');
	my $errors = $session->{stderr};
	$session->{stderr} = '';
	return $answer . $errors;
}

# Return what is wrong with an answer, or nothing.
sub wrong
{
	my ($number, $answer) = @_;
	return $answer eq $answers[$number] ? () : "question $number: '$answer' instead of '$answers[$number]'";
}

# Return sessions that wait for a program that does not answer.
sub waiting_sessions
{
	my ($executor, $count, %settings) = @_;
	my @sessions = map { session($executor, 'rtscan.device_timeout' => '600s', %settings) } 1 .. $count;
	kill 'STOP', program_pid($node) or die 'there is no program';
	start_asking($sessions[$_], $_ % @questions) foreach 0 .. $#sessions;
	wait_until('sessions wait for the device', sub {
			$node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'Extension' AND pid IN ("
				  . join(', ', map { $_->{pid} } @sessions) . ')') == $count });
	return @sessions;
}

# Check that everything is as before: the device answers, and uses no more memory.
sub recovered
{
	my ($what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	comes_back($node, $_, $what) foreach @executors;
	my $more = device_status($node)->{memory_used} - $level;
	# tasks differ by some bytes; a column has a megabyte
	return cmp_ok(abs($more), '<', 65536, "$what: device memory is as before");
}

sub gone
{
	my ($what, @processes) = @_;
	return wait_until("$what: the old processes end", sub { !grep { is_running($_) } @processes }, 20)
	  && pass("$what: the old processes are gone");
}

# ---------------------------------------------------------------- the program is killed

foreach my $executor (@executors)
{
	my $session = session($executor);
	# whichever executor asks, the worker sees the same of a signal
	foreach my $signal ($executor eq $executors[0] ? qw(KILL TERM SEGV) : 'KILL')
	{
		my $old = program_pid($node);
		is($session->query(question(0)), $answers[0], "before SIG$signal");
		my $offset = -s $node->logfile;
		kill $signal, $old;
		$node->wait_for_log(qr/rtscan device program was terminated by signal/, $offset);
		is($session->query(question($_)), $answers[$_], "after SIG$signal, question $_") foreach 0 .. 1;
		recovered("after SIG$signal");
		isnt(program_pid($node), $old, "SIG$signal: another program");
		# so that the next program starts at once
		configure($node, 'rtscan.device_memory' => 1000 + length($signal) . 'MB');
		comes_back($node, $executor, 'with other settings');
	}
	$session->quit;

	my @sessions = waiting_sessions($executor, 5);
	my $old = program_pid($node);
	my $counter = "SELECT fallbacks FROM pg_stat_rtscan WHERE executor = '$executor'";
	my $before = $node->safe_psql('postgres', $counter);
	kill 'KILL', $old;
	is(finish_asking($sessions[$_]), $answers[ $_ % @questions ], "waiting when the program was killed, session $_")
	  foreach 0 .. $#sessions;
	is($node->safe_psql('postgres', $counter) - $before, 5, 'five fallbacks');
	recovered('killed while requests waited');
	is($_->query(question(3)), $answers[3], 'the same session') foreach @sessions;
	$_->quit foreach @sessions;
	configure($node, 'rtscan.device_memory' => undef);
	recovered('with the first settings');
}

# Under load: the script itself compares answers.
my $script = PostgreSQL::Test::Utils::tempdir() . '/load.sql';
append_to_file($script, join('', map { question($_) =~ s/^SELECT (.*)/SELECT 1 \/ ($1 = '$answers[$_]')::int;\n/r } 0 .. $#questions));

sub start_load
{
	my ($executor, @options) = @_;
	local $ENV{PGOPTIONS} = "-c rtscan.executor=$executor -c log_statement=none -c log_min_messages=warning";
	my $output = "$script.out";
	return { output => $output, run => IPC::Run::start(
			[ 'pgbench', '-n', '-f', $script, @options, $node->connstr('postgres') ], '>', $output, '2>&1') };
}

sub load_was_right
{
	my ($load, $what) = @_;
	$load->{run}->finish;
	my $said = slurp_file($load->{output});
	like($said, qr/number of transactions actually processed: [1-9]/, "$what: work was done");
	unlike($said, qr/error|aborted/, "$what: all answers are right");
	return;
}

foreach my $executor (@executors)
{
	my $load = start_load($executor, '-c', 6, '-T', 6);
	foreach my $round (1 .. 3)
	{
		sleep(0.5 + rand(0.5));
		my $program;
		wait_until('a program under load', sub { $program = program_pid($node) });
		my $offset = -s $node->logfile;
		kill 'KILL', $program;
		$node->wait_for_log(qr/rtscan device program was terminated by signal 9/, $offset);
		# an immediate restart
		configure($node, 'rtscan.device_memory' => 1000 + $round . 'MB');
	}
	load_was_right($load, 'killed under load');
	configure($node, 'rtscan.device_memory' => undef);
	recovered('killed under load');
}

# ---------------------------------------------------------------- the program is stalled

# Sessions wait in the same way for all executors, so one is enough.
my @waiting = $executors[0];
foreach my $executor (@waiting)
{
	my $program = program_pid($node);
	kill 'STOP', $program;
	my $begun = time();
	cpu_answers($node, $executor, 'stalled', qr/(There is no device|The device program has not answered|The connection to the device program was lost)/,
		'rtscan.device_timeout' => '100ms');
	cmp_ok(time() - $begun, '<', 30, 'stalled: nobody waits for longer than the limit');
	kill 'CONT', $program;
	recovered('stalled');

	# An answer that arrives too late must not be taken for the answer to a later query.
	my $session = session($executor);
	my $late = 0;
	my @wrong;
	foreach my $round (1 .. 40)
	{
		my ($first, $second) = map { ($round + $_) % @questions } 0, 1 + $round % 3;
		$session->query("SET statement_timeout = '10ms'");
		kill 'STOP', $program;
		start_asking($session, $first);
		sleep(rand(0.03));
		kill 'CONT', $program;
		my $answer = finish_asking($session);
		my $is_late = $answer =~ /canceling statement/;
		$late += $is_late;
		push @wrong, wrong($first, $answer) unless $is_late;
		$session->query('SET statement_timeout = 0');
		push @wrong, wrong($second, $session->query(question($second)));
	}
	cmp_ok($late, '>', 5, 'some answers came too late');
	is(join("\n", @wrong), '', 'no late answer was taken for another');
	$session->quit;
	is(program_pid($node), $program, 'stalled: it is still the same program');
	recovered('stalled often');

	# a stalled program is replaced when settings change
	kill 'STOP', $program;
	configure($node, 'rtscan.device_memory' => '900MB');
	gone('stalled, and settings changed', $program);
	configure($node, 'rtscan.device_memory' => undef);
	recovered('stalled, and settings changed');
}

# ---------------------------------------------------------------- waiting sessions are cancelled

foreach my $executor (@waiting)
{
	my ($cancelled, $ended) = waiting_sessions($executor, 2);
	my $limited = session($executor, 'statement_timeout' => '200ms');
	my $program = program_pid($node);
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($cancelled->{pid})");
	like(finish_asking($cancelled), qr/ERROR:  canceling statement due to user request/, 'cancelled at once');
	start_asking($limited, 1);
	like(finish_asking($limited), qr/ERROR:  canceling statement due to statement timeout/, 'statement_timeout');
	$limited->query("SET statement_timeout = '2min'");
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($ended->{pid})");
	gone('terminated', $ended->{pid});
	kill 'CONT', $program;
	foreach my $number (0 .. $#questions)
	{
		is($cancelled->query(question($number)), $answers[$number], "cancelled: the same session later, question $number");
		is($limited->query(question($number)), $answers[$number], "timed out: the same session later, question $number");
	}
	is(program_pid($node), $program, 'it is still the same program');
	$_->quit foreach $cancelled, $limited;
	eval { $ended->quit };
	recovered('cancelled');

	# in the middle of uploads: nothing is on the device yet
	my $session = session($executors[-1]);
	my $stopped = 0;
	my @wrong;
	foreach my $round (1 .. 15)
	{
		my $offset = -s $node->logfile;
		configure($node, 'rtscan.device_memory' => 800 + $round . 'MB');
		$node->wait_for_log(qr/rtscan uses the device llvmpipe/, $offset);
		start_asking($session, 0);
		sleep(rand(0.03));
		$node->safe_psql('postgres', "SELECT pg_cancel_backend($session->{pid})") if $round % 3;
		my $answer = finish_asking($session);
		my $is_stopped = $answer =~ /canceling statement/;
		$stopped += $is_stopped;
		push @wrong, wrong(0, $answer) unless $is_stopped;
		push @wrong, map { wrong($_, $session->query(question($_))) } 0 .. $#questions;
	}
	is(join("\n", @wrong), '', 'cancelled uploads: right later');
	note("$stopped of 15 were cancelled");
	$session->quit;
	configure($node, 'rtscan.device_memory' => undef);
	recovered('cancelled uploads');
}

# ---------------------------------------------------------------- many clients

foreach my $executor (@waiting)
{
	my $program = program_pid($node);
	kill 'STOP', $program;
	load_was_right(start_load("$executor -c rtscan.device_timeout=100ms", qw(-c 150 -j 4 -t 1)),
		'150 clients, more than may wait for a connection');
	kill 'CONT', $program;
	comes_back($node, $executor, 'after 150 clients');

	$node->safe_psql('postgres', 'SELECT rtscan_stat_reset()');
	load_was_right(start_load($executor, qw(-c 100 -j 4 -t 1)), '100 clients at once');
	is($node->safe_psql('postgres', 'SELECT sum(fallbacks) FROM pg_stat_rtscan'), '0', '100 clients at once: the device answered all');
	is(program_pid($node), $program, '100 clients: it is still the same program');
	cmp_ok(device_status($node)->{memory_used}, '<', $level + (16 << 20), '100 clients: they left nothing on the device');
	wait_until('100 clients: their memory is given back', sub { slurp_file("/proc/$program/maps") !~ /memfd:rtscan/ });
}

# memory for tasks has grown
$level = device_status($node)->{memory_used};

# Return the fraction of one processor that the program uses.
sub processor_share
{
	my ($program) = @_;
	my $ticks = sub { my @fields = split(' ', slurp_file("/proc/$program/stat") =~ s/.*\) //sr); return $fields[11] + $fields[12] };
	my $before = $ticks->();
	sleep(0.5);
	return ($ticks->() - $before) / 100 / 0.5;
}

# More connections than the program can have files: it serves those that it has, and must not spin.
{
	my $program = program_pid($node);
	my $files = () = glob("/proc/$program/fd/*");
	system('prlimit', "--pid=$program", '--nofile=' . ($files + 20) . ':') == 0 or die 'prlimit';
	my @connections = grep { defined } map { connect_device($node) } 1 .. 40;
	cmp_ok(scalar(@connections), '>', 20, 'connections that wait for a file');
	cmp_ok(processor_share($program), '<', 0.5, 'out of files: the program does not spin');
	my $asked = ask($node, $executors[0], 'rtscan.device_timeout' => '300ms');
	is($asked->{answers}, expected($node), 'out of files: answers are right');
	@connections = ();
	recovered('out of files');
	is(program_pid($node), $program, 'out of files: it is still the same program');
}

# Messages that no backend sends.
{
	my $program = program_pid($node);
	my $size = 160;    # of a request: no other is answered
	my $replies = 0;
	my @messages = ('', 'x', "\0" x ($size - 1), "\0" x ($size + 1), "\xff" x $size,
		map { pack('L2 Q4', $_, 1, (1 << 62) + 8, 1 << 63, 64, 1 << 40) . "\xff" x ($size - 40) } 0 .. 8);
	foreach my $message (@messages, map { join('', map { chr(int(rand(256))) } 1 .. $size) } 1 .. 20)
	{
		my $socket = connect_device($node) or die 'no connection';
		send($socket, $message, MSG_NOSIGNAL);
		send($socket, pack('L2 Q4', 4, 1, 0, 0, 0, 0) . "\0" x ($size - 40), MSG_NOSIGNAL);
		next if length($message) != $size;
		recv($socket, my $reply, 1024, 0);
		$replies++ if length($reply);
	}
	is($replies, 1 + 9 + 20, 'nonsense: it is answered');
	recovered('nonsense');
	is(program_pid($node), $program, 'nonsense: it is still the same program');
}

# Shared memory is anonymous, so a full /dev/shm does not matter.
{
	my $session = session($executors[0]);
	is($session->query(question(0)), $answers[0], 'a session with shared memory');
	foreach my $pid (program_pid($node), $session->{pid})
	{
		my @lines = grep { m{/dev/shm/} && !m{/PostgreSQL\.} } split(/\n/, slurp_file("/proc/$pid/maps")), map { readlink($_) // '' } glob("/proc/$pid/fd/*");
		is(join("\n", @lines), '', 'nothing of rtscan lies in /dev/shm');
	}
	like(slurp_file("/proc/$session->{pid}/maps"), qr/memfd:rtscan/, 'it is anonymous');
	$session->quit;
}
is(start_time(), $started, 'the server has been up all the time');

# ---------------------------------------------------------------- the worker

configure($node, 'rtscan.device_memory' => '900MB');
comes_back($node, $_, 'a new program') foreach @executors;
$level = device_status($node)->{memory_used};

my ($worker, $program) = (worker_pid($node), program_pid($node));
kill 'STOP', $worker;
kill 'KILL', $program;
my $asked = ask($node, $executors[0]);
is($asked->{answers}, expected($node), 'the worker is stalled and the program dead: answers are right');
is($asked->{fallbacks}, scalar(@questions), 'the worker is stalled and the program dead: the CPU answers');
kill 'CONT', $worker;
recovered('the worker was stalled');

($worker, $program) = (worker_pid($node), program_pid($node));
kill 'TERM', $worker;
gone('the worker was terminated', $worker, $program);
recovered('the worker was terminated');
is(start_time(), $started, 'the worker was terminated: the server stays up');
server_is_healthy($node, 'up to here');

# A crash of a worker or a backend ends all sessions with it.
foreach my $victim ('worker', 'backend')
{
	my ($session) = waiting_sessions($executors[0], 1);
	($worker, $program) = (worker_pid($node), program_pid($node));
	my $offset = -s $node->logfile;
	kill 'KILL', $victim eq 'worker' ? $worker : $session->{pid};
	gone("the $victim was killed", $worker, $program);
	$node->wait_for_log(qr/database system is ready to accept connections/, $offset);
	recovered("the $victim was killed");
	eval { $session->quit };
}

# ---------------------------------------------------------------- the server is stopped

foreach my $mode (qw(smart fast immediate kill9))
{
	foreach my $state ('idle', 'stalled', 'stalled with requests')
	{
		next if $mode eq 'smart' && $state eq 'stalled with requests';
		my ($session) = $state eq 'stalled with requests' ? waiting_sessions($executors[0], 1) : ();
		my @processes = (worker_pid($node), program_pid($node));
		my $postmaster = $node->{_pid};
		my @family = children($postmaster);
		kill 'STOP', $processes[1] if $state ne 'idle';
		my $begun = time();
		$mode eq 'kill9' ? $node->kill9 : $node->stop($mode);
		gone("$mode stop, $state", @processes, $session ? $session->{pid} : ());
		eval { $session->quit } if $session;
		cmp_ok(time() - $begun, '<', 30, "$mode stop, $state: in time");
		# after SIGKILL others may still have the shared memory; nor may the postmaster be there as a zombie
		wait_until("$mode stop, $state: the server has ended", sub { !kill(0, $postmaster) && !grep { is_running($_) } @family });
		$node->start;
		recovered("$mode stop, $state");
	}
}
$node->stop;
server_is_healthy($stuck, 'stuck');

ok($stuck->wait_for_log(qr/rtscan device program does not answer, and is killed/), 'a program that does not answer is killed');
comes_back($stuck, $_, 'instead of a program that did not answer') foreach @executors;
isnt(program_pid($stuck), $stuck_program, 'it is another program');
$stuck->stop;

done_testing();
