// DuckDB in memory. One request a line on stdin: {"prepare": SQL, "threads": number} -> {}, and then
// {"execute": true} -> {"milliseconds": time of the run, "rows": values as JSON, "floats": numbers of the columns of floats}.
import { createInterface } from 'node:readline';
import { DuckDBInstance, DuckDBTypeId } from '@duckdb/node-api';

const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const FLOATS = [DuckDBTypeId.FLOAT, DuckDBTypeId.DOUBLE];
let statement;

async function execute() {
  const start = performance.now();
  const reader = await statement.runAndReadAll();
  const milliseconds = performance.now() - start;
  const floats = reader.columnTypes().flatMap(({ typeId }, column) => FLOATS.includes(typeId) ? [column] : []);
  return { milliseconds, rows: reader.getRowsJson(), floats };
}

async function answer(request) {
  if (request.execute) return execute();
  await connection.run(`SET threads = ${request.threads}`);
  statement = await connection.prepare(request.prepare);
  return {};
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line))));
}
