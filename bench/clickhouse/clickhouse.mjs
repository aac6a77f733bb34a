// ClickHouse in this process. Requests and answers are those of duckdb.mjs: {"prepare": SQL, "threads": number} -> {}, and then
// {"execute": true} -> {"milliseconds": time of the run, "rows": values as JSON, "floats": []}.
import { createInterface } from 'node:readline';
import { Session } from 'chdb';

const session = new Session();
let statement;

function execute() {
  const start = performance.now();
  const lines = session.query(statement, 'JSONCompactEachRow');
  const milliseconds = performance.now() - start;
  return { milliseconds, rows: lines.split('\n').filter(Boolean).map((line) => JSON.parse(line)), floats: [] };
}

function answer(request) {
  if (request.execute) return execute();
  statement = `${request.prepare} SETTINGS max_threads = ${request.threads}`;
  return {};
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(answer(JSON.parse(line))));
}
