// DuckDB, one thread, in memory. One request a line on stdin: {"prepare": SQL} -> {}, and then
// {"execute": true} -> {"milliseconds": time of the run, "value": first column of the first row}.
import { createInterface } from 'node:readline';
import { DuckDBInstance } from '@duckdb/node-api';

const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
const connection = await instance.connect();
let statement;

async function execute() {
  const start = performance.now();
  const reader = await statement.runAndReadAll();
  const milliseconds = performance.now() - start;
  return { milliseconds, value: String(reader.getRows()[0]?.[0]) };
}

async function answer(request) {
  if (request.execute) return execute();
  statement = await connection.prepare(request.prepare);
  return {};
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line))));
}
