# Tests that scripts of the extension, which a superuser runs, possibly in a schema in which other users create
# objects (a database's owner can in public), do not call functions and operators of these users that have the names
# in the scripts.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $node = new_node('scripts', '');
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN');

# Each returns the same as the object that the script means, and leaves a trace. It matches the arguments in the
# scripts better than that object.
my $trace = q{EXECUTE 'ALTER ROLE owner CONNECTION LIMIT 7'};
my @traps = (<<"SQL", <<"SQL");
CREATE FUNCTION public.rtscan_mirror_classes(name) RETURNS SETOF text LANGUAGE plpgsql AS
	\$\$ BEGIN $trace; END \$\$;
SQL
DO \$do\$
DECLARE
	types text[];
BEGIN
	FOR types IN
		SELECT ARRAY[l.typname, r.typname]
		FROM pg_type l, pg_type r
		WHERE l.oid IN ('oid'::regtype, 'name'::regtype, 'text'::regtype, 'int2'::regtype, 'int4'::regtype, 'int8'::regtype)
			AND (r.oid = l.oid OR r.typname ~ '^(oid|name|text|int[248]|reg.*)\$')
			AND NOT EXISTS (SELECT FROM pg_operator o
							WHERE o.oprname = '=' AND o.oprleft = l.oid AND o.oprright = r.oid)
	LOOP
		EXECUTE format('CREATE FUNCTION public.trap(%1\$s, %2\$s) RETURNS boolean LANGUAGE plpgsql AS
			''BEGIN $trace; RETURN \$1::text = \$2::oid::text; EXCEPTION WHEN OTHERS THEN RETURN false; END''',
			types[1], types[2]);
		EXECUTE format('CREATE OPERATOR public.= (FUNCTION = public.trap, LEFTARG = %s, RIGHTARG = %s)', types[1], types[2]);
		EXECUTE format('CREATE OPERATOR public.<> (FUNCTION = public.trap, LEFTARG = %s, RIGHTARG = %s)', types[1], types[2]);
	END LOOP;
END
\$do\$;
SQL
$traps[1] =~ s/EXECUTE 'ALTER ROLE owner CONNECTION LIMIT 7'/EXECUTE ''''ALTER ROLE owner CONNECTION LIMIT 7''''/;

my $classes = q{SELECT count(*), count(*) FILTER (WHERE opcdefault) FROM pg_opclass
	WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'rtscan')};
my $limit = q{SELECT rolconnlimit FROM pg_roles WHERE rolname = 'owner'};

$node->safe_psql('postgres', 'CREATE EXTENSION rtscan');
my $expected = $node->safe_psql('postgres', $classes);

foreach my $number (0 .. 1)
{
	my $database = "trapped$number";

	$node->safe_psql('postgres', 'ALTER ROLE owner CONNECTION LIMIT -1');
	$node->safe_psql('postgres', "CREATE DATABASE $database OWNER owner");
	$node->safe_psql($database, "SET ROLE owner; $traps[$number]");
	$node->safe_psql($database, q{CREATE EXTENSION rtscan SCHEMA public VERSION '1.0'});
	is($node->safe_psql('postgres', $limit), -1, "trap $number: CREATE EXTENSION does not call it");
	$node->safe_psql($database, 'ALTER EXTENSION rtscan UPDATE');
	is($node->safe_psql('postgres', $limit), -1, "trap $number: ALTER EXTENSION does not call it");
	is($node->safe_psql($database, $classes), $expected, "trap $number: the operator classes");
	is($node->safe_psql($database, q{SELECT count(*) FROM rtscan_mirror_classes('pg_catalog')}), 0, "trap $number: no more");
	is($node->safe_psql('postgres', $limit), -1, "trap $number: nor does rtscan_mirror_classes()");
}
$node->stop;

done_testing();
