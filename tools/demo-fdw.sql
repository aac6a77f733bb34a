-- Included by demo-cluster.sql: flights are partitions on the workers, by postgres_fdw.

CREATE EXTENSION rtscan;
CREATE EXTENSION postgres_fdw;
CREATE EXTENSION dblink;

CREATE SERVER worker_1 FOREIGN DATA WRAPPER postgres_fdw
  OPTIONS (host :'worker_1', dbname 'postgres', async_capable 'true', fetch_size '10000', batch_size '10000');
CREATE SERVER worker_2 FOREIGN DATA WRAPPER postgres_fdw
  OPTIONS (host :'worker_2', dbname 'postgres', async_capable 'true', fetch_size '10000', batch_size '10000');
CREATE USER MAPPING FOR PUBLIC SERVER worker_1;
CREATE USER MAPPING FOR PUBLIC SERVER worker_2;

-- Executes a statement on each worker.
CREATE PROCEDURE on_workers(statement text) LANGUAGE sql AS $$
  SELECT dblink_exec(srvname, statement) FROM pg_foreign_server
$$;

CALL on_workers('CREATE EXTENSION rtscan');
CALL on_workers('
  CREATE TABLE flights (date timestamp, delay int, distance int, minute int, origin text, destination text)');
CREATE TABLE flights (LIKE here) PARTITION BY HASH (origin);
CREATE FOREIGN TABLE flights_1 PARTITION OF flights FOR VALUES WITH (MODULUS 2, REMAINDER 0)
  SERVER worker_1 OPTIONS (table_name 'flights');
CREATE FOREIGN TABLE flights_2 PARTITION OF flights FOR VALUES WITH (MODULUS 2, REMAINDER 1)
  SERVER worker_2 OPTIONS (table_name 'flights');
INSERT INTO flights SELECT * FROM here;
CALL on_workers('VACUUM ANALYZE flights');
VACUUM ANALYZE here;
ANALYZE flights;

INSERT INTO ways (name, source, partitionwise, in_parts) VALUES
  ('one table, on the coordinator', 'here', false, false),
  ('two foreign partitions', 'flights', false, false),
  ('the same, enable_partitionwise_aggregate', 'flights', true, false),
  ('UNION ALL of both', NULL, false, true);

CREATE PROCEDURE build() LANGUAGE plpgsql AS $$
BEGIN
  CREATE INDEX ON here USING rtscan (distance, delay, minute, date) INCLUDE (origin);
  CALL on_workers('CREATE INDEX ON flights USING rtscan (distance, delay, minute, date) INCLUDE (origin)');
END $$;

-- What the workers read, when they are sent what the plan sends to them; they have the same tables.
CREATE FUNCTION readers_of_workers(plan jsonb) RETURNS text LANGUAGE sql AS $$
  SELECT coalesce(
    (SELECT readers(remote)
     FROM jsonb_path_query(plan, 'strict $.**."Remote SQL"') sql,
          dblink('worker_1', 'EXPLAIN (FORMAT json) ' || (sql#>>'{}')) AS explained (remote jsonb)
     LIMIT 1),
    readers(plan))
$$;

CREATE FUNCTION rows_of_workers(plan jsonb) RETURNS bigint LANGUAGE sql AS $$
  SELECT sum((node->>'Actual Rows')::numeric) FROM jsonb_path_query(plan, 'strict $.**?(exists(@."Remote SQL"))') AS node
$$;
