\echo Use "ALTER EXTENSION rtscan UPDATE TO '1.1'" to load this file. \quit

-- A session that has loaded the library before the new one was installed has not what is new.
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

-- INCLUDE columns are new

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
	OUT cpu_segments bigint, OUT rays bigint)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'rtscan_stat_scans_1_1' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE VIEW pg_stat_rtscan AS SELECT * FROM rtscan_stat_scans();
COMMENT ON VIEW pg_stat_rtscan IS
	'scans of rtscan indexes by executor: since the server''s start if rtscan is preloaded, else of this session; times in milliseconds';
GRANT SELECT ON pg_stat_rtscan TO PUBLIC;
