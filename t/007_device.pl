# Tests a device that is missing, fails, or is short of memory: queries must be answered correctly all the same, and
# the device must be used again once it is back.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DeviceTest;
use File::Basename;
use File::Copy;
use File::Path qw(make_path);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

need_device();

my $none = qr/There is no device\b|The device program (accepts no connection|has not answered)/;
my $node;

# Wait until the log has such a line after an action.
sub logs
{
	my ($line, $what, $action) = @_;
	my $offset = -s $node->logfile;
	$action->();
	return wait_until("$what: the log says \"$line\"", sub { log_since($node, $offset) =~ $line })
	  && pass("$what: the log says so");
}

sub configured
{
	my ($line, $what, %settings) = @_;
	return logs($line, $what, sub { configure($node, %settings) });
}

# Check all rows with a device and without.
sub all_agree
{
	my ($what) = @_;
	foreach my $executor (@executors, 'auto')
	{
		local $ENV{PGOPTIONS} = "-c rtscan.executor=$executor";
		compare_scans($node, 'big', "$what, $executor", 10);
	}
	return;
}

# ---------------------------------------------------------------- no device

$node = device_node('device');
$node->start;
create_big($node);
comes_back($node, $_, 'first use') foreach @executors;
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
all_agree('first use');

my $name = device_status($node)->{name};

# ---------------------------------------------------------------- a plain column, which stores no codes, but has
# them on the device

$node->safe_psql('postgres', large_segments() . "; CREATE TABLE plain AS SELECT nullif(hashint4(i % 130000), hashint4(5)) AS h, i % 1000 AS a "
	  . "FROM generate_series(1, 140000) i; CREATE INDEX plain_idx ON plain USING rtscan (h, a); VACUUM ANALYZE plain");
foreach my $condition ('h < 0 AND a < 500', 'h BETWEEN -700000000 AND 1000000000 AND a > 200', 'h IS NULL AND a >= 0', 'h > 0 AND h IS NOT NULL AND a <> 5',
	'h = ANY (ARRAY(SELECT hashint4(i) FROM generate_series(1, 300) i)) AND a < 900')
{
	my $count = "SELECT count(*), sum(a) FROM plain WHERE $condition";
	my ($expected) = $node->safe_psql('postgres', "SET rtscan.enable_aggregate = off; SET enable_bitmapscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off; $count");
	is($node->safe_psql('postgres', "SET enable_seqscan = off; SET rtscan.executor = $_; $count"), $expected, "plain column, $_: $condition") foreach @executors;
}

configured(qr/is not the one that rtscan.device names.*there is no other Vulkan device.*rtscan has no device/s, 'no device of that name',
	'rtscan.device' => 'Voodoo 2');
cpu_answers($node, $_, 'no device of that name', $none) foreach @executors;
is(program_pid($node), undef, 'no device of that name: no program is left');
all_agree('no device of that name');
my ($digits) = $name =~ /(\d\d+)/;
foreach my $number (31, $digits)
{
	configured(qr/there is no other Vulkan device/, "no device of number $number", 'rtscan.device' => $number);
}
configured(qr/llvmpipe.*is not used: it is a software device.*there is no other Vulkan device.*rtscan has no device/s, 'a software device is not taken', 'rtscan.device' => '');
configured(qr/rtscan uses the device llvmpipe/, 'a device by its number', 'rtscan.device' => '0');
comes_back($node, $_, 'a device by its number') foreach @executors;

configure($node, 'rtscan.device' => 'off');
wait_until('off: the program ends', sub { !program_pid($node) });
cpu_answers($node, $_, 'off', $none) foreach @executors;
configured(qr/rtscan uses the device llvmpipe/, 'on again', 'rtscan.device' => undef);
comes_back($node, $_, 'on again') foreach @executors;

# ---------------------------------------------------------------- injected faults

my %faults = (
	'no-ray-tracing' => { map { $_ => 'The device cannot trace rays' } qw(rt rtcudb) },
	'no-import' => {},
	'no-upload-memory' => { map { $_ => "The device does not have enough memory for a segment's column." } qw(compute rt rtcudb) },
	'no-build-memory' => { rtcudb => 'The device does not have enough memory' },
	'no-scratch-memory' => { map { $_ => 'The device does not have enough memory' } qw(compute rt rtcudb) });

foreach my $fault (sort keys %faults)
{
	configured(qr/rtscan uses the device llvmpipe/, $fault, 'rtscan.device_fault' => $fault);
	foreach my $executor (@executors)
	{
		my $why = $faults{$fault}{$executor};
		next if $fault eq 'no-build-memory' && $executor eq 'rt';
		$why ? cpu_answers($node, $executor, $fault, $why) : comes_back($node, $executor, $fault);
	}
	my $program = program_pid($node);
	all_agree($fault);
	is(ask($node, 'auto')->{fallbacks}, 0, "$fault: auto does not try what cannot be") if $fault eq 'no-ray-tracing';
	is(program_pid($node), $program, "$fault: the program lives on");
}
# A device that lacks something; device/test/limits_test.c tests everything that can be lacking.
configured(qr/llvmpipe.*is not used: maxPushConstantsSize is \d+, and must be at least \d+.*rtscan has no device/s, 'too few push constants',
	'rtscan.device_fault' => 'lacks=maxPushConstantsSize');
cpu_answers($node, $_, 'too few push constants', $none) foreach @executors;
configured(qr/llvmpipe.*cannot trace rays: shaderGroupHandleSize is \d+, and must be at most \d+.*rtscan uses the device llvmpipe.*cannot trace rays/s,
	'handles are too large', 'rtscan.device_fault' => 'lacks=shaderGroupHandleSize');
$_ eq 'compute' ? comes_back($node, $_, 'handles are too large') : cpu_answers($node, $_, 'handles are too large', 'The device cannot trace rays')
  foreach @executors;
configured(qr/there is no fault "lacks=feathers".*exited with exit code 1/s, 'an unknown limit', 'rtscan.device_fault' => 'lacks=feathers');
if (grep { $_ eq 'rt' } @executors)
{
	# no rays are needed if bins are exact for all columns
	configured(qr/rtscan uses the device llvmpipe/, 'no-build-memory', 'rtscan.device_fault' => 'no-build-memory');
	my $asked = ask($node, 'rt');
	is($asked->{answers}, expected($node), 'no-build-memory: rt is right');
	cmp_ok($asked->{fallbacks}, '>', 0, 'no-build-memory: the CPU answers some questions');
	like($asked->{log}, says('rt', 'The device does not have enough memory'), 'no-build-memory: the log says why');
	is(device_status($node)->{bvhs}, 0, 'no-build-memory: there are no BVHs');
}
configured(qr/there is no fault "nonsense".*exited with exit code 1/s, 'an unknown fault', 'rtscan.device_fault' => 'nonsense');
cpu_answers($node, $_, 'a program that always fails', $none) foreach @executors;
configure($node, 'rtscan.device_fault' => undef);
comes_back($node, $_, 'after all faults') foreach @executors;

# Lose the device at successive submissions: during calibration, during uploads, and later.
configure($node, 'rtscan.device_memory' => '1000MB');
wait_until('a new program', sub { (device_status($node) // { requests => 1 })->{requests} == 0 });
configured(qr/the device is lost \(an injected fault\)/, 'lost at once', 'rtscan.device_fault' => 'lost-at=1');
cpu_answers($node, $_, 'lost at once', $none) foreach @executors;
foreach my $executor (@executors)
{
	# executor rt only for its own submissions
	foreach my $at ($executor ne 'rt' ? (1, 2, 5, 8) : (), $executor ne 'compute' ? (12, 20) : ())
	{
		configured(qr/rtscan uses the device llvmpipe/, "lost at submission $at", 'rtscan.device_fault' => "lost-after=$at");
		my $offset = -s $node->logfile;
		my $asked;
		wait_until("lost at submission $at", sub { $asked = ask($node, $executor); $asked->{fallbacks} > 0 });
		is($asked->{answers}, expected($node), "lost at submission $at: $executor is right");
		ok($node->wait_for_log(qr/the device is lost \(an injected fault\).*rtscan device program exited with exit code 1/s, $offset),
			"lost at submission $at: the log says so");
	}
}
configure($node, 'rtscan.device_fault' => undef, 'rtscan.device_memory' => undef);
comes_back($node, $_, 'after the device was lost') foreach @executors;

# ---------------------------------------------------------------- clocks

# Check the option for clocks that the program gets, and which it ignores for software (device/test/clocks_test.c).
sub arguments_of_program
{
	my $program = program_pid($node);
	return $program && -r "/proc/$program/cmdline" ? join(' ', split(/\0/, slurp_file("/proc/$program/cmdline"))) : '';
}

like(arguments_of_program(), qr/ --clocks=up /, 'clocks are kept up');
configure($node, 'rtscan.device_clocks' => 'off');
wait_until('another program', sub { arguments_of_program() =~ / --clocks=any / });
comes_back($node, $_, 'with any clocks') foreach @executors;
configure($node, 'rtscan.device_clocks' => undef);

# ---------------------------------------------------------------- memory

# Several indexes, more than fit into memory.
$node->safe_psql('postgres', join(";\n", large_segments(), map { (
			"CREATE TABLE t$_ (LIKE big); INSERT INTO t$_ " . rows(10_000 * $_, 10_000 * $_ + 130_000),
			"CREATE INDEX t${_}_idx ON t$_ USING rtscan (a, b, c)") } 1 .. 4));
my $second = (split(/ /, expected($node)))[1];
foreach my $megabytes (1, 3, 8, 30, 2000)
{
	configured(qr/rtscan uses the device llvmpipe/, "$megabytes MB", 'rtscan.device_memory' => "${megabytes}MB");
	my $evictions = device_status($node)->{evictions};
	# a program's first request needs more memory than that of the columns
	is($node->safe_psql('postgres', "SET rtscan.executor = $executors[-1]; SELECT answer('big', \$\$$questions[1]\$\$, true)"),
		$second, "$megabytes MB: two columns at first");
	# BVHs of rt and of rtcudb, which need more memory
	foreach my $executor (@executors > 2 ? grep { $_ ne 'rt' } @executors : @executors)
	{
		local $ENV{PGOPTIONS} = "-c rtscan.executor=$executor";
		my $asked = ask($node, $executor);
		is($asked->{answers}, expected($node), "$megabytes MB: $executor is right");
		# rtcudb's BVHs take long to build
		foreach ($executor eq 'rtcudb' ? 1 : 1 .. 2)
		{
			compare_scans($node, "t$_", "$megabytes MB, $executor", 5) foreach 1 .. 4;
		}
		my $status = device_status($node);
		note(join(', ', map { "$_ $status->{$_}" } sort keys %$status));
		cmp_ok($status->{memory_used}, '<=', $megabytes << 20, "$megabytes MB: no more is used");
		cmp_ok($status->{evictions}, '>', $evictions, "$megabytes MB: columns were evicted") if $megabytes == 8;
		is($status->{evictions}, $evictions, "$megabytes MB: nothing was evicted") if $megabytes == 2000;
		is($asked->{fallbacks}, scalar(@questions), "$megabytes MB: too little for a column") if $megabytes == 1;
		is($asked->{fallbacks}, 0, "$megabytes MB: enough") if $megabytes == 2000;
	}
}
configure($node, 'rtscan.device_memory' => undef);
comes_back($node, $_, 'with memory again') foreach @executors;
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'the server has been up all the time');
program_is_healthy($node, 'up to here');

# ---------------------------------------------------------------- no Vulkan

# A loader that cannot be loaded is found before the one that can.
my $libraries = PostgreSQL::Test::Utils::tempdir();
append_to_file("$libraries/$_", '') foreach qw(libvulkan.so.1 libvulkan.so);
my %surroundings = (
	LD_LIBRARY_PATH => [ $libraries, qr/there is no Vulkan loader \(libvulkan.so.1\).*rtscan has no device/s ],
	VK_DRIVER_FILES => [ "$libraries/nothing.json", qr/there is no Vulkan driver.*rtscan has no device/s ]);
foreach my $variable (sort keys %surroundings)
{
	my ($value, $line) = @{ $surroundings{$variable} };
	local $ENV{VK_ICD_FILENAMES} = $value if $variable eq 'VK_DRIVER_FILES';
	local $ENV{$variable} = $value;
	logs($line, $variable, sub { $node->restart });
	cpu_answers($node, $_, $variable, $none) foreach @executors;
	all_agree($variable);
}

$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$node->restart;
cpu_answers($node, $_, 'not preloaded', $none) foreach @executors;
all_agree('not preloaded');
is(worker_pid($node), undef, 'not preloaded: there is no worker');
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'rtscan'");
$node->restart;
comes_back($node, $_, 'preloaded again') foreach @executors;
$node->stop;

# ---------------------------------------------------------------- replaced programs

# A separate installation, in which the program can be replaced.
sub private_installation
{
	my $tree = PostgreSQL::Test::Utils::tempdir();
	my ($programs, $libraries, $share) = map { chomp(my $folder = `pg_config --$_`); $folder } qw(bindir pkglibdir sharedir);
	make_path("$tree$programs", "$tree$libraries", dirname("$tree$share"));
	foreach my $program (slurp_dir($programs))
	{
		next if $program =~ /^\./;
		# a server finds its files relative to its program, after following all links
		next unless $program =~ /^(postgres|pg_ctl|pg_config)$/;
		copy("$programs/$program", "$tree$programs/$program") && chmod(0755, "$tree$programs/$program") or die "copy: $!";
	}
	symlink("$libraries/$_", "$tree$libraries/$_") foreach grep { !/^\.|^rtscan_device$/ } slurp_dir($libraries);
	symlink($share, "$tree$share") or die "symlink: $!";
	return ("$tree$programs", "$tree$libraries/rtscan_device", "$libraries/rtscan_device");
}

my ($programs, $program, $real_program) = private_installation();

# Replace the program by a script.
sub pretend
{
	my ($script, $mode) = @_;
	unlink($program);
	append_to_file($program, $script);
	chmod($mode // 0755, $program) or die "chmod: $!";
	return;
}

my $cannot = qr/could not execute the rtscan device program/;
my @pretenders = (
	[ 'no program', sub { unlink($program) }, $cannot, $none ],
	[ 'a program that is not executable', sub { pretend("#!/bin/sh\n", 0644) }, $cannot, $none ],
	[ 'a program that is none', sub { pretend("\177ELF nonsense") }, $cannot, $none ],
	[ 'a program that says nothing', sub { pretend("#!/bin/sh\nexec sleep 1000\n") }, qr/./, $none ],
	[ 'a program that crashes', sub { pretend("#!/bin/sh\nkill -SEGV \$\$\n") },
		qr/rtscan device program was terminated by signal 11/, $none ],
	[ 'a program that writes a lot', sub { pretend("#!/bin/sh\nhead -c 3000000 /dev/zero | tr '\\0' 'x'\necho; echo log: I am done\nexec cat\n") },
		qr/rtscan device program: I am done/, $none ],
	[ 'a program that does not listen', sub { pretend("#!/bin/sh\nrm -f pg_stat_tmp/rtscan_device.0\necho ready: 100 inf 100 inf 1000000 nobody\nexec cat\n") },
		qr/rtscan uses the device nobody/, $none ]);

{
	local $ENV{PATH} = "$programs:$ENV{PATH}";
	pretend("#!/bin/sh\n");
	$node->start;
	foreach my $pretender (@pretenders)
	{
		my ($what, $make, $line, $why) = @$pretender;
		$make->();
		configured($line, $what, 'rtscan.device_memory' => 500 + $node->{rtscan_turn}++ . 'MB');
		cpu_answers($node, $_, $what, $why) foreach @executors;
	}
	unlink($program);
	symlink($real_program, $program) or die "symlink: $!";
	configured(qr/rtscan uses the device llvmpipe/, 'the program', 'rtscan.device_memory' => undef);
	comes_back($node, $_, 'the program') foreach @executors;
	all_agree('the program');
	$node->stop;
}
server_is_healthy($node, 'other programs');

done_testing();
