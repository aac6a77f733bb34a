-- Every type with a default btree operator class, and the operator classes themselves.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
SET rtscan.enable_aggregate = off; -- this is about scans
CREATE SCHEMA types;
SET search_path = types, public;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/differences.psql
\i :directory/sql/include/plans.psql
\set ECHO all
--
-- The operator classes
--
CREATE VIEW access_methods AS SELECT amname, oid FROM pg_am WHERE amname IN ('btree', 'rtscan');
CREATE VIEW classes AS
	SELECT amname, opcname, opcintype::regtype, opcdefault, opfname
	FROM access_methods a JOIN pg_opclass c ON opcmethod = a.oid JOIN pg_opfamily f ON f.oid = opcfamily
	WHERE amname = 'rtscan' OR opcnamespace = 'pg_catalog'::regnamespace;
CREATE VIEW operators AS
	SELECT amname, opfname, amoplefttype::regtype, amoprighttype::regtype, amopstrategy, amopopr::regoperator,
		amoppurpose
	FROM access_methods a JOIN pg_opfamily f ON opfmethod = a.oid JOIN pg_amop o ON amopfamily = f.oid
	WHERE amname = 'rtscan' OR opfnamespace = 'pg_catalog'::regnamespace;
CREATE VIEW functions AS
	SELECT amname, opfname, amproclefttype::regtype, amprocrighttype::regtype, amprocnum, amproc::regprocedure
	FROM access_methods a JOIN pg_opfamily f ON opfmethod = a.oid JOIN pg_amproc p ON amprocfamily = f.oid
	WHERE amprocnum IN (1, 2) AND (amname = 'rtscan' OR opfnamespace = 'pg_catalog'::regnamespace)
		-- sort support that goes with another type's operator class is not used
		AND (amprocnum = 1 OR amproclefttype = amprocrighttype);

-- List members that btree has and rtscan lacks, and the reverse
CREATE FUNCTION one_sided(relation regclass) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format(
		'SELECT ''missing '' || r::text FROM (SELECT to_jsonb(t) - ''amname'' FROM %1$s t WHERE amname = ''btree''
			EXCEPT SELECT to_jsonb(t) - ''amname'' FROM %1$s t WHERE amname = ''rtscan'') r
		UNION ALL
		SELECT ''extra '' || r::text FROM (SELECT to_jsonb(t) - ''amname'' FROM %1$s t WHERE amname = ''rtscan''
			EXCEPT SELECT to_jsonb(t) - ''amname'' FROM %1$s t WHERE amname = ''btree'') r', relation);
END
$$;
SELECT one_sided(v) FROM unnest('{classes, operators, functions}'::regclass[]) v;
SELECT count(*) > 40 AS many FROM classes WHERE amname = 'rtscan';

-- all of them are valid
SELECT opcname FROM pg_opclass
	WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'rtscan') AND NOT amvalidate(oid);
-- none is lossy, ordered or stores another type
SELECT opcname FROM pg_opclass JOIN pg_am a ON opcmethod = a.oid
	WHERE amname = 'rtscan' AND opckeytype NOT IN (0, opcintype);
SELECT count(*)
FROM pg_amop o JOIN pg_am a ON amopmethod = a.oid
WHERE amname = 'rtscan' AND (amoppurpose <> 's' OR amopsortfamily <> 0);
-- and what the access method says of itself
SELECT p.name, pg_indexam_has_property(a.oid, p.name) FROM pg_am a,
	unnest('{can_order, can_unique, can_multi_col, can_exclude, can_include}'::text[]) p(name) WHERE amname = 'rtscan';

--
-- All types, in segments of less than a chunk, and in the pending list
--
CREATE TYPE mood AS ENUM ('bad', 'worse');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN small AS int CHECK (VALUE > -100000);
CREATE DOMAIN word AS text COLLATE "C";
CREATE COLLATION plain (provider = icu, locale = 'und');
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION deaf (provider = icu, locale = 'und-u-ka-shifted-ks-level1', deterministic = false);
CREATE COLLATION naturally (provider = icu, locale = 'en-u-kn-true');

CREATE TYPE wordrange AS RANGE (subtype = text, collation = blind);
CREATE DOMAIN numbers AS int[] CHECK (cardinality(VALUE) < 10);

-- the order of an enum is not that of its OIDs
ALTER TYPE mood ADD VALUE 'worst';
ALTER TYPE mood ADD VALUE 'good' BEFORE 'bad';
ALTER TYPE mood ADD VALUE 'best' BEFORE 'good';
ALTER TYPE mood ADD VALUE 'so so' AFTER 'good';

CREATE TABLE types (
	id serial,
	type text,					-- of the column, with its collation
	make text,					-- makes a value of the number @, from 0 to 999
	extremes text[] DEFAULT '{}',	-- more values
	opclass text DEFAULT '',
	operators text[] DEFAULT '{<,<=,=,>=,>}',
	arrays boolean DEFAULT true);	-- whether an array of it is possible

INSERT INTO types (type, make, extremes) VALUES
	('"char"', '(@ % 256 - 128)::"char"', DEFAULT),
	('int2', '(@ * 65 - 32768)::int2', '{-32768,32767,0,-1}'),
	('int4', '(@ % 300 - 150)::int4', '{-2147483648,2147483647,0,-1}'),
	('int8', '@::int8 * 1000000007', '{-9223372036854775808,9223372036854775807,0,-1}'),
	('small', '(@ % 300 - 150)::small', '{-99999,2147483647}'),
	('oid', '(@::int8 * 4294967)::oid', '{0,2147483647,2147483648,4294967295}'),
	('xid8', '@::text::xid8', '{0,9223372036854775808,18446744073709551615}'),
	('pg_lsn', '(''0/0''::pg_lsn + @::numeric)', '{0/0,7FFFFFFF/FFFFFFFF,80000000/0,FFFFFFFF/FFFFFFFF}'),
	('float4', '((@ - 500) / 7.0)::float4', '{NaN,Infinity,-Infinity,-0,0,1e-45,-1e-45,3.4028235e38,0.1}'),
	('float8', '((@ - 500) / 7.0)::float8', '{NaN,Infinity,-Infinity,-0,0,5e-324,-5e-324,1.7976931348623157e308,0.1}'),
	('numeric', 'round((@ - 500) / 8.0, @ % 5)',
		'{NaN,Infinity,-Infinity,0,0.000,-0.0,1,1.0,1.00,1e300,-1e300,1e-300,9999.9999}'),
	('numeric(10,2)', '((@ - 500) / 8.0)::numeric(10,2)', '{NaN,99999999.99,-99999999.99,0}'),
	('money', '((@ - 500) * 7)::money', DEFAULT),
	('tid', 'format(''(%s,%s)'', @ / 7, @ % 7)::tid',
		'{"(0,0)","(0,1)","(4294967295,65535)","(2147483648,1)","(5,0)"}'),
	('bytea', 'int4send(@ % 300)', '{"","\\x00","\\x0000","\\xff","\\xffffffffff","\\x000000"}'),
	('bit(10)', '@::bit(10)', '{0000000000,1111111111,0111111111}'),
	('varbit', 'substring(@::bit(10)::varbit from 1 for @ % 11)', '{"",0,1,00,01,1111111111,111111111100000}'),
	('date', '''2000-01-01''::date + @ - 500', '{infinity,-infinity,"4713-01-01 BC",5874897-12-31,2000-02-29}'),
	('time', '''00:00''::time + @ * interval ''86 s''', '{00:00,24:00,23:59:59.999999}'),
	('timetz',
		'timetz(''12:00''::time + @ % 10 * interval ''1 hour'') AT TIME ZONE make_interval(hours => @ % 25 - 12)',
		'{00:00+14,24:00-12,12:00+00,13:00+01}'),
	('timestamp', '''2000-01-01''::timestamp + (@ - 500) * interval ''1 hour''',
		'{infinity,-infinity,"4713-01-01 00:00:00 BC","294276-12-31 23:59:59.999999"}'),
	('timestamptz', '''2000-01-01''::timestamptz + (@ - 500) * interval ''1 hour''',
		'{infinity,-infinity,"4713-01-01 00:00:00+00 BC","294276-12-31 23:59:59.999999+00"}'),
	('interval', 'CASE @ % 3
			WHEN 0 THEN make_interval(months => @ / 3)
			WHEN 1 THEN make_interval(days => @ / 3 * 30)
			ELSE make_interval(hours => @ / 3 * 720) END',
		'{0,1 month,30 days,720:00:00,1 month -30 days,-1 month,178000000 years,-178000000 years}'),
	('uuid', 'md5(@::text)::uuid', '{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff,
		80000000-0000-0000-0000-000000000000}'),
	('inet', 'set_masklen(''10.0.0.0''::inet + @ % 300, 8 + @ % 25)',
		'{0.0.0.0/0,255.255.255.255,::,ffff::/16,10.0.0.0/8,10.0.0.0,::ffff:10.0.0.1}'),
	('cidr', 'network(set_masklen(''10.0.0.0''::inet + @ * 4, 22 + @ % 9))',
		'{0.0.0.0/0,::/0,10.0.0.0/8,10.0.0.0/9,255.255.255.255}'),
	('macaddr', '(''08:00:2b:01:'' || to_hex(16 + @ % 200) || '':'' || to_hex(16 + @ % 200))::macaddr',
		'{00:00:00:00:00:00,ff:ff:ff:ff:ff:ff,80:00:00:00:00:00,00:00:00:80:00:00}'),
	('macaddr8', '(''08:00:2b:01:02:03:'' || to_hex(16 + @ % 200) || '':'' || to_hex(16 + @ % 200))::macaddr8',
		'{00:00:00:00:00:00:00:00,ff:ff:ff:ff:ff:ff:ff:ff,80:00:00:00:00:00:00:00,00:00:00:00:80:00:00:00}'),
	('mood', 'CASE @ % 6
			WHEN 0 THEN ''bad'' WHEN 1 THEN ''worse'' WHEN 2 THEN ''worst'' WHEN 3 THEN ''good''
			ELSE ''so so'' END::mood', '{best}'),
	('jsonb', 'CASE @ % 4
			WHEN 0 THEN to_jsonb(@)
			WHEN 1 THEN jsonb_build_object(''a'', @ % 100)
			WHEN 2 THEN jsonb_build_array(@ % 100, NULL)
			ELSE to_jsonb(@::text) END',
		'{"null",true,false,"\"\"",[],"{}",1,1.0,1.00,"[1,2]"}'),
	('tsvector', '(''w'' || @ % 200 || '' x:'' || 1 + @ % 3)::tsvector', '{"",a,a:1,"a b","a:1A"}'),
	('oidvector', '(@ || '' '' || @ % 7)::oidvector', '{"",0,4294967295,"1 2 3","1 2"}'),
	('name', '(''k'' || @ % 300)::name', '{"",a,A,k,"k "}'),
	('name COLLATE plain', '(''k'' || @ % 300)::name COLLATE plain', '{"",a,A,k,K1,"k "}'),
	('text COLLATE "C"', 'chr(65 + @ % 60) || chr(65 + @ % 59)', '{""," ",a,A,"a ",~}'),
	('text', 'chr(65 + @ % 60) || chr(65 + @ % 59)', '{""," ",a,A,"a ",~}'),
	('text COLLATE plain', 'chr(65 + @ % 60) || chr(232 + @ % 59)', '{""," ",a,A,"a ",~}'),
	('text COLLATE blind', '@ % 99 || (ARRAY[''ab'', ''AB'', ''aB'', ''ab ''])[1 + @ % 4]',
		'{""," ",ab,AB,"ab ",1ab,1AB}'),
	('text COLLATE deaf', '@ % 99 || (ARRAY[''ab'', ''a-b'', ''A B'', E''\u00e1b''])[1 + @ % 4]',
		'{"","-",ab,AB,a-b,"1 ab","1a b"}'),
	('text COLLATE naturally', '''n'' || @', '{n9,n10,n100,n0100,n,n-1}'),
	('word', 'chr(65 + @ % 60) || chr(65 + @ % 59)', '{""," ",a,A,"a ",~}'),
	('varchar(20)', '(''k'' || @ % 300)::varchar(20)', '{"",k,"k ",K1}'),
	('varchar(20) COLLATE blind', '((ARRAY[''k'', ''K''])[1 + @ % 2] || @ % 99)::varchar(20)', '{"",k,"k ",K1,k1}'),
	('bpchar', '(''k'' || @ % 300)::bpchar', '{"",k,"k ","k1  ",K1}'),
	('char(6)', '(''k'' || @ % 300)::char(6)', '{"",k,"k ","k1  ",K1}'),
	('char(6) COLLATE blind', '((ARRAY[''k'', ''K''])[1 + @ % 2] || @ % 99)::char(6)', '{"",k,"k ","k1  ",K1}'),
	('pair', 'ROW(@ % 50, (ARRAY[''x'', NULL, ''y''])[1 + @ % 3])::pair', '{"(,)","(0,)","(,x)","(2147483647,zzz)"}'),
	('int4range', 'int4range(@ % 60, @ % 60 + @ % 7)', '{empty,"(,)","[0,)","(,0)","[5,9]"}'),
	('tsrange', 'tsrange(''2000-01-01''::timestamp + @ % 60 * interval ''1 day'', NULL, ''(]'')',
		'{empty,"(,)","[2000-01-05,2000-01-05]"}'),
	('int4multirange', 'int4multirange(int4range(@ % 60, @ % 60 + @ % 7), int4range(200, 200 + @ % 5))',
		'{"{}","{(,)}","{[1,2),[5,9)}"}');
INSERT INTO types (type, make, extremes, arrays) VALUES
	('int4[]', 'ARRAY[@ % 30, NULLIF(@ % 7, 3), @ % 3]',
		'{"{}","{NULL}","{NULL,NULL}","{1}","{{1,2},{3,4}}","[0:1]={1,2}"}', false),
	('text[] COLLATE blind', 'ARRAY[(ARRAY[''a'', ''A''])[1 + @ % 2], (@ % 50)::text]',
		'{"{}","{NULL}","{A}","{a}","{a,NULL}"}', false),
	('numeric[]', 'ARRAY[round(@ % 50, @ % 3)]', '{"{}","{NaN}","{1.0}","{1.00,2}"}', false),
	('mood[]', '(enum_range(NULL::mood))[1 + @ % 6:@ % 7]', '{"{}","{worst}","{best,NULL}"}', false),
	('pair[]', 'ARRAY[ROW(@ % 20, ''x'')::pair, ROW(NULL, @ % 3)::pair]', '{"{}","{NULL}","{\"(1,x)\"}"}', false),
	('numbers', 'ARRAY[@ % 30, NULLIF(@ % 7, 3)]::numbers', '{"{}","{NULL}","{1}"}', false),
	('wordrange', 'wordrange((ARRAY[''a'', ''A'', ''b'', ''B''])[1 + @ % 4] || @ % 20, NULL)',
		'{empty,"(,)","[a,b)","[A,B)"}', true),
	('nummultirange', 'nummultirange(numrange(@ % 30, @ % 30 + 1.5))', '{"{}","{[1.0,2.50)}","{[1,2.5)}"}', true);
INSERT INTO types (type, make, extremes, opclass, operators) VALUES
	('bool', '(@ % 2 = 0)', DEFAULT, DEFAULT, '{<,<=,<=,>=,>}'),		-- = is below
	('text', 'chr(65 + @ % 60) || chr(232 + @ % 59)', '{""," ",a,A,"a ",~}', 'text_pattern_ops',
		'{~<~,~<=~,=,~>=~,~>~}'),
	('text COLLATE plain', 'chr(65 + @ % 60) || chr(232 + @ % 59)', '{""," ",a,A,"a ",~}', 'text_ops', DEFAULT),
	('varchar', '(chr(65 + @ % 60) || chr(65 + @ % 59))::varchar', '{""," ",a,A,"a ",~}', 'varchar_pattern_ops',
		'{~<~,~<=~,=,~>=~,~>~}'),
	('varchar', '(chr(65 + @ % 60) || chr(65 + @ % 59))::varchar', '{""," ",a,A,"a ",~}', 'varchar_ops', DEFAULT),
	('char(6)', '(''k'' || @ % 300)::char(6)', '{"",k,"k ","k1  ",K1}', 'bpchar_pattern_ops', '{~<~,~<=~,=,~>=~,~>~}'),
	('cidr', 'network(set_masklen(''10.0.0.0''::inet + @ * 4, 22 + @ % 9))', '{0.0.0.0/0,::/0,10.0.0.0/8}',
		'cidr_ops', DEFAULT),
	('pair', 'ROW(@ % 50, (ARRAY[''x'', NULL, ''y''])[1 + @ % 3])::pair', '{"(,)","(0,)","(,x)"}',
		'record_image_ops', '{*<,*<=,*=,*>=,*>}');

-- The constants to compare with: some values, some that no row has.
CREATE FUNCTION constants(t types) RETURNS text[] LANGUAGE sql AS $$
	SELECT array_agg(constant)
	FROM (SELECT format('(%s)', replace(t.make, '@', x::text)) FROM unnest('{0,1,6,77,499,998}'::int[]) x
		  UNION ALL
		  SELECT format('%L::%s', e, t.type) FROM unnest(t.extremes) e) c (constant)
$$;

CREATE FUNCTION conditions(t types) RETURNS text[] LANGUAGE sql AS $$
	WITH constants AS (SELECT i, c, count(*) OVER () n FROM unnest(constants(t)) WITH ORDINALITY u(c, i)),
	conditions (condition) AS (
		SELECT format('v %s %s', o, c) FROM constants, unnest(t.operators) o
		UNION ALL
		SELECT format('v %s %s AND v %s %s', t.operators[4 + (a.i + b.i) % 2], a.c, t.operators[1 + a.i % 2], b.c)
		FROM constants a JOIN constants b ON b.i IN (1 + (a.i + 1) % a.n, 1 + (a.i * 3) % a.n)
		UNION ALL
		SELECT format('v %s ANY (ARRAY[%s, NULL, %s, %s])', t.operators[1 + a.i % 5], a.c, b.c, a.c)
		FROM constants a JOIN constants b ON b.i = 1 + (a.i + 2) % a.n WHERE t.arrays
		UNION ALL
		-- for a row, these tests are about its columns
		SELECT 'v ' || test FROM unnest('{IS NULL,IS NOT NULL}'::text[]) test WHERE t.type <> 'pair')
	SELECT array_agg(condition) FROM conditions
$$;

CREATE FUNCTION fill(t types, start int, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('INSERT INTO x SELECT CASE WHEN abs(hashint4(i)) %% 11 > 0 THEN %s END FROM
						(SELECT i, abs(hashint4(i)) %% 1000 FROM generate_series(%s, %s) i) r (i, number)',
				   replace(t.make, '@', 'number'), start, start + n - 1);
	IF t.extremes <> '{}' THEN
		EXECUTE format('INSERT INTO x SELECT v FROM (VALUES %s) e (v), generate_series(1, 3)',
					   (SELECT string_agg(format('(%L::%s)', e, t.type), ', ') FROM unnest(t.extremes) e));
	END IF;
END
$$;

-- List the faults of a type; there should be none.
CREATE FUNCTION check_type(t types) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE x (v %s)', t.type);
	PERFORM fill(t, 1, 250);
	EXECUTE format('CREATE INDEX x_v ON x USING rtscan (v %s)', t.opclass);
	PERFORM fill(t, 251, 80);
	PERFORM rtscan_check('x_v', true);
	RETURN QUERY SELECT d FROM differences('x', 'x_v', conditions(t)) d;
	DROP TABLE x;
EXCEPTION WHEN OTHERS THEN
	RETURN NEXT SQLERRM;
END
$$;
SELECT type, opclass, problem FROM (SELECT t.*, check_type(t) problem FROM types t) p ORDER BY id;
SELECT count(*) AS types, sum(cardinality(conditions(t))) AS conditions FROM types t;

-- floats that are equal and not identical: NaNs with and without a sign, zeros with and without one
CREATE TABLE floats AS
	SELECT d, d::float4 AS f
	FROM generate_series(1, 400) i,
		LATERAL (SELECT (ARRAY[
			'NaN', 'Infinity'::float8 - 'Infinity', 0, '-0', 'Infinity', '-Infinity', 1, NULL])[1 + i % 8]) r (d);
CREATE INDEX floats_df ON floats USING rtscan (d, f);
INSERT INTO floats SELECT * FROM floats LIMIT 20;
SELECT rtscan_check('floats_df', true);
SELECT differences('floats', 'floats_df',
	array_agg(format('%s %s %s', c, o, v)) || array_agg(format('%s %s ANY (ARRAY[%s, NULL])', c, o, v)))
	FROM unnest('{d,f}'::text[]) c,
		unnest('{<,<=,=,>=,>}'::text[]) o,
		unnest(ARRAY[
			'''NaN''::float8', '''NaN''::float4', '''Infinity''::float8 - ''Infinity''', '0::float4', '''-0''::float8',
			'''-0''::float4', '''-Infinity''::float8']) v;
DROP TABLE floats;

-- bool columns are conditions themselves
CREATE TABLE flags AS SELECT CASE WHEN i % 7 > 0 THEN hashint4(i) % 3 = 0 END AS v FROM generate_series(1, 300) i;
CREATE INDEX flags_v ON flags USING rtscan (v);
-- PostgreSQL 15 offers conditions like these to its own operator classes only; other ways to say the same are indexable
SELECT c, count(*)
FROM flags
	CROSS JOIN LATERAL (VALUES
		('v', v), ('NOT v', NOT v), ('v IS TRUE', v IS TRUE), ('v >= true', v >= true), ('v < true', v < true)) x (c, b)
WHERE b
GROUP BY c
ORDER BY c COLLATE "C";
SELECT differences('flags', 'flags_v', '{v >= true, v <= false, v < true, v > false, v >= ANY (ARRAY[true\, NULL]),
	v = ANY (ARRAY[false\, NULL]), v IS NULL, v IS NOT NULL AND v < true}');
SET enable_seqscan = off;
SELECT count(*) FROM flags WHERE v;
SELECT count(*) FROM flags WHERE NOT v;
SELECT count(*) FROM flags WHERE v IS NOT TRUE;
RESET enable_seqscan;
DROP TABLE flags;

-- an operator class for byte order does not go with a collation whose equality is another
CREATE TABLE folded (v text COLLATE blind, b char(5) COLLATE blind);
INSERT INTO folded VALUES ('a', 'a'), ('A', 'A');
CREATE INDEX ON folded USING btree (v text_pattern_ops);
CREATE INDEX ON folded USING rtscan (v text_pattern_ops);
CREATE INDEX ON folded USING rtscan (v varchar_pattern_ops);
CREATE INDEX ON folded USING rtscan (b bpchar_pattern_ops);
SET enable_seqscan = off;
SELECT v FROM folded WHERE v = 'a' ORDER BY v COLLATE "C";
SELECT b FROM folded WHERE b = 'A' ORDER BY b COLLATE "C";
RESET enable_seqscan;
DROP TABLE folded;
-- an index of another collation than the condition's does not answer it
CREATE TABLE folded (v text COLLATE "C");
INSERT INTO folded VALUES ('a'), ('A'), ('b');
CREATE INDEX folded_v ON folded USING rtscan (v);
SET enable_seqscan = off;
SELECT differences('folded', 'folded_v', ARRAY['v = ''a''', 'v < ''a''']);
DROP INDEX folded_v;
CREATE INDEX folded_blind ON folded USING rtscan (v COLLATE blind);
SELECT differences('folded', 'folded_blind',
	ARRAY['v COLLATE blind = ''a''', 'v COLLATE blind > ''a''', 'v COLLATE blind <= ''A''']);
SET enable_bitmapscan = off;
SELECT explained($$SELECT * FROM folded WHERE v COLLATE plain > 'a'$$);
RESET enable_bitmapscan;
SET rtscan.enable_scan = off;
SELECT explained($$SELECT * FROM folded WHERE v COLLATE plain > 'a'$$);
RESET rtscan.enable_scan;
RESET enable_seqscan;
DROP TABLE folded;

--
-- Constants of another type than the column's
--
CREATE FUNCTION check_cross(column_type text, make text, constants text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE x (v %s)', column_type);
	EXECUTE format('INSERT INTO x SELECT CASE WHEN i %% 13 > 0 THEN %s END FROM generate_series(0, 399) i',
		replace(make, '@', 'i'));
	EXECUTE 'CREATE INDEX x_v ON x USING rtscan (v)';
	EXECUTE format('INSERT INTO x SELECT %s FROM generate_series(400, 499) i', replace(make, '@', 'i'));
	RETURN QUERY SELECT d FROM differences('x', 'x_v', (SELECT
		array_agg(format('v %s %s', o, c)) || array_agg(format('v %s ANY (ARRAY[%s, NULL])', o, c))
		FROM unnest(constants) c, unnest('{<,<=,=,>=,>}'::text[]) o)) d;
	RETURN QUERY SELECT d FROM differences('x', 'x_v', (SELECT array_agg(format('v >= %s AND v < %s', a, b))
		FROM unnest(constants) WITH ORDINALITY a (a, i), unnest(constants) WITH ORDINALITY b (b, k)
		WHERE (i + k) % 4 = 0)) d;
	DROP TABLE x;
END
$$;
CREATE TABLE integers AS SELECT format('(%s)::%s', number, type) AS constant
	FROM (VALUES ('int2', '{-32768,-1,0,1,99,250,32767}'::int8[]),
				 ('int4', '{-2147483648,-32769,-32768,-1,0,99,250,32767,32768,40000,2147483647}'),
				 ('int8', '{-9223372036854775808,-2147483649,-2147483648,-32769,0,99,250,32768,
					2147483647,2147483648,9223372036854775807}')) t (type, numbers),
		unnest(numbers) number;
SELECT t, check_cross(t,
		format('(CASE @ %% 50 WHEN 0 THEN %s WHEN 1 THEN %s ELSE @ - 200 END)::%s', -lowest - 1, lowest, t),
		(SELECT array_agg(constant) FROM integers))
	FROM (VALUES ('int2', 32767), ('int4', 2147483647), ('int8', 9223372036854775807)) c (t, lowest);
SELECT t, check_cross(t,
		'(CASE @ % 50 WHEN 0 THEN ''NaN'' WHEN 1 THEN ''-0'' WHEN 2 THEN ''Infinity'' WHEN 3 THEN ''-Infinity''
			WHEN 4 THEN 3.4028235e38 WHEN 5 THEN 1e-45::float4 ELSE @ / 10.0 END)::' || t,
		'{0.1::float4, 0.1::float8, 1.1::float4, 1.1::float8, 2.5::float8, 0::float8, "''-0''::float4",
			1e300::float8, -1e300::float8, 5e-324::float8, 1e-45::float4,
			3.4028235e38::float4, 3.4028235e38::float8, 3.4028236e38::float8,
			"''NaN''::float4", "''NaN''::float8", "''Infinity''::float8", "''-Infinity''::float4"}')
	FROM unnest('{float4,float8}'::text[]) t;
SELECT t, check_cross(t,
		'(''k'' || @ % 99)::' || t,
		'{"''k5''::text", "''k5''::name", "''k''::text", "''k999''::name", "repeat(''k'', 100)", "''k5 ''::text",
			"''''::text"}')
	FROM unnest(ARRAY['name', 'text COLLATE "C"']) t;

--
-- Local times and instants: the clock changes, and the order of local times is not that of instants
--
-- in the middle of local times that do not exist, or exist twice
CREATE TABLE changes (zone text, change timestamp);
INSERT INTO changes VALUES
	('Europe/Berlin', '2021-03-28 02:30'), ('Europe/Berlin', '2021-10-31 02:30'),
	('America/St_Johns', '1987-04-05 00:30'), ('America/St_Johns', '1987-10-25 00:00'),
	('America/St_Johns', '1988-04-03 01:00'),
	('Australia/Lord_Howe', '2021-10-03 02:15'), ('Australia/Lord_Howe', '2021-04-04 01:45'),
	('Pacific/Apia', '2011-12-30 12:00'), ('Pacific/Kwajalein', '1993-08-21 12:00'),
	('America/Juneau', '1867-10-18 12:00'),
	('Europe/Amsterdam', '1937-07-01 00:00'), ('America/New_York', '2040-03-11 02:30'), ('UTC', '2021-03-28 02:30');

CREATE FUNCTION check_change(zone text, change timestamp, column_type text, width interval, step interval)
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	constants text[];
BEGIN
	PERFORM set_config('timezone', zone, true);
	EXECUTE format('CREATE TABLE x (v %s)', column_type);
	-- local times, each some times, and such that are far away
	INSERT INTO x SELECT t
	FROM generate_series(change - width, change + width, step) t, generate_series(1, 2)
	ORDER BY hashtext(t::text);
	INSERT INTO x VALUES
		('infinity'), ('-infinity'), (NULL), ('1800-01-01'), ('2200-01-01'), ('4700-01-01 BC'), ('294276-12-31');
	CREATE INDEX x_v ON x USING rtscan (v);
	INSERT INTO x SELECT t FROM generate_series(change - width, change + width, step * 5) t;
	SELECT array_agg(format('%L::timestamptz', t)) INTO constants
		FROM (
			SELECT (change AT TIME ZONE zone + minutes * interval '1 min')::text
			FROM (
				SELECT generate_series(-120, 120, 15)
				UNION SELECT generate_series(-25 * 60, 25 * 60, 180)
				UNION SELECT * FROM unnest('{-2940,-2880,-2820,2820,2880,2940}'::int[])) d (minutes)
			UNION
			SELECT unnest('{1800-01-01 12:00+00, 2200-01-01 12:00+00, 4713-01-01 00:00:00+00 BC,
				294276-12-31 23:59:59.999999+00, infinity, -infinity}'::text[])) c (t);
	RETURN QUERY SELECT d FROM differences('x', 'x_v', (SELECT array_agg(format('v %s %s', o, c))
		FROM unnest(constants) c, unnest('{<,<=,=,>=,>}'::text[]) o)) d;
	RETURN QUERY
		SELECT d
		FROM differences('x', 'x_v', (
			SELECT array_agg(format('v %s ANY (ARRAY[%s, %s, NULL])', o, constants[i], constants[i + 7]))
				|| array_agg(format('v > %s AND v <= %s', constants[i], constants[i + 5]))
			FROM generate_series(1, cardinality(constants) - 7, 5) i, unnest('{<,<=,=,>=,>}'::text[]) o)) d;
	DROP TABLE x;
	PERFORM set_config('timezone', 'UTC', true);
END
$$;
SELECT zone, change, problem
FROM (SELECT *, check_change(zone, change, 'timestamp', '27 hours', '10 min') FROM changes) c (zone, change, problem);
SELECT zone, change, problem
FROM (SELECT *, check_change(zone, change, 'date', '5 days', '1 day') FROM changes) c (zone, change, problem);
SELECT zone, change, problem
FROM (SELECT *, check_change(zone, change, 'timestamptz', '27 hours', '1 hour') FROM changes) c (zone, change, problem);

-- the other pairs of these types
SELECT t, check_cross(t,
		$$(CASE @ % 40
			WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' WHEN 2 THEN '294276-12-31' WHEN 3 THEN '4713-01-01 BC'
			ELSE '2021-03-28'::timestamp + (@ - 200) * interval '30 min' END)::$$ || t,
		ARRAY[
			'''2021-03-28''::date', '''2021-03-27''::date', '''2021-03-28''::timestamp',
			'''2021-03-28 02:30''::timestamp', '''2021-03-28 03:00''::timestamp',
			'''2021-03-28 00:30+00''::timestamptz', '''2021-03-28 01:00+00''::timestamptz',
			'''infinity''::date', '''-infinity''::timestamp', '''infinity''::timestamptz',
			'''5874897-12-31''::date', '''4713-01-01 BC''::date', '''4713-11-24 00:00:00 BC''::timestamp',
			'''294276-12-31 23:59:59.999999''::timestamp', '''-infinity''::date'])
	FROM (VALUES ('date'), ('timestamp'), ('timestamptz')) v (t), set_config('timezone', 'Europe/Berlin', false);

-- a generic plan follows the session's time zone
CREATE TABLE x AS SELECT '2021-03-27'::timestamp + i * interval '30 min' AS v FROM generate_series(0, 200) i;
CREATE INDEX x_v ON x USING rtscan (v);
SET plan_cache_mode = force_generic_plan;
PREPARE before (timestamptz) AS SELECT count(*) FROM x WHERE v < $1;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT explained($$EXECUTE before('2021-03-28 01:00+00')$$);
SET timezone = 'Europe/Berlin';
EXECUTE before('2021-03-28 01:00+00');
SET timezone = 'Pacific/Apia';
EXECUTE before('2021-03-28 01:00+00');
SET timezone = 'UTC';
EXECUTE before('2021-03-28 01:00+00');
SET rtscan.enable_scan = off;
SET enable_seqscan = on;
SET timezone = 'Europe/Berlin';
EXECUTE before('2021-03-28 01:00+00');
SET timezone = 'Pacific/Apia';
EXECUTE before('2021-03-28 01:00+00');
SET timezone = 'UTC';
EXECUTE before('2021-03-28 01:00+00');
DEALLOCATE before;
RESET plan_cache_mode;
RESET enable_seqscan;
RESET rtscan.enable_scan;
RESET enable_bitmapscan;
DROP TABLE x;

--
-- More rows than a chunk, so that there are sieves; several types in one index
--
CREATE TABLE big AS
	SELECT CASE WHEN i % 17 > 0 THEN (x % 20011)::int4 - 10000 END AS int4,
		   (x % 254)::int2 AS int2,
		   CASE WHEN i % 3 > 0 THEN x % 2 = 0 END AS bool,
		   CASE WHEN x % 10 > 0 THEN 0 ELSE (x % 5000) / 7.0 END::float8 AS float8,
		   round((x % 3000) / 8.0, x % 4) AS numeric,
		   CASE WHEN x % 5 > 0 THEN (x % 900) || (ARRAY['ab', 'AB', 'aB'])[1 + x % 3] END COLLATE blind AS blind,
		   ('n' || x % 40000) COLLATE naturally AS naturally,
		   md5((x % 30000)::text)::uuid AS uuid,
		   (ENUM_RANGE(NULL::mood))[1 + x % 6] AS mood,
		   '2021-10-31'::timestamp + (x % 9000 - 4500) * interval '1 min' AS timestamp,
		   CASE WHEN x % 4 > 0 THEN int4range(x % 50, x % 50 + x % 9) END AS range,
		   i / 100 AS ordered
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(1, 66000) i) r (i, x);
CREATE INDEX big_all ON big USING rtscan (int4, int2, bool, float8, "numeric", blind, naturally, uuid, mood,
	"timestamp", range, ordered);
INSERT INTO big SELECT * FROM big LIMIT 500;
SELECT rtscan_check('big_all', true);
SET timezone = 'Europe/Berlin';
CREATE TABLE big_constants (c text, constants text[]);
INSERT INTO big_constants VALUES
	('int4', '{-10000,-9999,17::int8,3000000000,10010}'),
	('int2', '{-1,0,127::int8,253,70000}'),
	('float8', '{-1::float8,0::float8,"''-0''::float8",0.142857142857142857::float8,1.5::float8,1e300::float8,
		"''NaN''::float8"}'),
	('"numeric"', '{0,1.125,1.13,200.50,374.875,"''NaN''"}'),
	('blind', '{"''0AB''","''ab''","''500aB''","''899ab''","''9''","''''"}'),
	('naturally', '{"''n9''","''n10''","''n09''","''n39999''","''N5''"}'),
	('uuid', '{"''00000000-0000-0000-0000-000000000000''",md5(''77'')::uuid,"''80000000-0000-0000-0000-000000000000''",
		"''ffffffff-ffff-ffff-ffff-ffffffffffff''"}'),
	('mood', '{"''best''::mood","''so so''","''bad''","''worst''"}'),
	('"timestamp"', '{"''2021-10-31 00:30+00''::timestamptz","''2021-10-31 01:00+00''::timestamptz",
		"''2021-10-31 02:00+00''::timestamptz","''2021-10-31''::date","''2021-10-31 02:30''"}'),
	('range', '{"''empty''::int4range","''[10,12)''","''[10,)''","''(,)''"}'),
	('ordered', '{0,1,644,645,646,660}');
SELECT differences('big', 'big_all', (SELECT array_agg(condition) FROM (
	SELECT format('%s %s %s', c, o, k)
	FROM big_constants,
		unnest(constants) WITH ORDINALITY k (k, i),
		unnest('{<,<=,=,>=,>}'::text[]) WITH ORDINALITY o (o, j)
	WHERE (i + j) % 3 = 0
	UNION ALL
	SELECT format('%s >= %s AND %s < %s', c, constants[i], c, constants[i + 1])
	FROM big_constants, generate_series(1, cardinality(constants) - 1, 2) i
	UNION ALL
	SELECT format('%s = ANY (ARRAY[%s])', c, array_to_string(constants, ', ')) FROM big_constants
	UNION ALL
	SELECT c || ' IS NULL' FROM big_constants
	UNION ALL
	SELECT unnest('{bool >= true,bool < true,bool > true,bool <= false AND int4 IS NULL,bool IS NULL,
		bool IS NOT NULL AND int2 < 3}'::text[])
	UNION ALL
	-- columns together
	SELECT format('%s %s %s AND %s %s %s', a.c, o, a.constants[2], b.c, p, b.constants[2])
	FROM big_constants a JOIN big_constants b ON a.c < b.c, unnest('{<=,>}'::text[]) o, unnest('{<,>=}'::text[]) p
	WHERE (length(a.c) + length(b.c)) % 7 = 0) c (condition)));
SET timezone = 'UTC';
DROP TABLE big;

--
-- Operator classes of one's own
--
-- the reverse order
CREATE FUNCTION reverse_cmp(int, int) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT btint4cmp($2, $1)';
CREATE OPERATOR CLASS reverse_ops FOR TYPE int USING btree AS
	OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 reverse_cmp(int, int);
CREATE OPERATOR CLASS reverse_ops FOR TYPE int USING rtscan AS
	OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 reverse_cmp(int, int);
-- equality that is not the type's own: modulo 100, and a type passed by value
CREATE FUNCTION modulo_cmp(int, int) RETURNS int
LANGUAGE sql IMMUTABLE STRICT AS 'SELECT btint4cmp($1 % 100, $2 % 100)';
CREATE FUNCTION modulo_lt(int, int) RETURNS bool
LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN $1 % 100 < $2 % 100; END';
CREATE FUNCTION modulo_le(int, int) RETURNS bool
LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN $1 % 100 <= $2 % 100; END';
CREATE FUNCTION modulo_eq(int, int) RETURNS bool
LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN $1 % 100 = $2 % 100; END';
CREATE FUNCTION modulo_ge(int, int) RETURNS bool
LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN $1 % 100 >= $2 % 100; END';
CREATE FUNCTION modulo_gt(int, int) RETURNS bool
LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN $1 % 100 > $2 % 100; END';
CREATE OPERATOR <% (LEFTARG = int, RIGHTARG = int, FUNCTION = modulo_lt);
CREATE OPERATOR <=% (LEFTARG = int, RIGHTARG = int, FUNCTION = modulo_le);
CREATE OPERATOR =% (LEFTARG = int, RIGHTARG = int, FUNCTION = modulo_eq);
CREATE OPERATOR >=% (LEFTARG = int, RIGHTARG = int, FUNCTION = modulo_ge);
CREATE OPERATOR >% (LEFTARG = int, RIGHTARG = int, FUNCTION = modulo_gt);
CREATE OPERATOR CLASS modulo_ops FOR TYPE int USING rtscan AS
	OPERATOR 1 <%, OPERATOR 2 <=%, OPERATOR 3 =%, OPERATOR 4 >=%, OPERATOR 5 >%, FUNCTION 1 modulo_cmp(int, int);
SELECT opcname, amvalidate(c.oid) FROM pg_opclass c JOIN pg_am a ON opcmethod = a.oid
	WHERE amname = 'rtscan' AND opcname IN ('reverse_ops', 'modulo_ops') ORDER BY opcname;
CREATE TABLE own AS SELECT CASE WHEN i % 10 > 0 THEN hashint4(i) % 700 END AS v FROM generate_series(1, 500) i;
CREATE INDEX own_reverse ON own USING rtscan (v reverse_ops);
INSERT INTO own SELECT i FROM generate_series(-120, 120) i;
INSERT INTO own VALUES (-2147483648), (2147483647);
SELECT rtscan_check('own_reverse', true);
SELECT differences('own', 'own_reverse',
	array_agg(format('v %s %s', o, c)) || array_agg(format('v %s ANY (''{%s,NULL,5}'')', o, c)))
	FROM unnest('{<,<=,=,>=,>}'::text[]) o, unnest('{-2147483648,-699,-1,0,77,699,2147483647}'::text[]) c;
DROP INDEX own_reverse;
CREATE INDEX own_modulo ON own USING rtscan (v modulo_ops);
INSERT INTO own SELECT i FROM generate_series(-120, 120) i;
INSERT INTO own VALUES (-2147483648), (2147483647);
SELECT rtscan_check('own_modulo', true);
SELECT differences('own', 'own_modulo',
	array_agg(format('v %s%% %s', o, c)) || array_agg(format('v %s%% ANY (''{%s,NULL,5}'')', o, c)) || '{v IS NULL}')
	FROM unnest('{<,<=,=,>=,>}'::text[]) o, unnest('{-2147483648,-699,-1,0,77,699,2147483647}'::text[]) c;
DROP TABLE own;

-- faults of operator classes
CREATE OPERATOR CLASS no_function FOR TYPE int USING rtscan AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
CREATE OPERATOR CLASS no_operator FOR TYPE int USING rtscan AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, FUNCTION 1 btint4cmp(int, int);
CREATE OPERATOR CLASS wrong_function FOR TYPE int USING rtscan AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 int4eq(int, int),
	FUNCTION 2 (int, int) btint8cmp(int8, int8);
CREATE OPERATOR CLASS wrong_operator FOR TYPE int USING rtscan AS
	OPERATOR 1 < (int8, int8), OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(int, int);
CREATE OPERATOR CLASS no_boolean FOR TYPE int USING rtscan AS
	OPERATOR 1 +, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(int, int);
CREATE OPERATOR CLASS too_many FOR TYPE int USING rtscan AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, OPERATOR 6 <>,
	FUNCTION 1 btint4cmp(int, int);
CREATE OPERATOR CLASS too_many FOR TYPE int USING rtscan AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(int, int),
	FUNCTION 3 btint4cmp(int, int);
CREATE OPERATOR CLASS ordering FOR TYPE int USING rtscan AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 > FOR ORDER BY integer_ops,
	FUNCTION 1 btint4cmp(int, int);
CREATE OPERATOR CLASS no_cross FOR TYPE int USING rtscan AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(int, int);
ALTER OPERATOR FAMILY no_cross USING rtscan ADD OPERATOR 1 < (int, int8), OPERATOR 3 = (int, int8);
CREATE FUNCTION validate(class text) RETURNS bool LANGUAGE sql AS $$
	SELECT amvalidate(c.oid)
	FROM pg_opclass c JOIN pg_am a ON opcmethod = a.oid
	WHERE amname = 'rtscan' AND opcname = class
$$;
\set VERBOSITY terse
SELECT validate('no_function');
SELECT validate('no_operator');
SELECT validate('wrong_function');
SELECT validate('wrong_operator');
SELECT validate('no_cross');
\set VERBOSITY default
-- an index with one of them
CREATE TABLE own (v int);
INSERT INTO own VALUES (1), (2);
CREATE INDEX ON own USING rtscan (v no_function);
CREATE INDEX own_v ON own USING rtscan (v no_cross);
SELECT differences('own', 'own_v', '{v < 2, v = 2}');
-- the planner does not trip over the comparison that is missing where it takes another way
SET enable_bitmapscan = off;
SELECT v FROM own WHERE v < 2::int8;
RESET enable_bitmapscan;
DROP TABLE own;
-- types without an order have no operator class
CREATE TABLE own (j json, p point);
CREATE INDEX ON own USING rtscan (j);
CREATE INDEX ON own USING rtscan (p);
DROP TABLE own;

-- records and arrays of them can have an operator class and yet no order: that is an error when such a
-- row comes, not when vacuum makes a segment of it
CREATE TYPE unordered AS (a int, j json);
CREATE TABLE own (r unordered, a json[]);
CREATE INDEX own_r ON own USING rtscan (r);
INSERT INTO own VALUES (ROW(1, '{}'), NULL), (ROW(1, '{}'), NULL);
DROP INDEX own_r;
CREATE INDEX own_a ON own USING rtscan (a);
INSERT INTO own VALUES (NULL, '{1}'), (NULL, '{1}');
INSERT INTO own VALUES (NULL, NULL), (NULL, NULL);
VACUUM own;
SELECT rtscan_check('own_a', true);
DROP INDEX own_a;
INSERT INTO own VALUES (ROW(1, '{}'), '{1}'), (ROW(1, '[]'), '{2}');
CREATE INDEX ON own USING rtscan (r);
CREATE INDEX ON own USING rtscan (a);
DROP TABLE own;

SET client_min_messages = error;
DROP SCHEMA types CASCADE;
