// Runs the page's statements in PostgreSQL. libpq's environment variables name the server; PORT is the page's port.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import express from 'express';
import pg from 'pg';

const bins = {
  delay: 'width_bucket(delay, -60, 180, 24)',
  distance: 'least(distance / 100, 29)',
  minute: 'minute / 60',
  day: 'day',
};
const columns = Object.keys(bins);

// A view's statement, for the conditions of its WHERE.
const histogram = column => where => `SELECT ${bins[column]} AS bin, count(*)::int FROM flights ${where} GROUP BY bin`;
const statements = {
  ...Object.fromEntries(columns.map(column => [column, histogram(column)])),
  count: where => `SELECT count(*)::int, (SELECT count(*)::int FROM flights) FROM flights ${where}`,
  list: where => `SELECT delay, distance, minute, day, origin, destination FROM flights ${where} ORDER BY delay DESC LIMIT 8`,
};

// Copies the flights of an hour, half a year later.
const insertion = `
  INSERT INTO flights (date, delay, distance, minute, origin, destination)
  SELECT date + interval '181 days', delay, distance, minute, origin, destination FROM flights
  WHERE day = $1::int / 24 AND minute BETWEEN $1::int % 24 * 60 AND $1::int % 24 * 60 + 59`;

// The sessions stay, and with them the statements that they have prepared. Statements run beside each other, so none has workers.
function connect(...off) {
  const settings = ['max_parallel_workers_per_gather=0', ...off.map(name => `${name}=off`)];
  const pool = new pg.Pool({ max: 8, idleTimeoutMillis: 0, options: settings.map(setting => `-c ${setting}`).join(' ') });
  pool.on('error', error => console.error(error.message));
  return pool;
}

// The switch of the page chooses between these: PostgreSQL with the index, and the sequential scans that it would run otherwise.
const indexed = connect();
const plain = connect('rtscan.enable_aggregate', 'rtscan.enable_scan', 'enable_bitmapscan');

function run(pool, text, values) {
  const name = createHash('sha1').update(text).digest('hex');
  return pool.query({ name, text, values, rowMode: 'array' });
}

// The brushes as conditions, with their values: a brush is [from, to), null where it is open. A histogram ignores its own brush.
function filter(brushes, view) {
  const conditions = [];
  const values = [];
  const add = (condition, value) => value === null || conditions.push(`${condition} $${values.push(value)}`);
  for (const column of columns.filter(column => column !== view && brushes[column])) {
    const [from, to] = brushes[column];
    add(`${column} >=`, from);
    add(`${column} <`, to);
  }
  return { where: conditions.length ? `WHERE ${conditions.join(' AND ')}` : '', values };
}

// The page shows a statement with its values in place of $1, $2, ...
const filled = (text, values) => text.replace(/\$(\d+)/g, (_, n) => values[n - 1]);

async function answer(view, brushes, pool) {
  const { where, values } = filter(brushes, view);
  const text = statements[view](where);
  const start = performance.now();
  const { rows } = await run(pool, text, values);
  return { rows, milliseconds: performance.now() - start, statement: filled(text, values) };
}

const app = express();
app.use(express.static(fileURLToPath(new URL('page', import.meta.url))));
app.use('/d3', express.static(fileURLToPath(new URL('node_modules/d3/dist', import.meta.url))));

// {views: [name, ...], brushes: {column: [from, to], ...}, without: true or false} -> {name: {rows, milliseconds, statement}, ...}
app.post('/answers', express.json(), async (request, response) => {
  const { views, brushes, without } = request.body;
  const pool = without ? plain : indexed;
  const known = views.filter(view => Object.hasOwn(statements, view));
  response.json(Object.fromEntries(await Promise.all(known.map(async view => [view, await answer(view, brushes, pool)]))));
});

// While a page keeps this open, a session inserts flights, an hour's at a time.
let hour = 0;
app.get('/insertions', async (request, response) => {
  response.type('text/event-stream').flushHeaders();
  while (!response.destroyed) {
    await run(indexed, insertion, [hour++]);
    await sleep(50);
  }
});

const server = app.listen(Number(process.env.PORT ?? 0), '127.0.0.1', error => {
  if (error) throw error;
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
