// The page: what is chosen, what is asked for, zoom, keys.
const fall = byId('tt-fall');
if (!fall) return ready();
const [bars, axis, overview, scroll, list, side, sum] = ['tt-bars', 'tt-axis', 'tt-over', 'tt-scroll', 'tt-lines', 'tt-side', 'tt-sum'].map(byId);
const { base } = fall.dataset;
const query = new URLSearchParams(location.search);
let told = null;
let lines = new Int32Array(0);
let scale = null;
let [high, narrow, ROW, ROW_MID] = [0, false, 24, 12];
let paint = query.get('color') === 'kind' ? 'kind' : 'status';
let folds = query.get('gaps') !== 'all';
byId('tt-color').value = paint;
byId('tt-gaps').checked = folds;

// ---- Drawing ------------------------------------------------------------------------------------------------------
let drag = null;
let asked = 0;
function request() {
  asked ||= requestAnimationFrame(() => { asked = 0; if (told) drawAll(); });
}
function drawAll() {
  drawRows();
  drawBars();
  drawAxis();
  drawOver();
  summary();
}
function summary() {
  const [from, to] = [Math.max(told.began, when(scale, scale.left)), Math.min(told.last, when(scale, scale.left + scale.width))];
  const [before, until] = [sumAt(told.sums, Math.min(from, told.last)), sumAt(told.sums, Math.max(told.began, to))];
  const parts = WHO.map((name, who) => [name, Math.max(0, until[who] - before[who])]);
  const wall = parts.reduce((all, [, millis]) => all + millis, 0);
  const order = [1, 3, 0, 2, 4].map((who) => parts[who]).filter(([, millis]) => millis >= 0.5);
  const text = `${isAll(scale) ? 'all' : clock(from) + '–' + clock(Math.max(from, to))}: wall ${took(wall)}` + order.map(([name, millis]) => ` · ${name} ${took(millis)}`).join('');
  if (sum.textContent !== text) sum.textContent = text;
  const broken = scale.gaps.length;
  const shown = `The whole session${isAll(scale) ? '' : `, of which ${clock(from)} to ${clock(Math.max(from, to))} is shown`}. ${broken} ${broken === 1 ? 'gap is' : 'gaps are'} folded.`;
  if (overview.getAttribute('aria-label') !== shown) overview.setAttribute('aria-label', shown);
}
// How large everything is. What is shown stays shown.
function measure() {
  narrow = fall.clientWidth < 720;
  [ROW, ROW_MID] = narrow ? [42, 10] : [24, 12];
  fall.classList.toggle('narrow', narrow);
  // It is as high as its rows, up to a limit.
  layOut();
  high = scroll.clientHeight;
  bars.style.marginBottom = -high + 'px';
  rescale();
  redrawRows();
  request();
}
const names = () => narrow ? 0 : parseFloat(getComputedStyle(fall).getPropertyValue('--names')) || 300;
function rescale() {
  if (!told) return;
  const end = told.running ? Math.max(told.end, now()) : told.end;
  const width = Math.max(80, scroll.clientWidth - names());
  const old = scale;
  scale = makeScale(folds ? told.gaps : [], Math.max(1, end), width);
  if (old && !isAll(old)) showFrom(scale, ...edges(old));
  strip = null;
}

// ---- Data ---------------------------------------------------------------------------------------------------------
let loading = null;
async function load() {
  loading?.abort();
  const mine = loading = new AbortController();
  try {
    const answer = await fetch(`${base}/waterfall.json?${told ? 'known=' + told.v : 'v=' + fall.dataset.v}`, { signal: mine.signal });
    if (!answer.ok) throw new Error(String(answer.status));
    const text = await answer.text();
    performance.mark('tt-data');
    const data = JSON.parse(text);
    if (data) take(decode(data));
  } catch (error) {
    if (mine.signal.aborted) return;
    if (!told) sum.textContent = 'Could not load the calls. Reload the page.';
    else say('Could not reload the calls.');
  }
}
function take(data) {
  const first = !told;
  // Times are counted from the first moment, which may be another now.
  const moved = first ? 0 : told.first - data.first;
  const [from, to] = scale && !isAll(scale) ? edges(scale) : [NaN, NaN];
  const before = first ? null : stateOf(selected());
  told = data;
  told.days = new Date(told.first).toDateString() !== new Date(told.first + told.end).toDateString();
  scale = null;
  if (first) { list.replaceChildren(); readColors(); }
  drawKey();
  document.querySelector('.wf-axis > span').textContent = `${told.count.toLocaleString('en')} ${told.count === 1 ? 'call' : 'calls'}`;
  measure();
  if (!Number.isNaN(from)) { showFrom(scale, from + moved, to + moved); strip = null; }
  if (first) begin();
  // What became of the selected call meanwhile is shown beside it.
  else if (before !== null && stateOf(selected()) !== before) open(selected());
  drawAll();
  if (first) { performance.mark('tt-painted'); performance.measure('tt-paint', 'tt-data', 'tt-painted'); ready(); }
}
const stateOf = (what) => what === null || what < 0 ? null : `${told.calls.status[what]} ${told.calls.took[what]} ${told.calls.past[what] - what}`;
function begin() {
  const [from, to] = ['from', 'to'].map((name) => parseFloat(query.get(name) ?? '') - told.first);
  if (to > from) showFrom(scale, from, to);
  // Of a long session nothing could be seen.
  else if (lines.length * ROW > 2 * high) fitRows();
  const wanted = fall.dataset.call;
  if (wanted === undefined) return;
  const place = told.calls.index.indexOf(Number(wanted));
  if (place < 0) return;
  const line = lineOf('c' + wanted);
  scroll.scrollTop = line * ROW - high / 2;
  choose(line);
}
// The session has changed: whoever follows it says so.
// However much is written, it is fetched once at a time, and half of the time not at all.
let [fetches, late] = [false, false];
async function fetchAgain() {
  if (fetches) { late = true; return; }
  fetches = true;
  do {
    late = false;
    const start = performance.now();
    await load();
    await new Promise((done) => setTimeout(done, Math.max(100, performance.now() - start)));
  } while (late);
  fetches = false;
}
document.addEventListener('tt-session', ({ detail }) => {
  // What is being fetched for the first time is new.
  if (told && detail?.session === fall.dataset.session) fetchAgain();
});
setInterval(() => {
  if (!told?.ticks || !told.running || document.hidden) return;
  if (isAll(scale)) { rescale(); showAll(scale); } else { scale.end = Math.max(scale.end, now()); strip = null; }
  request();
}, 1000);

// ---- The address --------------------------------------------------------------------------------------------------
let noting = 0;
function note() {
  clearTimeout(noting);
  noting = setTimeout(() => history.replaceState(history.state, '', address()), 200);
}
function address() {
  const query = new URLSearchParams();
  if (paint !== 'status') query.set('color', paint);
  if (!folds) query.set('gaps', 'all');
  if (!isAll(scale)) {
    const [from, to] = edges(scale);
    query.set('from', Math.round(told.first + from));
    query.set('to', Math.round(told.first + to));
  }
  const what = selected();
  if (what !== null && what >= 0) query.set('call', told.calls.number[what]);
  return location.pathname + (query.size ? '?' + query : '');
}

// ---- Zoom and pan -------------------------------------------------------------------------------------------------
function moved() { keepIn(scale); request(); note(); }
const zoom = (factor, at = scale.width / 2) => { zoomAt(scale, factor, at); moved(); };
const pan = (pixels) => { scale.left += pixels; moved(); };
const fit = () => { showAll(scale); moved(); };
on('tt-in', () => zoom(1.6));
on('tt-out', () => zoom(1 / 1.6));
on('tt-fit', fit);
on('tt-near', () => fitRows());
// From when to when the rows in sight went on.
function inSight() {
  const [first, last] = [Math.floor(scroll.scrollTop / ROW), Math.ceil((scroll.scrollTop + high) / ROW)];
  let [from, to] = [Infinity, -Infinity];
  for (const what of lines.subarray(first, last)) {
    const start = what < 0 ? told.heads[-1 - what].time ?? NaN : told.calls.start[what];
    if (Number.isNaN(start)) continue;
    const end = what < 0 ? start : told.calls.end[what];
    from = Math.min(from, start);
    to = Math.max(to, Number.isNaN(end) ? start : end);
  }
  return [from, to];
}
function fitRows() {
  const [from, to] = inSight();
  if (!(to >= from)) return;
  const more = Math.max(20, to - from) * 0.12;
  showFrom(scale, from - more / 6, to + more);
  moved();
}
// Whoever scrolls through the rows sees their bars.
function follow() {
  request();
  if (drag || !told || isAll(scale)) return;
  const [from, to] = inSight();
  if (!(to >= from) || (x(to) > 0 && x(from) < scale.width - 40)) return;
  scale.left = where(scale, from) - scale.width * 0.08;
  moved();
}
byId('tt-color').addEventListener('change', ({ target }) => { paint = target.value; drawKey(); request(); note(); });
byId('tt-gaps').addEventListener('change', ({ target }) => { folds = target.checked; rescale(); request(); note(); });
const offset = (event) => event.clientX - bars.getBoundingClientRect().left;
scroll.addEventListener('wheel', (event) => {
  if (!scale) return;
  const unit = event.deltaMode === 1 ? 24 : 1;
  if (event.ctrlKey || event.metaKey) { event.preventDefault(); zoom(Math.exp(-event.deltaY * unit / 240), Math.max(0, offset(event))); return; }
  const aside = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
  if (!aside || (!event.shiftKey && Math.abs(event.deltaX) < Math.abs(event.deltaY))) return;
  event.preventDefault();
  pan(aside * unit);
}, { passive: false });
scroll.addEventListener('scroll', follow, { passive: true });

// Dragging moves; pressing selects.
scroll.addEventListener('pointerdown', (event) => {
  if (event.button || !scale) return;
  drag = { x: event.clientX, y: event.clientY, left: scale.left, top: scroll.scrollTop, moved: false, bars: offset(event) > 0 && event.pointerType !== 'touch' };
});
addEventListener('pointermove', (event) => {
  if (!drag) return;
  const [across, down] = [event.clientX - drag.x, event.clientY - drag.y];
  if (!drag.moved && Math.hypot(across, down) < 5) return;
  drag.moved = true;
  if (!drag.bars) return;
  scroll.classList.add('drags');
  scale.left = drag.left - across;
  scroll.scrollTop = drag.top - down;
  moved();
});
addEventListener('pointerup', () => { scroll.classList.remove('drags'); setTimeout(() => { drag = null; }); });
list.addEventListener('click', (event) => {
  if (drag?.moved) return;
  const row = event.target.closest('.wf-row');
  if (!row) return;
  const line = Number(row.dataset.line);
  if (event.target.closest('.twist') || row.matches('.head')) toggle(line);
  choose(line, false);
});
list.addEventListener('dblclick', () => leave());

// The strip: press and drag chooses a stretch, dragging the frame moves it, its edges change it.
let stroke = null;
overview.addEventListener('pointerdown', (event) => {
  if (!scale) return;
  overview.setPointerCapture(event.pointerId);
  const at = event.offsetX;
  const [from, to] = brush();
  const near = (edge) => Math.abs(at - edge) < 6;
  const how = isAll(scale) ? 'new' : near(from) ? 'from' : near(to) ? 'to' : at > from && at < to ? 'move' : 'new';
  stroke = { how, at, from, to };
});
overview.addEventListener('pointermove', (event) => {
  if (!stroke) return;
  const at = Math.max(0, Math.min(strip.width, event.offsetX));
  const by = at - stroke.at;
  const ends = { new: [stroke.at, at], from: [at, stroke.to], to: [stroke.from, at], move: [stroke.from + by, stroke.to + by] }[stroke.how];
  const [from, to] = [Math.min(...ends), Math.max(...ends)].map((pixel) => when(strip.scale, pixel + strip.scale.left));
  if (Math.abs(by) < 3) return;
  if (stroke.how === 'move') { scale.left = where(scale, from); moved(); return; }
  showFrom(scale, Math.max(0, from), Math.min(scale.end, to));
  request();
  note();
});
for (const kind of ['pointerup', 'pointercancel']) overview.addEventListener(kind, () => { stroke = null; });
overview.addEventListener('dblclick', fit);

// ---- Keys ---------------------------------------------------------------------------------------------------------
function leave() {
  const what = selected();
  const turn = what !== null && what < 0 && told.heads[-1 - what].turn;
  location.href = what !== null && what >= 0 ? `${base}/waterfall/row/${told.calls.index[what]}` : turn ? `${base}?at=turn-${turn}#turn-${turn}` : base;
}
const page = () => Math.max(1, Math.floor(high / ROW) - 2);
const ACTS = {
  j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1),
  ArrowRight: () => pan(scale.width / 8), ArrowLeft: () => pan(-scale.width / 8),
  PageDown: () => step(page()), PageUp: () => step(-page()), Home: () => choose(0), End: () => choose(lines.length - 1),
  '+': () => zoom(1.6), '=': () => zoom(1.6), '-': () => zoom(1 / 1.6), '−': () => zoom(1 / 1.6),
  f: fit, r: fitRows, e: () => problem(false), E: () => problem(true), o: () => toggle(lineOf(chosen)), w: leave, Enter: leave,
};
// Keys that move something everywhere else do so here only where the rows have the focus.
const OWN = ['ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight', 'PageDown', 'PageUp', 'Home', 'End', 'Enter'];
document.addEventListener('keydown', (event) => {
  if (!told || event.ctrlKey || event.metaKey || event.altKey || byId('tt-help')?.open) return;
  if (event.target.matches('input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]')) return;
  const here = event.target === scroll || event.target === document.body;
  if (OWN.includes(event.key) ? !here : byId('tt-keys')?.checked === false) return;
  const act = ACTS[event.key];
  if (!act) return;
  event.preventDefault();
  // What is selected is heard of only where the tree has the focus.
  if (event.target === document.body) scroll.focus({ preventScroll: true });
  act();
});

// ---- Sizes and themes ---------------------------------------------------------------------------------------------
// Drawn at once: this is told before a frame is painted, which would have no rows.
new ResizeObserver(() => { if (told) { measure(); drawAll(); } }).observe(scroll);
const recolor = () => { if (told) { readColors(); strip = null; request(); } };
new MutationObserver(recolor).observe(root, { attributes: true, attributeFilter: ['data-theme'] });
for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) matchMedia(query).addEventListener('change', recolor);
document.addEventListener('change', ({ target }) => { if (target.name === 'tt-theme') requestAnimationFrame(recolor); });
load();
