# Takes a base backup in the middle of inserts, flushes, merges and VACUUM. It must be right as a server of its own,
# recovered to its end or to a time during merges, and as a standby; so must an old primary that pg_rewind has
# attached to the standby that replaced it. Checksums and compression of pages in WAL are enabled.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use File::Copy;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;
use Time::HiRes qw(usleep);

my $primary = new_node('primary', "wal_log_hints = on\nwal_keep_size = 4GB\nmax_prepared_transactions = 5\n"
	  . "max_wal_size = 4GB\nwal_compression = on\n", allows_streaming => 1, extra => ['-k']);
$primary->start;
create_tables($primary, t => [ '', 30_000 ], merged => [ '', 10_000 ]);
# what the loops below have done
$primary->safe_psql('postgres', 'CREATE TABLE done (what text); CREATE TABLE stop ()');

# Repeat statements, each logged when it is done, until there is a row in the table stop; a failing psql would not
# end.
sub start_loop
{
	my ($node, $count, @statements) = @_;
	my @lines = map { my ($what, $statement) = @$_;
		map { "SELECT \$\$$_\$\$ WHERE NOT EXISTS (SELECT FROM stop) \\gexec\n" } ($statement, "INSERT INTO done VALUES ('$what')") } @statements;
	return start_script($node, (@lines) x $count);
}

# Return a new part of the table's rows.
sub load
{
	my ($name, $first, $count) = @_;
	return [ load => "INSERT INTO $name "
		  . rows("(SELECT $first + count(*) * $count FROM done)", "(SELECT $first + (count(*) + 1) * $count - 1 FROM done)") ];
}

# Only one loop updates and deletes in a table, to avoid deadlocks.
sub start_changes
{
	my ($node) = @_;
	$node->safe_psql('postgres', 'TRUNCATE done');
	return map { my $name = $_; (
			start_loop($node, 400, [ change => "UPDATE $name SET a = a + 1, u = u + 1 WHERE id % 101 = (random() * 100)::int" ],
				load($name, 1_000_000, 100), [ delete => "DELETE FROM $name WHERE id % 53 = (random() * 52)::int" ]),
			start_loop($node, 400, load($name, 500_000_000, 150),
				[ abort => "DO 'BEGIN INSERT INTO $name SELECT FROM generate_series(1, 500); RAISE SQLSTATE ''40001''; "
					  . "EXCEPTION WHEN SQLSTATE ''40001'' THEN NULL; END'" ]),
			start_loop($node, 400, [ merge => "SELECT rtscan_merge('${name}_idx')" ]),
			start_loop($node, 400, [ vacuum => "VACUUM $name" ])) } qw(t merged);
}

# Wait until every kind of change has been done that many more times.
sub await_changes
{
	my ($node, $times) = @_;
	my %before = done($node);
	my %now;
	for (my $tries = 0; $tries < 1800; $tries++)
	{
		%now = done($node);
		return 1 unless grep { $now{$_} < $before{$_} + $times } keys %now;
		usleep(100_000);
	}
	return die 'nothing changes';
}

sub stop_changes
{
	my ($node, $what, @scripts) = @_;
	$node->safe_psql('postgres', 'INSERT INTO stop DEFAULT VALUES');
	is(join('', grep { /ERROR|FATAL/ } map { finish_script($_) } @scripts), '', "$what: no statement failed");
	$node->safe_psql('postgres', 'TRUNCATE stop');
	return;
}

# Return what the loops have done so far.
sub done
{
	my ($node) = @_;
	my $counts = $node->safe_psql('postgres', 'SELECT what, count(*) FROM done GROUP BY what');
	return ((map { $_ => 0 } qw(load change delete abort merge vacuum)), $counts =~ /(\w+)\|(\d+)/g);
}

sub all_healthy
{
	my ($node, $what) = @_;
	healthy($node, $_, $what) foreach qw(t merged);
	return;
}

# Return the WAL position during the merge of an index.
sub lsn_inside_merge
{
	my ($node) = @_;
	my $lsn = '';
	for (my $tries = 0; $lsn eq '' && $tries < 18_000; $tries++)
	{
		$lsn = $node->safe_psql('postgres', q{SELECT pg_current_wal_insert_lsn() FROM pg_stat_activity
			WHERE query LIKE 'SELECT rtscan_merge%' AND state = 'active' AND wait_event_type IS DISTINCT FROM 'Lock' LIMIT 1});
	}
	return $lsn || die 'nothing is merged';
}

# Check that writes, VACUUM and merges work.
sub go_on
{
	my ($node, $what) = @_;
	foreach my $name (qw(t merged))
	{
		$node->safe_psql('postgres', "INSERT INTO $name " . rows(900_000_001, 900_005_000));
		$node->safe_psql('postgres', "DELETE FROM $name WHERE id % 7 = 0");
		$node->safe_psql('postgres', "VACUUM $name");
		$node->safe_psql('postgres', "SELECT rtscan_merge('${name}_idx')");
	}
	all_healthy($node, "$what, changed");
	return;
}

sub answers
{
	my ($node) = @_;
	return $node->safe_psql('postgres', join(';', map { my $name = $_; map { "SELECT answer('$name', \$\$$_\$\$, 'bitmap')" }
			('a < 300', "b = 'k7' AND a IS NOT NULL", 'c IS NULL', 'a >= 0') } qw(t merged)));
}

sub caught_up
{
	my ($from, $standby, $what) = @_;
	$from->wait_for_catchup($standby);
	all_healthy($standby, $what);
	is(answers($standby), answers($from), "$what: its answers are the primary's");
	return;
}

# ---- a backup of some seconds during changes

# rows of a transaction that is neither committed nor aborted while its server is copied
$primary->safe_psql('postgres', 'BEGIN; INSERT INTO t ' . rows(90_001, 96_000) . "; PREPARE TRANSACTION 'copied'");
my @changes = start_changes($primary);
await_changes($primary, 1);
my %before = done($primary);
$primary->backup('base', backup_options => [ '--max-rate=12M', '-X', 'stream' ]);
my %after = done($primary);
note('during the backup: ' . join(', ', map { "$_: " . ($after{$_} - $before{$_}) } sort keys %after));
is(join(' ', grep { $after{$_} == $before{$_} } sort keys %after), '', 'every kind of change was done during the backup');
my @moments = map { await_changes($primary, 1); lsn_inside_merge($primary) } 1 .. 2;
stop_changes($primary, 'backup', @changes);
all_healthy($primary, 'after the backup');

my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($primary, 'base');
$copy->start;
all_healthy($copy, 'the copy');
$copy->safe_psql('postgres', "COMMIT PREPARED 'copied'");
all_healthy($copy, 'the copy, a prepared transaction committed');
is($copy->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM t WHERE (a >= 0 OR a IS NULL) AND id BETWEEN 90001 AND 96000'),
	6000, 'the copy has its rows');
go_on($copy, 'the copy');
$copy->stop;

foreach my $moment (@moments)
{
	my $recovered = PostgreSQL::Test::Cluster->new("recovered_$moment" =~ s{/}{_}r);
	$recovered->init_from_backup($primary, 'base');
	my $wal = $primary->data_dir . '/pg_wal';
	$recovered->append_conf('postgresql.conf', "restore_command = 'cp \"$wal/%f\" \"%p\"'\nrecovery_target_lsn = '$moment'\n"
		  . "recovery_target_action = promote\n");
	$recovered->set_recovery_mode;
	$recovered->start;
	$recovered->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'recovery does not end';
	like(slurp_file($recovered->logfile), qr/recovery stopping (before|after) WAL location/, "recovered to $moment");
	all_healthy($recovered, "recovered to $moment");
	go_on($recovered, "recovered to $moment");
	unlike(slurp_file($recovered->logfile), qr/TRAP:|PANIC:|was terminated by signal/, 'it never crashed');
	$recovered->stop;
}

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
caught_up($primary, $standby, 'standby');
$primary->safe_psql('postgres', "ROLLBACK PREPARED 'copied'");
$primary->safe_psql('postgres', "VACUUM t");
caught_up($primary, $standby, 'standby, the prepared transaction aborted');

# ---- the standby is promoted, and both servers diverge until the old primary is rewound

$standby->promote;
# pg_rewind reads the source's timeline from its control file
$standby->safe_psql('postgres', 'CHECKPOINT');
foreach my $node ($primary, $standby)
{
	my $name = $node->name;
	# from the same state on, each server writes its own pages
	$node->safe_psql('postgres', 'DELETE FROM t WHERE id % ' . ($node == $primary ? 3 : 5) . ' = 1');
	my @changes = start_changes($node);
	await_changes($node, 5);
	stop_changes($node, "$name on its own", @changes);
	$node->safe_psql('postgres', 'VACUUM merged; DELETE FROM merged WHERE id % 4 = 1');
	all_healthy($node, "$name on its own");
}

$primary->stop;
# it copies the configuration of the source as well
my $configuration = PostgreSQL::Test::Utils::tempdir() . '/postgresql.conf';
copy($primary->data_dir . '/postgresql.conf', $configuration) or die "copy: $!";
command_ok([ 'pg_rewind', '--source-server', $standby->connstr('postgres'), '--target-pgdata', $primary->data_dir, '--no-sync' ], 'pg_rewind');
copy($configuration, $primary->data_dir . '/postgresql.conf') or die "copy: $!";
$primary->enable_streaming($standby);
$primary->start;
caught_up($standby, $primary, 'rewound');
go_on($standby, 'the new primary');
caught_up($standby, $primary, 'rewound, after changes of the new primary');

# and back
$standby->stop;
$primary->promote;
all_healthy($primary, 'rewound and promoted');
go_on($primary, 'rewound and promoted');
unlike(slurp_file($_->logfile), qr/TRAP:|PANIC:|was terminated by signal/, $_->name . ' never crashed') foreach ($primary, $standby, $copy);
$primary->stop;

done_testing();
