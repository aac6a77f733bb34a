// Linked histograms: a brush filters all others. PostgreSQL runs a statement for each of them.

const departure = (day, minute) => new Date(Date.UTC(2001, 0, 1 + day, 0, minute));
const hour = minute => d3.utcFormat('%H:%M')(departure(0, minute));
const date = day => d3.utcFormat('%-d %b')(departure(day, 0));
const number = d3.format(',');

// Bars begin at `first`, one each `step`; `format` writes where one begins.
const histograms = [
  { name: 'delay', title: 'Delay, minutes', first: -70, step: 10, bars: 26, format: d3.format('d') },
  { name: 'distance', title: 'Distance, miles', first: 0, step: 100, bars: 30, format: d3.format('d') },
  { name: 'minute', title: 'Time of departure', first: 0, step: 60, bars: 24, ticks: d3.range(0, 1441, 180), format: hour },
  { name: 'day', title: 'Day', first: 0, step: 1, bars: 182, format: date },
];
const views = ['count', ...histograms.map(histogram => histogram.name), 'list'];
const WIDTH = 480;
const HEIGHT = 130;
const AXIS = 20;

// ---------------------------------------------------------------- histograms

const end = histogram => histogram.first + histogram.step * histogram.bars;

function prepare(histogram) {
  const figure = d3.select('main').append('figure').attr('id', histogram.name);
  const caption = figure.append('figcaption');
  caption.append('b').text(histogram.title);
  histogram.range = caption.append('output').attr('class', 'brushed');
  histogram.readout = caption.append('output').attr('class', 'pointed');
  histogram.time = caption.append('output').attr('class', 'time');
  const svg = figure.append('svg').attr('viewBox', [0, 0, WIDTH, HEIGHT + AXIS]);
  histogram.bar = svg.append('g').attr('class', 'bars');
  histogram.axis = svg.append('g').attr('transform', `translate(0, ${HEIGHT})`);
  histogram.x = d3.scaleLinear([0, WIDTH]);
  histogram.behaviour = d3.brushX().extent([[0, 0], [WIDTH, HEIGHT]]).on('brush end', event => moved(histogram, event));
  histogram.brush = svg.append('g').call(histogram.behaviour);
  svg.on('pointermove', event => point(histogram, d3.pointer(event, svg.node())[0])).on('pointerleave', () => point(histogram));
  extend(histogram, histogram.bars);
}

const label = ({ format, first, step }, bin, count) => `${format(first + bin * step)}: ${number(count)}`;

// The bar at this place counts so many flights. The brush covers the bars, so they cannot show it by themselves.
function point(histogram, at) {
  histogram.pointed = at;
  const bin = Math.floor((at ?? NaN) / WIDTH * histogram.bars);
  const inside = bin >= 0 && bin < histogram.bars;
  histogram.readout.text(inside ? `${label(histogram, bin, histogram.counts?.get(bin) ?? 0)} flights` : '');
}

// As many bars as are wanted.
function extend(histogram, bars) {
  histogram.bars = bars;
  histogram.x.domain([histogram.first, end(histogram)]);
  histogram.axis.call(d3.axisBottom(histogram.x).tickValues(histogram.ticks).ticks(8).tickFormat(histogram.format));
  if (histogram.selection) histogram.brush.call(histogram.behaviour.move, histogram.selection.map(histogram.x));
}

function draw(histogram, rows, milliseconds) {
  const last = d3.max(rows, ([bin]) => bin);
  if (last >= histogram.bars) extend(histogram, last + 1);
  const y = d3.scaleLinear([0, d3.max(rows, ([, count]) => count) ?? 0], [0, HEIGHT]);
  const width = WIDTH / histogram.bars;
  histogram.bar.selectAll('rect').data(rows, ([bin]) => bin)
    .join(enter => enter.append('rect').call(rect => rect.append('title')))
    .attr('x', ([bin]) => bin * width)
    .attr('width', width * 0.9)
    .attr('y', ([, count]) => HEIGHT - y(count))
    .attr('height', ([, count]) => y(count))
    .select('title').text(([bin, count]) => label(histogram, bin, count));
  histogram.counts = new Map(rows);
  point(histogram, histogram.pointed);
  histogram.time.text(`${milliseconds.toFixed(1)} ms`);
  shade(histogram);
}

function shade({ name, bar, first, step, selection, format, range }) {
  const [from, to] = selection ?? [-Infinity, Infinity];
  const outside = value => value < from || value >= to;
  bar.selectAll('rect').classed('out', ([bin]) => outside(first + bin * step));
  range.text(selection ? `${format(from)} to ${format(to)}` : '');
}

// A brush has been dragged: it snaps to bars.
function moved(histogram, { selection, sourceEvent }) {
  if (!sourceEvent) return;
  const { x, step, first, brush, behaviour } = histogram;
  const snapped = selection?.map(at => first + Math.round((x.invert(at) - first) / step) * step);
  const next = snapped && snapped[0] < snapped[1] ? snapped : null;
  if (next) brush.call(behaviour.move, next.map(x));
  if (String(next) === String(histogram.selection ?? null)) return;
  histogram.selection = next;
  shade(histogram);
  ask(views.filter(view => view !== histogram.name));
}

// ---------------------------------------------------------------- statements and answers

// Brushes as conditions; at the ends they are open, for the outermost bars stand for all that is farther out.
function brushes() {
  const open = (value, edge) => (value === edge ? null : value);
  const brushed = histograms.filter(histogram => histogram.selection);
  return Object.fromEntries(brushed.map(histogram => {
    const [from, to] = histogram.selection;
    return [histogram.name, [open(from, histogram.first), open(to, end(histogram))]];
  }));
}

async function answersTo(wanted) {
  const start = performance.now();
  const without = d3.select('#without').property('checked');
  const body = JSON.stringify({ views: wanted, brushes: brushes(), without });
  const response = await fetch('answers', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  if (!response.ok) throw new Error(`the server says ${response.status} ${response.statusText}`);
  return { answers: await response.json(), milliseconds: performance.now() - start, without };
}

// One request at a time. What changes meanwhile is requested after it, with the brushes as they are then.
const stale = new Set();
let asking = false;
let total;  // flights, as last counted by the clock

async function ask(more) {
  more.forEach(view => stale.add(view));
  if (asking) return;
  asking = true;
  while (stale.size) {
    const wanted = [...stale];
    stale.clear();
    await answersTo(wanted).then(show).catch(fail);
  }
  asking = false;
}

// Everything is requested again when the server answers again.
function fail(error) {
  total = undefined;
  d3.select('#time').text(error.message);
}

function show({ answers, milliseconds, without }) {
  const { count, list, ...drawn } = answers;
  Object.entries(answers).forEach(([view, answer]) => asked.set(view, answer.statement));
  showStatement();
  for (const histogram of histograms) {
    const answer = drawn[histogram.name];
    if (answer) draw(histogram, answer.rows, answer.milliseconds);
  }
  showCounts(...count.rows[0]);
  if (!list) return compare(count.rows[0][1]);
  tabulate(list.rows, list.milliseconds);
  d3.select('#time').text(`This step took ${number(Math.round(milliseconds))} ms ${without ? 'without' : 'with'} the index.`);
}

// The statement of the histogram, or of what else, the mouse was over last.
const asked = new Map();
let subject = ['delay', 'Delay, minutes'];

function showStatement() {
  const [view, title] = subject;
  d3.select('#subject').text(title);
  d3.select('#statement').text(asked.get(view) ?? '');
}

function followMouse(selector, view, title) {
  d3.select(selector).on('pointerenter', () => {
    subject = [view, title];
    showStatement();
  });
}

function showCounts(selected, all) {
  d3.select('#selected').text(number(selected));
  d3.select('#total').text(number(all));
}

// Has any session changed the table since it was last counted?
function compare(now) {
  if (now !== total) views.forEach(view => stale.add(view));
  total = now;
}

function tabulate(rows, milliseconds) {
  const cells = ([delay, distance, minute, day, origin, destination]) =>
    [delay, number(distance), d3.utcFormat('%-d %b %H:%M')(departure(day, minute)), origin, destination];
  d3.select('tbody').selectAll('tr').data(rows).join('tr').selectAll('td').data(cells).join('td').text(cell => cell);
  d3.select('caption small').text(`${milliseconds.toFixed(1)} ms`);
}

let insertions;
d3.select('#insert').on('change', ({ target }) => {
  if (target.checked) insertions = new EventSource('insertions');
  else insertions.close();
});

d3.select('#without').on('change', () => ask(views));

histograms.forEach(prepare);
histograms.forEach(({ name, title }) => followMouse(`#${name}`, name, title));
followMouse('header', 'count', 'the counts');
followMouse('table', 'list', 'the most delayed');
ask(views);
d3.interval(() => ask(['count']), 500);
