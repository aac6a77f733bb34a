\echo Use "CREATE EXTENSION rtscan" to load this file. \quit

CREATE FUNCTION rtscan_handler(internal) RETURNS index_am_handler
	AS 'MODULE_PATHNAME' LANGUAGE C;

CREATE ACCESS METHOD rtscan TYPE INDEX HANDLER rtscan_handler;
COMMENT ON ACCESS METHOD rtscan IS 'scan index for range predicates over several columns';

-- Create an operator class for each btree operator class of PostgreSQL itself, with the same
-- name, and as default if that is one: the same operators, comparison function (1) and sort
-- support (2), and the cross-type members of the same families.
DO $$
DECLARE
	family record;
	class record;
	members text;
BEGIN
	FOR family IN
		SELECT f.oid, f.opfname
		FROM pg_catalog.pg_opfamily f JOIN pg_catalog.pg_am a ON a.oid = f.opfmethod
		WHERE a.amname = 'btree' AND f.opfnamespace = 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid
		ORDER BY f.opfname
	LOOP
		EXECUTE pg_catalog.format('CREATE OPERATOR FAMILY @extschema@.%I USING rtscan', family.opfname);

		FOR class IN
			SELECT c.opcname, c.opcdefault, c.opcintype,
				   pg_catalog.row_number() OVER (PARTITION BY c.opcintype ORDER BY c.opcdefault DESC, c.opcname) = 1 AS owns_members
			FROM pg_catalog.pg_opclass c
			WHERE c.opcfamily = family.oid AND c.opcnamespace = 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid
			ORDER BY c.opcname
		LOOP
			SELECT pg_catalog.string_agg(member, ', ' ORDER BY member) INTO members
			FROM (SELECT pg_catalog.format('OPERATOR %s %s', o.amopstrategy, o.amopopr::pg_catalog.regoperator)
				  FROM pg_catalog.pg_amop o
				  WHERE o.amopfamily = family.oid
						AND o.amoplefttype = class.opcintype AND o.amoprighttype = class.opcintype
				  UNION ALL
				  SELECT pg_catalog.format('FUNCTION %s %s', p.amprocnum, p.amproc::pg_catalog.oid::pg_catalog.regprocedure)
				  FROM pg_catalog.pg_amproc p
				  WHERE p.amprocfamily = family.oid AND p.amprocnum IN (1, 2)
						AND p.amproclefttype = class.opcintype AND p.amprocrighttype = class.opcintype) m (member)
			WHERE class.owns_members;
			EXECUTE pg_catalog.format(
				'CREATE OPERATOR CLASS @extschema@.%I %s FOR TYPE %s USING rtscan FAMILY @extschema@.%I AS %s',
				class.opcname, CASE WHEN class.opcdefault THEN 'DEFAULT' END,
				pg_catalog.format_type(class.opcintype, NULL), family.opfname,
				-- cidr_ops is another name of inet_ops: the same family, the same type
				COALESCE(members, pg_catalog.format('STORAGE %s', pg_catalog.format_type(class.opcintype, NULL))));
		END LOOP;

		SELECT pg_catalog.string_agg(member, ', ' ORDER BY member) INTO members
		FROM (SELECT pg_catalog.format('OPERATOR %s %s', o.amopstrategy, o.amopopr::pg_catalog.regoperator)
			  FROM pg_catalog.pg_amop o
			  WHERE o.amopfamily = family.oid AND o.amoplefttype <> o.amoprighttype
			  UNION ALL
			  SELECT pg_catalog.format('FUNCTION 1 (%s, %s) %s',
									   pg_catalog.format_type(p.amproclefttype, NULL),
									   pg_catalog.format_type(p.amprocrighttype, NULL),
									   p.amproc::pg_catalog.oid::pg_catalog.regprocedure)
			  FROM pg_catalog.pg_amproc p
			  WHERE p.amprocfamily = family.oid AND p.amprocnum = 1
					AND p.amproclefttype <> p.amprocrighttype) m (member);
		IF members IS NOT NULL THEN
			EXECUTE pg_catalog.format('ALTER OPERATOR FAMILY @extschema@.%I USING rtscan ADD %s',
									  family.opfname, members);
		END IF;
	END LOOP;
END
$$;

-- Content of an index

CREATE FUNCTION rtscan_stats(
	index regclass,
	OUT segments bigint, OUT rows bigint, OUT dead bigint, OUT pending bigint, OUT vectors bigint,
	OUT tidmap_bytes bigint, OUT dictionary_bytes bigint, OUT sieve_bytes bigint,
	OUT order_bytes bigint, OUT codes_bytes bigint, OUT include_bytes bigint,
	OUT shared_bytes bigint, OUT descriptor_bytes bigint, OUT dead_bytes bigint,
	OUT pending_bytes bigint, OUT other_bytes bigint, OUT total_bytes bigint)
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION rtscan_stats(regclass) IS
	'segments, rows, dead and pending rows, sieve vectors, and the bytes of each part of an rtscan index';

CREATE FUNCTION rtscan_estimate(
	"table" regclass, columns text[], sieve_bins integer DEFAULT 256, sieve_components integer DEFAULT 2,
	OUT rows bigint, OUT segments bigint, OUT index_bytes bigint, OUT build_memory_bytes bigint)
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION rtscan_estimate(regclass, text[], integer, integer) IS
	'size of an rtscan index on columns of an analyzed table, and the memory that its build takes with this session''s maintenance_work_mem';

CREATE FUNCTION rtscan_check(index regclass, heapallindexed boolean DEFAULT false) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION rtscan_check(regclass, boolean) IS
	'prove the structure of an rtscan index, and if asked that it has every row of its table; an error at the first fault';

-- Maintenance

CREATE FUNCTION rtscan_merge(index regclass) RETURNS bigint
	AS 'MODULE_PATHNAME', 'rtscan_merge_index' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION rtscan_merge(regclass) IS
	'make the pending rows of an rtscan index into a segment, merge segments, and free their pages, as VACUUM does; the number of segments that are left';

-- Statistics

CREATE FUNCTION rtscan_benchmark(query text, repetitions integer DEFAULT 20, counts boolean DEFAULT false,
	OUT index text, OUT rows bigint, OUT executor text, OUT bits_time double precision, OUT device_time double precision)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
-- the function counts rows that the caller may not be allowed to see
REVOKE ALL ON FUNCTION rtscan_benchmark(text, integer, boolean) FROM PUBLIC;
COMMENT ON FUNCTION rtscan_benchmark(text, integer, boolean) IS
	'run the scans of rtscan indexes in the plan of a query, up to row bits or counts: the rows that they find (not all may be visible), and the medians of the times, of all and of the device, in milliseconds';

CREATE FUNCTION rtscan_stat_scans(
	OUT executor text, OUT scans bigint, OUT segments bigint,
	OUT chunks_read bigint, OUT chunks_skipped bigint, OUT refined_rows bigint,
	OUT pending_rows bigint, OUT pages_read bigint, OUT rows bigint, OUT fallbacks bigint,
	OUT bits_time double precision, OUT tids_time double precision, OUT device_time double precision)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE VIEW pg_stat_rtscan AS SELECT * FROM rtscan_stat_scans();
COMMENT ON VIEW pg_stat_rtscan IS
	'scans of rtscan indexes by executor: since the server''s start if rtscan is preloaded, else of this session; times in milliseconds';
GRANT SELECT ON pg_stat_rtscan TO PUBLIC;

CREATE FUNCTION rtscan_device(
	OUT name text, OUT software boolean, OUT ray_tracing boolean,
	OUT memory_limit bigint, OUT memory_used bigint, OUT columns bigint, OUT bvhs bigint,
	OUT requests bigint, OUT submissions bigint, OUT uploads bigint, OUT builds bigint, OUT sorts bigint,
	OUT sieves bigint, OUT evictions bigint, OUT failures bigint, OUT build_time double precision)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'rtscan_device_status' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION rtscan_device() IS
	'the device that scans of rtscan indexes use, its memory in bytes, the columns and BVHs of segments on it, and counters since its program started, build_time in milliseconds; no row without a device';

CREATE FUNCTION rtscan_prewarm(index regclass, columns text[] DEFAULT NULL) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION rtscan_prewarm(regclass, text[]) IS
	'put on the device what scans of these key columns, or of all, need: columns and, unless rtscan.executor is compute, BVHs; the number of segments';

CREATE FUNCTION rtscan_stat_reset() RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
REVOKE ALL ON FUNCTION rtscan_stat_reset() FROM PUBLIC;
COMMENT ON FUNCTION rtscan_stat_reset() IS 'set the counters of pg_stat_rtscan to zero';
