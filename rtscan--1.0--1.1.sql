\echo Use "ALTER EXTENSION rtscan UPDATE TO '1.1'" to load this file. \quit

-- Fail if this session has loaded the library before the new one was installed: it lacks new functions.
DO $$
BEGIN
	CREATE FUNCTION @extschema@.rtscan_version(
		OUT library text, OUT sql text, OUT oldest_format integer, OUT format integer)
		AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
EXCEPTION WHEN undefined_function THEN
	RAISE EXCEPTION USING
		ERRCODE = 'object_not_in_prerequisite_state',
		MESSAGE = 'the library of rtscan in use is older than version 1.1',
		HINT = 'Restart the server or, if rtscan is not preloaded, reconnect.';
END
$$;
COMMENT ON FUNCTION rtscan_version() IS
	'versions of the library and of the SQL in this database; the oldest format of an index that the library reads, and the one that it writes';

CREATE FUNCTION rtscan_format(index regclass) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION rtscan_format(regclass) IS
	'the format in which an rtscan index is stored, also if this library does not read it';

-- Functions that know INCLUDE columns, which are new

DROP FUNCTION rtscan_estimate(regclass, text[], integer, integer);
CREATE FUNCTION rtscan_estimate(
	"table" regclass, columns text[], sieve_bins integer DEFAULT 256, sieve_components integer DEFAULT 2,
	include text[] DEFAULT '{}',
	OUT rows bigint, OUT segments bigint, OUT index_bytes bigint, OUT build_memory_bytes bigint)
	AS 'MODULE_PATHNAME' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION rtscan_estimate(regclass, text[], integer, integer, text[]) IS
	'size of an rtscan index on columns of an analyzed table, and the memory that its build takes with this session''s maintenance_work_mem';

COMMENT ON FUNCTION rtscan_device() IS
	'the devices that scans of rtscan indexes use, in the order of rtscan.device, their memory in bytes, the columns and BVHs of segments on them, and counters since their programs started, build_time in milliseconds; no row for a device that is not there';

-- Statistics: cpu_segments and rays are new

DROP VIEW pg_stat_rtscan;
DROP FUNCTION rtscan_stat_scans();
CREATE FUNCTION rtscan_stat_scans(
	OUT executor text, OUT scans bigint, OUT segments bigint,
	OUT chunks_read bigint, OUT chunks_skipped bigint, OUT refined_rows bigint,
	OUT pending_rows bigint, OUT pages_read bigint, OUT rows bigint, OUT fallbacks bigint,
	OUT bits_time double precision, OUT tids_time double precision, OUT device_time double precision,
	OUT cpu_segments bigint, OUT rays bigint, OUT heap_pages_looked_into bigint, OUT heap_pages_remembered bigint)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'rtscan_stat_scans_1_1' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE VIEW pg_stat_rtscan AS SELECT * FROM rtscan_stat_scans();
COMMENT ON VIEW pg_stat_rtscan IS
	'scans of rtscan indexes by executor: since the server''s start if rtscan is preloaded, else of this session; times in milliseconds';
GRANT SELECT ON pg_stat_rtscan TO PUBLIC;

-- Create operator classes for btree operator classes that were added later, by other extensions or by a newer PostgreSQL.
-- They have the same names and schemas. Those for PostgreSQL's own classes are in this extension's schema and become members
-- of the extension, as if it had been created now.

CREATE FUNCTION rtscan_mirror_classes(extension text DEFAULT NULL) RETURNS SETOF text
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	rtscan CONSTANT oid := (SELECT a.oid FROM pg_am a WHERE a.amname = 'rtscan');
	btree CONSTANT oid := (SELECT a.oid FROM pg_am a WHERE a.amname = 'btree');
	own_schema CONSTANT oid := (SELECT e.extnamespace FROM pg_extension e WHERE e.extname = 'rtscan');
	chosen CONSTANT name := extension;
	own_oids CONSTANT oid := 16384;  -- objects of PostgreSQL itself, created by initdb, have smaller OIDs
	family record;
	class record;
	mirror record;
	members text;
BEGIN
	IF NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) THEN
		RAISE insufficient_privilege USING MESSAGE = 'must be superuser to create operator classes';
	END IF;
	IF chosen <> 'pg_catalog' AND NOT EXISTS (SELECT FROM pg_extension e WHERE e.extname = chosen) THEN
		RAISE undefined_object USING MESSAGE = format('extension "%s" does not exist', extension);
	END IF;
	-- keep two sessions from creating the same classes
	LOCK TABLE pg_opfamily IN SHARE ROW EXCLUSIVE MODE;

	FOR family IN
		SELECT f.oid, f.opfname, n.nspname, array_agg(c.oid) AS classes
		FROM pg_opfamily f
		JOIN pg_namespace n ON n.oid = CASE WHEN f.oid < own_oids THEN own_schema ELSE f.opfnamespace END
		JOIN pg_opclass c ON c.opcfamily = f.oid
		LEFT JOIN pg_depend d ON d.classid = 'pg_opclass'::regclass AND d.objid = c.oid AND d.deptype = 'e'
		LEFT JOIN pg_extension e ON e.oid = d.refobjid
		CROSS JOIN LATERAL (SELECT CASE WHEN c.oid < own_oids THEN 'pg_catalog' ELSE e.extname END) o (origin)
		WHERE f.opfmethod = btree AND o.origin = COALESCE(chosen, o.origin)
		GROUP BY f.oid, n.nspname
		ORDER BY f.opfname, f.oid
	LOOP
		-- find rtscan's family with the same comparison functions, or an empty one with the same name, else create one
		FOR i IN 1..2 LOOP
			SELECT f.oid, format('%I.%I', n.nspname, f.opfname) AS name INTO mirror
			FROM pg_opfamily f JOIN pg_namespace n ON n.oid = f.opfnamespace
			WHERE f.opfmethod = rtscan
				AND (EXISTS (SELECT
							 FROM pg_amproc p JOIN pg_amproc q USING (amproclefttype, amprocrighttype, amprocnum, amproc)
							 WHERE p.amprocfamily = family.oid AND p.amprocnum = 1 AND q.amprocfamily = f.oid)
					 OR f.opfname = family.opfname AND n.nspname = family.nspname
						AND NOT EXISTS (SELECT FROM pg_amproc q WHERE q.amprocfamily = f.oid))
			ORDER BY f.opfname <> family.opfname, f.oid
			LIMIT 1;
			EXIT WHEN FOUND;
			EXECUTE format('CREATE OPERATOR FAMILY %I.%I USING rtscan', family.nspname, family.opfname);
		END LOOP;

		FOR class IN
			SELECT format('%I.%I', n.nspname, c.opcname) AS name, c.opcintype AS type,
				c.opcdefault AND NOT EXISTS (SELECT FROM pg_opclass m WHERE m.opcmethod = rtscan
											 AND m.opcintype = c.opcintype AND m.opcdefault) AS is_default
			FROM pg_opclass c
			JOIN pg_namespace n ON n.oid = CASE WHEN c.oid < own_oids THEN own_schema ELSE c.opcnamespace END
			WHERE c.oid = ANY (family.classes)
				AND NOT EXISTS (SELECT FROM pg_opclass m WHERE m.opcfamily = mirror.oid
								AND m.opcname = c.opcname AND m.opcintype = c.opcintype)
			ORDER BY c.opcdefault DESC, c.opcname
		LOOP
			SELECT string_agg(member, ', ' ORDER BY member) INTO members
			FROM (SELECT format('OPERATOR %s %s', o.amopstrategy, o.amopopr::regoperator)
				  FROM pg_amop o
				  WHERE o.amopfamily = family.oid AND o.amoplefttype = class.type AND o.amoprighttype = class.type
				  UNION ALL
				  SELECT format('FUNCTION %s %s', p.amprocnum, p.amproc::oid::regprocedure)
				  FROM pg_amproc p
				  WHERE p.amprocfamily = family.oid AND p.amprocnum IN (1, 2)
						AND p.amproclefttype = class.type AND p.amprocrighttype = class.type) m (member)
			-- no members if the family has a class for this type: this class is then another name for it
			WHERE NOT EXISTS (SELECT FROM pg_amproc q WHERE q.amprocfamily = mirror.oid
							  AND q.amproclefttype = class.type AND q.amprocrighttype = class.type);
			EXECUTE format('CREATE OPERATOR CLASS %s %s FOR TYPE %s USING rtscan FAMILY %s AS %s',
						   class.name, CASE WHEN class.is_default THEN 'DEFAULT' END, format_type(class.type, NULL),
						   mirror.name, COALESCE(members, format('STORAGE %s', format_type(class.type, NULL))));
			RETURN NEXT class.name;
		END LOOP;

		SELECT string_agg(member, ', ' ORDER BY member) INTO members
		FROM (SELECT format('OPERATOR %s %s', o.amopstrategy, o.amopopr::regoperator)
			  FROM pg_amop o
			  WHERE o.amopfamily = family.oid AND o.amoplefttype <> o.amoprighttype
				AND NOT EXISTS (SELECT FROM pg_amop m WHERE m.amopfamily = mirror.oid AND m.amopstrategy = o.amopstrategy
								AND m.amoplefttype = o.amoplefttype AND m.amoprighttype = o.amoprighttype)
			  UNION ALL
			  SELECT format('FUNCTION 1 (%s, %s) %s', format_type(p.amproclefttype, NULL),
							format_type(p.amprocrighttype, NULL), p.amproc::oid::regprocedure)
			  FROM pg_amproc p
			  WHERE p.amprocfamily = family.oid AND p.amprocnum = 1 AND p.amproclefttype <> p.amprocrighttype
				AND NOT EXISTS (SELECT FROM pg_amproc m WHERE m.amprocfamily = mirror.oid AND m.amprocnum = 1
								AND m.amproclefttype = p.amproclefttype
								AND m.amprocrighttype = p.amprocrighttype)) m (member);
		IF members IS NOT NULL THEN
			EXECUTE format('ALTER OPERATOR FAMILY %s USING rtscan ADD %s', mirror.name, members);
		END IF;
	END LOOP;

	-- A dump does not contain members of an extension: CREATE EXTENSION creates them in each version of PostgreSQL with
	-- their types. So classes for PostgreSQL's own ones become members.
	FOR mirror IN
		SELECT format('%s %s.%I', m.kind, own_schema::regnamespace, m.name) AS object
		FROM (SELECT 'OPERATOR CLASS', 'pg_opclass'::regclass, m.oid, m.opcname
			  FROM pg_opclass m JOIN pg_opclass c USING (opcname, opcintype)
			  WHERE m.opcmethod = rtscan AND m.opcnamespace = own_schema AND c.opcmethod = btree AND c.oid < own_oids
			  UNION ALL
			  SELECT 'OPERATOR FAMILY', 'pg_opfamily'::regclass, m.oid, m.opfname
			  FROM pg_opfamily m JOIN pg_opfamily f USING (opfname)
			  WHERE m.opfmethod = rtscan AND m.opfnamespace = own_schema AND f.opfmethod = btree AND f.oid < own_oids
			 ) m (kind, catalog, oid, name)
		WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = m.catalog AND d.objid = m.oid AND d.deptype = 'e')
	LOOP
		EXECUTE format('ALTER EXTENSION rtscan ADD %s USING rtscan', mirror.object);
	END LOOP;
END
$$;
REVOKE ALL ON FUNCTION rtscan_mirror_classes(text) FROM PUBLIC;
COMMENT ON FUNCTION rtscan_mirror_classes(text) IS
	'create operator classes for those of btree that are missing: of an extension, of PostgreSQL itself (pg_catalog), or of all; their names';

CREATE FUNCTION rtscan_explain_choice(queries text,
	OUT query integer, OUT relation regclass, OUT index regclass, OUT node text, OUT taken boolean, OUT cost double precision,
	OUT plan_cost double precision, OUT reason text)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'rtscan_explain_choice_of' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION rtscan_explain_choice(text) IS
	'what rtscan indexes offer for queries, whether their plans take it, and why an index offers nothing';

CREATE FUNCTION rtscan_advise(queries text[] DEFAULT NULL,
	OUT relation regclass, OUT definition text, OUT index_bytes bigint, OUT build_seconds double precision,
	OUT unneeded regclass[], OUT query text, OUT calls bigint, OUT cost double precision,
	OUT cost_with_index double precision, OUT problem text)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION rtscan_advise(text[]) IS
	'which rtscan indexes would make queries cheaper: those passed, or those of pg_stat_statements';

-- PostgreSQL may have been upgraded since the extension was created
SELECT @extschema@.rtscan_mirror_classes('pg_catalog'::pg_catalog.text);

-- rtscan_check() reads the whole table, and runs functions that indexes use as the table's owner. As with amcheck, the
-- administrator decides who may call it.
REVOKE ALL ON FUNCTION rtscan_check(regclass, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rtscan_check(regclass, boolean) TO pg_stat_scan_tables;
