// What the server tells, taken apart: a value for each call, in the order of the rows. Times are milliseconds from the first moment.
function decode(told) {
  const { count } = told;
  const calls = {
    count, title: told.title, took: told.took,
    index: new Int32Array(count), number: new Array(count), depth: new Uint8Array(count), status: new Uint8Array(count),
    start: new Float64Array(count), end: new Float64Array(count), ran: new Float64Array(count).fill(NaN),
    // Which row comes after those that stand in this one.
    past: new Int32Array(count), tool: new Uint16Array(count),
    atMost: new Set(told.at_most), person: new Set(told.person), waits: new Set(told.waits), moment: new Set(told.moment), why: new Map(told.why.map(([place, end]) => [place, told.ends[end]])),
    parallel: told.parallel, hooks: new Map(), tasks: new Map(told.tasks.map(([place, end, running]) => [place, { end, running }])),
  };
  const [jumps, numbers, depths] = [new Map(told.call), new Map(told.number), new Map(told.depth)];
  let [index, depth, start] = [-1, 0, 0];
  for (let place = 0; place < count; place++) {
    index = jumps.get(place) ?? index + 1;
    depth = depths.get(place) ?? depth;
    calls.index[place] = index;
    // A text for a call in a script: `2.1`.
    calls.number[place] = numbers.get(place) ?? index + 1;
    calls.depth[place] = depth;
    calls.status[place] = told.status.charCodeAt(place) - 97;
    calls.tool[place] = told.tool.charCodeAt(place) - 48;
    const step = told.start[place];
    if (step !== null) start += step;
    calls.start[place] = step === null ? NaN : start;
    calls.end[place] = step === null || told.took[place] === null ? NaN : start + told.took[place];
  }
  for (const [place, ran] of told.ran) calls.ran[place] = ran;
  for (const [place, from, length] of told.hooks) calls.hooks.set(place, [...(calls.hooks.get(place) ?? []), [from, length]]);
  // Headings end what stands in a call, too.
  const begun = new Set(told.heads.map(([place]) => place));
  const open = [];
  for (let place = 0; place <= count; place++) {
    while (open.length && (place === count || begun.has(place) || calls.depth[open.at(-1)] >= calls.depth[place])) calls.past[open.pop()] = place;
    open.push(place);
  }
  const parts = told.lengths.map((length, at) => [told.who.charCodeAt(at) - 48, length]);
  const heads = told.heads.map(([place, text, time, turn], at) => ({ place, text, time, turn, past: told.heads[at + 1]?.[0] ?? count }));
  return { ...told, calls, heads, asked: new Set(), sums: sums(parts, told.began), running: anyRunning(told, calls), got: performance.now() };
}

function anyRunning(told, calls) {
  const running = told.statuses.findIndex(([word]) => word === 'running');
  return calls.status.includes(running) || told.tasks.some(([, , goes]) => goes);
}

// Until each moment, how much time each had: so that any stretch of time can be summed up.
const WHO = ['hooks', 'tools', 'waiting for you', 'model', 'unknown'];
function sums(parts, began) {
  const ends = new Float64Array(parts.length + 1).fill(began);
  const until = WHO.map(() => new Float64Array(parts.length + 1));
  parts.forEach(([who, length], at) => {
    ends[at + 1] = ends[at] + length;
    until.forEach((sum, each) => { sum[at + 1] = sum[at] + (each === who ? length : 0); });
  });
  return { ends, until, parts };
}
function sumAt({ ends, until, parts }, time) {
  const all = parts.length;
  const at = Math.min(after(ends, time, all + 1) - 1, all);
  if (at < 0) return until.map(() => 0);
  return until.map((sum, who) => sum[at] + (at < all && parts[at][0] === who ? time - ends[at] : 0));
}

// How many of some ascending numbers are not above one.
function after(numbers, value, count = numbers.length) {
  let [low, high] = [0, count];
  while (low < high) { const middle = (low + high) >> 1; if (numbers[middle] <= value) low = middle + 1; else high = middle; }
  return low;
}

// ---- Words --------------------------------------------------------------------------------------------------------
// A duration in two units at most, as all pages write it.
function took(millis) {
  const two = (number) => String(Math.floor(number)).padStart(2, '0');
  if (millis < 1000) return `${Math.floor(millis)} ms`;
  if (millis < 60_000) return `${Math.floor(millis / 1000)}.${Math.floor(millis % 1000 / 100)} s`;
  if (millis < 3_600_000) return `${Math.floor(millis / 60_000)} m ${two(millis % 60_000 / 1000)} s`;
  return `${Math.floor(millis / 3_600_000)} h ${two(millis % 3_600_000 / 60_000)} m`;
}
function clock(time, parts = 'second') {
  const date = new Date(told.first + time);
  const two = (number, digits = 2) => String(number).padStart(digits, '0');
  const text = `${two(date.getHours())}:${two(date.getMinutes())}` + (parts === 'minute' ? '' : ':' + two(date.getSeconds()));
  return parts === 'milli' ? text + '.' + two(date.getMilliseconds(), 3) : text;
}
const day = (time) => new Date(told.first + time).toLocaleDateString('en', { month: 'short', day: 'numeric' });
