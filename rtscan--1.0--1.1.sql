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
