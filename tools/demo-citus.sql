-- Included by demo-cluster.sql: flights are in shards on the workers, by Citus.

\connect - - :worker_1
CREATE EXTENSION citus;
\connect - - :worker_2
CREATE EXTENSION citus;
\connect - - :coordinator
SET client_min_messages = warning;
SET citus.local_hostname = :'coordinator';

\o /dev/null
CREATE EXTENSION citus;
SELECT citus_set_coordinator_host(:'coordinator', 5432);
SELECT citus_add_node(:'worker_1', 5432), citus_add_node(:'worker_2', 5432);
CREATE EXTENSION rtscan;
CREATE TABLE flights (LIKE here);
SELECT create_distributed_table('flights', 'origin', shard_count => 4);
INSERT INTO flights SELECT * FROM here;
\o
VACUUM ANALYZE here, flights;

INSERT INTO ways (name, source) VALUES ('one table, on the coordinator', 'here'), ('four shards', 'flights');

CREATE PROCEDURE build() LANGUAGE plpgsql AS $$
BEGIN
  CREATE INDEX ON here USING rtscan (distance, delay, minute, date) INCLUDE (origin);
  CREATE INDEX ON flights USING rtscan (distance, delay, minute, date) INCLUDE (origin);
END $$;

CREATE FUNCTION readers_of_workers(plan jsonb) RETURNS text LANGUAGE sql AS $$ SELECT readers(plan) $$;

CREATE FUNCTION rows_of_workers(plan jsonb) RETURNS bigint LANGUAGE sql AS $$
  SELECT sum((node->>'Actual Rows')::numeric)
  FROM jsonb_path_query(plan, 'strict $.**?(@."Custom Plan Provider" == "Citus Adaptive")') AS node
$$;
