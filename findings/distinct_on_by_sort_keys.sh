#!/usr/bin/env bash
# DuckDB finds the first row of each group several times faster by row_number() than by DISTINCT ON, which says the same.
#
# Seen with DuckDB 1.5.6 (npm @duckdb/node-api 1.5.6-r.1), one thread, 4 M rows of 4,000 groups of an int, the last row of each by a
# bigint: "SELECT DISTINCT ON (host) ... ORDER BY host, ts DESC" takes 273 ms, the same by "row_number() ... = 1" 54 ms; the answers are
# equal. For DISTINCT ON, the plan makes a sort key (a blob) of ts for each row, and keeps the least for each returned column by itself,
# in a general hash table. For row_number(), it keeps the rowid of the last ts of each host, in an array by host, and reads the other
# columns only of these rows. With 20 M rows the ratio was 21. So a benchmark of one of the two forms tells little about the other.
#
# The script installs the pinned package into a temporary folder. It exits with 1 if this has changed.
set -euo pipefail

work=$(mktemp -d /tmp/distinct_on.XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 >/dev/null

cat >ask.mjs <<'JS'
import { DuckDBInstance } from '@duckdb/node-api';

const connection = await (await DuckDBInstance.create(':memory:')).connect();
const rows = async (query) => (await connection.runAndReadAll(query)).getRowsJson();
const forms = {
  'DISTINCT ON': 'SELECT DISTINCT ON (host) host, ts, cpu FROM r ORDER BY host, ts DESC',
  'row_number()': `SELECT host, ts, cpu FROM (SELECT *, row_number() OVER (PARTITION BY host ORDER BY ts DESC) AS n FROM r)
    WHERE n = 1 ORDER BY host`,
};
const seen = [];

await connection.run('SET threads = 1');
await connection.run('CREATE TABLE r AS SELECT (i % 4000)::int AS host, i AS ts, (i * 7919 % 10007)::float AS cpu FROM range(4000000) t(i)');
console.log(`DuckDB ${await rows('SELECT version()')}`);
for (const [name, query] of Object.entries(forms)) {
  const plan = (await rows(`EXPLAIN (FORMAT json) ${query}`))[0][1];
  let answer, least = Infinity;

  for (let i = 0; i < 3; i++) {
    const start = performance.now();

    answer = JSON.stringify(await rows(query));
    least = Math.min(least, performance.now() - start);
  }
  seen.push({ answer, least, sortKeys: plan.includes('create_sort_key'), byRowid: plan.includes('SEMI') });
  console.log(`${name}: ${least.toFixed(0)} ms, sort keys: ${seen.at(-1).sortKeys}, semi-join by rowid: ${seen.at(-1).byRowid}`);
}
const [on, number] = seen;
const asDescribed = on.answer === number.answer && on.sortKeys && !on.byRowid && !number.sortKeys && number.byRowid && on.least > 2 * number.least;
console.log(asDescribed ? 'as described' : 'changed');
process.exit(asDescribed ? 0 : 1);
JS
node ask.mjs
