// Bars, axis and overview. Only what can be seen is drawn, once per frame.
const KINDS = {
  shell: 'type', read: 'string', search: 'number', list: 'number', write: 'ok', edit: 'ok', subagent: 'function', task: 'function',
  web_search: 'link', web_fetch: 'link', mcp: 'keyword', question: 'denied', plan: 'denied',
};
const NAMES = ['page', 'panel', 'text', 'muted', 'line', 'control', 'link', 'ok', 'error', 'denied', 'stopped', 'keyword', 'string', 'number', 'function', 'type', 'you'];
let colors = {};
let hatches = new Map();
// Colours are those of the style sheet, in whichever theme; where the system has its own, those.
function readColors() {
  const probe = document.createElement('i');
  fall.append(probe);
  const forced = matchMedia('(forced-colors: active)').matches;
  for (const name of NAMES) {
    probe.style.color = forced ? (name === 'page' || name === 'panel' ? 'Canvas' : name === 'link' ? 'Highlight' : 'CanvasText') : `var(--${name})`;
    colors[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  hatches = new Map();
}
function hatch(context, color) {
  if (!hatches.has(color)) {
    const tile = Object.assign(document.createElement('canvas'), { width: 6, height: 6 });
    const pen = tile.getContext('2d');
    pen.strokeStyle = color;
    pen.lineWidth = 1.4;
    pen.beginPath();
    for (const shift of [-6, 0, 6]) { pen.moveTo(shift, 6); pen.lineTo(shift + 6, 0); }
    pen.stroke();
    hatches.set(color, context.createPattern(tile, 'repeat'));
  }
  return hatches.get(color);
}

// A canvas as large as it is shown, sharp on any screen.
function fresh(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  const [wide, high] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== wide || canvas.height !== high) {
    Object.assign(canvas, { width: wide, height: high });
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
  }
  const pen = canvas.getContext('2d');
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = '11px ' + getComputedStyle(fall).fontFamily;
  pen.textBaseline = 'middle';
  return pen;
}

const colorOf = (place) => {
  const [name, kind] = told.tools[told.calls.tool[place]];
  return colors[paint === 'kind' ? KINDS[kind] ?? 'muted' : told.statuses[told.calls.status[place]][2]] ?? colors.muted;
};
const isRunning = (place) => told.statuses[told.calls.status[place]][0] === 'running' && Number.isNaN(told.calls.end[place]) && !Number.isNaN(told.calls.start[place]);
// Which colour is which kind of tool, of those that are there.
function drawKey() {
  const key = byId('tt-key');
  key.hidden = paint !== 'kind';
  if (key.hidden) return;
  const names = new Map();
  for (const [, kind] of told.tools) {
    const color = KINDS[kind] ?? 'muted';
    names.set(color, (names.get(color) ?? new Set()).add(KINDS[kind] ? kind.replace('_', ' ') : 'other'));
  }
  key.replaceChildren(...[...names].map(([color, kinds]) => {
    const item = element('span', '', [...kinds].join(', '));
    const mark = element('i', 'mark', '');
    mark.style.background = `var(--${color})`;
    item.prepend(mark);
    return item;
  }));
}
const now = () => told.now + (told.ticks ? performance.now() - told.got : 0);

function drawBars() {
  const pen = fresh(bars, scale.width, high);
  const { scrollTop } = scroll;
  const [first, last] = [Math.floor(scrollTop / ROW), Math.min(lines.length, Math.ceil((scrollTop + high) / ROW))];
  drawGround(pen);
  for (let line = first; line < last; line++) {
    const top = line * ROW - scrollTop + (narrow ? 20 : 0);
    if (lines[line] < 0) drawHead(pen, told.heads[-1 - lines[line]], top); else drawCall(pen, lines[line], top);
  }
}
const x = (time) => where(scale, time) - scale.left;

// Lines at the moments of the axis, and the breaks.
function drawGround(pen) {
  pen.fillStyle = colors.line;
  pen.globalAlpha = 0.55;
  for (const [time] of ticks(scale)) pen.fillRect(Math.round(x(time)), 0, 1, high);
  pen.globalAlpha = 0.5;
  eachBreak((left, wide) => { pen.fillStyle = colors.panel; pen.fillRect(left, 0, wide, high); pen.fillStyle = hatch(pen, colors.line); pen.fillRect(left, 0, wide, high); });
  pen.globalAlpha = 1;
}
function eachBreak(take) {
  for (let at = Math.max(0, after(scale.starts, when(scale, scale.left)) - 1); at < scale.gaps.length; at++) {
    const left = x(scale.gaps[at][0]);
    if (left > scale.width) return;
    take(left, scale.wide, scale.gaps[at][1]);
  }
}

// Who was at work in a turn: the model as a band, the person as a hatched one.
function drawHead(pen, head, top) {
  if (head.time === null) return;
  const next = told.heads.find((other) => other.time !== null && other.time > head.time);
  drawParts(pen, Math.max(head.time, 0), next ? next.time : told.last, top + 8, 8);
  pen.fillStyle = colors.text;
  pen.fillRect(Math.round(x(head.time)), top + 4, 1, 16);
}
function drawParts(pen, from, to, top, height) {
  const { ends, parts } = told.sums;
  const [left, right] = [Math.max(from, when(scale, scale.left)), Math.min(to, when(scale, scale.left + scale.width))];
  for (let at = Math.max(0, after(ends, left) - 1); at < parts.length && ends[at] < right; at++) {
    const [who] = parts[at];
    if (who === 4) continue;
    const [begin, end] = [Math.max(x(Math.max(ends[at], from)), -10), Math.min(x(Math.min(ends[at + 1], to)), scale.width + 10)];
    if (end - begin < 0.4) continue;
    if (who === 1) { pen.fillStyle = colors.control; pen.globalAlpha = 0.45; pen.fillRect(begin, top + height / 2 - 1, end - begin, 2); }
    if (who === 3) { pen.fillStyle = colors.function; pen.globalAlpha = 0.3; pen.fillRect(begin, top, end - begin, height); }
    if (who === 2) { pen.globalAlpha = 0.75; pen.fillStyle = hatch(pen, colors.denied); pen.fillRect(begin, top, end - begin, height); }
    if (who === 0) { pen.globalAlpha = 0.8; pen.fillStyle = colors.number; pen.fillRect(begin, top + height - 3, end - begin, 3); }
  }
  pen.globalAlpha = 1;
  // What fits is said in words.
  const wait = after(ends, to) - 2;
  if (wait >= 0 && parts[wait][0] === 2) {
    const [begin, end] = [Math.max(0, x(ends[wait])), x(Math.min(ends[wait + 1], to))];
    const text = 'waiting for you ' + took(parts[wait][1]);
    const wide = pen.measureText(text).width + 10;
    if (end - begin > wide + 8 && end > 0 && begin < scale.width) {
      pen.fillStyle = colors.page; pen.fillRect(begin + 4, top - 3, wide, 14);
      pen.fillStyle = colors.denied; pen.fillText(text, begin + 9, top + 4.5);
    }
  }
}

const FADE = 44;
const NO_END = 'no end in the log';
function drawCall(pen, place, top) {
  const { calls } = told;
  const start = calls.start[place];
  if (Number.isNaN(start)) { pen.fillStyle = colors.muted; pen.fillText('no time in the log', 8, top + ROW_MID); return; }
  const color = colorOf(place);
  const [left, y] = [x(start), top + ROW_MID - 6];
  let right = left;
  let said = '';
  const problem = told.statuses[calls.status[place]][3];
  const solid = (from, to) => {
    const begin = Math.max(from, -10);
    pen.globalAlpha = paint === 'kind' || problem ? 0.9 : 0.72;
    pen.fillRect(begin, y, Math.max(Math.min(to, scale.width + 10) - begin, from > to - 2 ? 2 : 0), 12);
    pen.globalAlpha = 1;
  };
  const waits = (from, to) => {
    const [begin, end] = [Math.max(from, -10), Math.min(to, scale.width + 10)];
    if (end <= begin) return;
    pen.fillStyle = hatch(pen, calls.person.has(place) ? colors.denied : color);
    pen.fillRect(begin, y, end - begin, 12);
    pen.strokeStyle = calls.person.has(place) ? colors.denied : color;
    pen.lineWidth = 1;
    pen.globalAlpha = 0.8;
    pen.strokeRect(begin + 0.5, y + 0.5, end - begin - 1, 11);
    pen.globalAlpha = 1;
  };
  const fade = (from, height = 12) => {
    const [clear, to] = [pen.createLinearGradient(from, 0, from + FADE, 0), from + FADE];
    clear.addColorStop(0, color);
    clear.addColorStop(1, color.replace(/^rgb\((.*)\)$/, 'rgb($1 / 0)').replace(/,/g, ' '));
    pen.fillStyle = clear;
    pen.fillRect(from, y + (12 - height) / 2, FADE, height);
    return to;
  };
  pen.fillStyle = color;
  const running = told.statuses[calls.status[place]][0] === 'running';
  if (calls.moment.has(place)) {
    pen.beginPath(); pen.moveTo(left, y); pen.lineTo(left + 6, y + 6); pen.lineTo(left, y + 12); pen.lineTo(left - 6, y + 6); pen.fill();
    right = left + 6;
  } else if (!Number.isNaN(calls.end[place])) {
    right = Math.max(x(calls.end[place]), left + 2);
    const ran = calls.ran[place];
    if (calls.person.has(place)) waits(left, right);
    else if (ran < calls.took[place]) {
      const began = x(calls.end[place] - ran);
      waits(left, Math.min(began, right - 2));
      pen.fillStyle = color;
      solid(Math.min(began, right - 2), right);
    } else solid(left, right);
    if (calls.atMost.has(place)) { pen.fillStyle = colors.page; for (let at = 0; at < 12; at += 4) pen.fillRect(right - 2, y + at, 2, 2); }
    said = (calls.atMost.has(place) ? '≤ ' : '') + took(calls.took[place]);
  } else if (running) {
    right = Math.max(x(now()), left + 2);
    if (calls.person.has(place)) waits(left, right); else solid(left, right);
    pen.fillStyle = color;
    pen.beginPath(); pen.moveTo(right, y); pen.lineTo(right + 6, y + 6); pen.lineTo(right, y + 12); pen.fill();
    right += 6;
    said = (calls.person.has(place) ? 'waiting for you ' : 'running ') + took(Math.max(0, now() - start));
  } else {
    right = fade(left);
    said = NO_END;
  }
  const task = calls.tasks.get(place);
  if (task) {
    const from = Math.max(right, left);
    const until = task.end ?? (task.running ? now() : null);
    if (until === null) right = fade(from, 2);
    else {
      const to = Math.max(from, x(until));
      pen.fillStyle = color;
      pen.fillRect(Math.max(from, -10), y + 5, Math.min(to, scale.width + 10) - Math.max(from, -10), 2);
      if (task.end !== null) pen.fillRect(to - 1, y + 1, 2, 10);
      right = to;
      said += ' · task ' + (task.end === null ? 'runs' : took(Math.max(0, task.end - start)));
    }
  }
  pen.fillStyle = colors.number;
  for (const [from, length] of calls.hooks.get(place) ?? []) pen.fillRect(x(from), y - 3, Math.max(2, x(from + length) - x(from)), 3);
  // A word beside the colour.
  if (problem && said !== NO_END) said += (said ? ' · ' : '') + (calls.why.get(place) ?? told.statuses[calls.status[place]][0]).split(':')[0];
  label(pen, said, left, right, top + ROW_MID);
}
// How long it took stands behind the bar, or before it where there is no space.
function label(pen, text, left, right, middle) {
  // What is elsewhere says where.
  if (right < -4 || left > scale.width) {
    pen.fillStyle = colors.control;
    pen.fillText(right < -4 ? '‹' : '›', right < -4 ? 2 : scale.width - 6, middle);
    return;
  }
  if (!text) return;
  const wide = pen.measureText(text).width;
  pen.fillStyle = colors.muted;
  if (right + 5 + wide <= scale.width) pen.fillText(text, right + 5, middle);
  else if (left - 5 - wide >= 0) pen.fillText(text, left - 5 - wide, middle);
  else { pen.fillStyle = colors.page; pen.fillRect(scale.width - wide - 10, middle - 7, wide + 8, 14); pen.fillStyle = colors.text; pen.fillText(text, scale.width - wide - 6, middle); }
}

function drawAxis() {
  const pen = fresh(axis, scale.width, 24);
  const taken = [];
  pen.textAlign = 'center';
  eachBreak((left, wide, length) => {
    const text = took(length);
    const middle = left + wide / 2;
    pen.fillStyle = colors.muted;
    const said = [text, text.split(' ').slice(0, 2).join(' ')].find((text) => pen.measureText(text).width <= wide + 4);
    if (said) pen.fillText(said, middle, 12);
    pen.strokeStyle = colors.muted;
    pen.lineWidth = 1;
    pen.beginPath();
    for (const edge of [left + 1, left + wide - 1]) { pen.moveTo(edge - 2, 24); pen.lineTo(edge + 2, 18); }
    pen.stroke();
    taken.push([left - 4, left + wide + 4]);
  });
  pen.textAlign = 'left';
  let before = null;
  for (const [time, text] of ticks(scale)) {
    const place = x(time);
    const today = day(time);
    const words = today !== before && (before !== null || told.days) && text !== today ? `${today}, ${text}` : text;
    const wide = pen.measureText(words).width + 4;
    pen.fillStyle = colors.line;
    pen.fillRect(Math.round(place), 16, 1, 8);
    if (place + wide > scale.width || taken.some(([from, to]) => place < to && place + wide > from)) continue;
    before = today;
    pen.fillStyle = colors.muted;
    pen.fillText(words, place + 3, 12);
    taken.push([place, place + wide]);
  }
}

// The whole session in a strip: who was at work, problems, and which part is shown.
let strip = null;
const OVER = 40;
function drawOver() {
  const width = overview.parentElement.clientWidth;
  if (!strip || strip.width !== width || strip.colors !== colors.text) strip = paintStrip(width);
  const pen = fresh(overview, width, OVER);
  const ratio = devicePixelRatio || 1;
  pen.drawImage(strip.canvas, 0, 0, strip.canvas.width / ratio, strip.canvas.height / ratio);
  const [from, to] = brush();
  pen.fillStyle = colors.page;
  pen.globalAlpha = 0.62;
  pen.fillRect(0, 0, from, OVER);
  pen.fillRect(to, 0, width - to, OVER);
  pen.globalAlpha = 1;
  pen.strokeStyle = colors.link;
  pen.lineWidth = 1;
  pen.strokeRect(from + 0.5, 0.5, Math.max(2, to - from - 1), OVER - 1);
  pen.fillStyle = colors.link;
  for (const edge of [from, to - 3]) pen.fillRect(edge, OVER / 2 - 7, 3, 14);
}
const brush = () => [scale.left, scale.left + scale.width].map((pixel) => Math.max(0, Math.min(strip.width, where(strip.scale, when(scale, pixel)) - strip.scale.left)));
function paintStrip(width) {
  const canvas = document.createElement('canvas');
  const pen = fresh(canvas, width, OVER);
  const mine = makeScale(scale.gaps, scale.end, width + RIGHT - LEFT);
  const at = (time) => where(mine, time) - mine.left;
  const { ends, parts } = told.sums;
  const { calls } = told;
  // How much of each pixel each had.
  const shares = WHO.map(() => new Float32Array(width + 2));
  parts.forEach(([who], part) => {
    const [from, to] = [at(ends[part]), at(ends[part + 1])];
    for (let pixel = Math.max(0, Math.floor(from)); pixel < Math.min(width, to); pixel++) shares[who][pixel] += Math.min(to, pixel + 1) - Math.max(from, pixel);
  });
  // What runs has no end yet, and so no part of its own.
  const running = [...calls.status.keys()].filter((place) => isRunning(place));
  if (running.length) {
    const who = running.every((place) => calls.person.has(place)) ? 2 : 1;
    const since = running.reduce((first, place) => Math.min(first, calls.start[place]), Infinity);
    const [from, to] = [at(since), at(now())];
    for (let pixel = Math.max(0, Math.floor(from)); pixel < Math.min(width, to); pixel++) {
      // What is known of this moment stays.
      const left = 1 - shares[0][pixel] - shares[1][pixel] - shares[2][pixel] - shares[3][pixel];
      shares[who][pixel] += Math.max(0, Math.min(left, to - pixel));
    }
  }
  const looks = [[1, colors.string], [0, colors.number], [3, colors.function], [2, hatch(pen, colors.denied)]];
  for (let pixel = 0; pixel < width; pixel++) {
    let floor = OVER - 3;
    for (const [who, look] of looks) {
      const tall = Math.min(1, shares[who][pixel]) * (OVER - 12);
      if (tall < 0.3) continue;
      pen.fillStyle = look;
      pen.globalAlpha = who === 3 ? 0.4 : 0.85;
      pen.fillRect(pixel, floor - tall, 1, tall);
      floor -= tall;
    }
  }
  pen.globalAlpha = 1;
  for (const [start, length] of mine.gaps) { pen.fillStyle = colors.control; pen.fillRect(Math.round(at(start) + mine.wide / 2), 4, 1, OVER - 8); }
  for (let place = 0; place < calls.count; place++) {
    if (!told.statuses[calls.status[place]][3] || Number.isNaN(calls.start[place])) continue;
    pen.fillStyle = colors[told.statuses[calls.status[place]][2]];
    pen.fillRect(Math.round(at(calls.start[place])) - 1, 2, 2, 5);
  }
  return { canvas, width, scale: mine, colors: colors.text };
}
