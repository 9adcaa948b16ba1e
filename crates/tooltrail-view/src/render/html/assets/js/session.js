// A session on the server: sections of rows are fetched when somebody comes near, a body when its row is opened. What the page shows
// is in its address: chips, what is looked for, the selected row.
const AWAY = '.rows.away';
// Calls whose subagents had problems, and whose bodies are not here.
const DEEP = '.call[data-in]:not([data-filled])';
const { base } = rows.dataset;
let { v: version } = rows.dataset;
const MARGIN = '600% 0px';
// How many sections stay, those apart that somebody uses.
const KEEP = 10;
// How many of them may be near: each has some 1,600 elements, and 20,000 are enough.
const MOST = 11;
const FAILED = 'Could not load this part. ';

const BUTTONS = [['Copy', copyRow], ['Markdown', copyMarkdown], ['Link', copyLink], ['Page', openPage]];
const part = (path) => `${base}/${path}${path.includes('?') ? '&' : '?'}v=${version}${grown ? '&live=1' : ''}`;
// A path may be a function, since parts are numbered anew when the session has changed meanwhile.
async function text(path, signal) {
  return (await get(path, signal)).text();
}
const TRIES = 5;
async function get(path, signal) {
  let answer;
  for (let tried = 0; tried < TRIES; tried++) {
    const of = version;
    answer = await fetch(part(typeof path === 'function' ? path() : path), { signal });
    // What is here is of another version: it becomes like that one first.
    if (answer.status === 409) await grow();
    // What came may be of the version before.
    else if (of === version) break;
  }
  if (!answer.ok) throw new Error(String(answer.status));
  return answer;
}
function intercept(event) {
  // The menu has keys of its own, and the browser closes it.
  if (menu.matches(':popover-open')) return true;
  // Once for our own field, once more for the browser's, which finds only what is here.
  if ((event.ctrlKey || event.metaKey) && event.key === 'f' && document.activeElement !== input) { event.preventDefault(); acts['/'](); return true; }
  return false;
}

// ---- Sections -----------------------------------------------------------------------------------------------------
// Fetches under way: { promise, stop, wanted }. What only scrolling asked for is stopped when it scrolls away again.
const fetching = new Map();
const bringing = () => fetching.size;

async function bringNow(place, signal) {
  let html;
  try {
    html = await text(() => 'rows/' + place.dataset.s, signal);
  } catch {
    if (!signal.aborted) trouble(place);
    return;
  }
  if (!place.isConnected) return;
  watcher.unobserve(place);
  // Until it is laid out it counts as high as it was, so nothing moves.
  place.style.containIntrinsicBlockSize = 'auto ' + place.style.height;
  place.innerHTML = html;
  place.classList.remove('away');
  place.removeAttribute('aria-busy');
  place.style.height = '';
  watching.observe(place);
  ready(place);
  tidy();
}

function trouble(place) {
  const again = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Try again' });
  again.addEventListener('click', () => bring(place));
  const told = Object.assign(document.createElement('p'), { className: 'wait' });
  told.append(FAILED, again);
  place.replaceChildren(told);
}

function bring(place, wanted = true) {
  if (!place.matches(AWAY)) return Promise.resolve();
  const known = fetching.get(place);
  if (known) { known.wanted ||= wanted; return known.promise; }
  const stop = new AbortController();
  const promise = bringNow(place, stop.signal).finally(() => fetching.delete(place));
  fetching.set(place, { promise, stop, wanted });
  return promise;
}

const watcher = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (isIntersecting) { waiting.add(target); continue; }
    waiting.delete(target);
    if (fetching.has(target) && !fetching.get(target).wanted) fetching.get(target).stop.abort();
  }
  pull();
}, { rootMargin: MARGIN });

// Places that are near. Where chips leave little of each section many are: then the nearest come, and the others when they are nearer.
const waiting = new Set();
const distance = (place) => { const box = place.getBoundingClientRect(); return Math.abs((box.top + box.bottom - innerHeight) / 2); };
const nearest = (places) => places.map((place) => [distance(place), place]).sort(([one], [other]) => one - other).map(([, place]) => place);
function pull() {
  for (const place of waiting) if (!place.isConnected || !place.matches(AWAY)) waiting.delete(place);
  if (!waiting.size) return;
  const top = (place) => place.parentElement === rows;
  const some = all(':scope > .rows', rows).filter((place) => waiting.has(place) || fetching.has(place) || !place.matches('.away, [hidden]'));
  for (const place of [...waiting].filter((place) => !top(place)).concat(nearest(some).slice(0, MOST))) if (waiting.has(place)) bring(place, false);
}
let pulling;
addEventListener('scroll', () => {
  if (waiting.size) pulling ??= setTimeout(() => { pulling = null; pull(); }, 80);
}, { passive: true });

// Sections that are here and near.
const near = new Set();
const watching = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) if (isIntersecting) near.add(target); else near.delete(target);
  tidy();
}, { rootMargin: MARGIN });

// Whoever reads, marks or has opened something finds it where it was.
function held(place) {
  const chosen = getSelection();
  return place.contains(document.activeElement) || place.contains(current)
    || (chosen && !chosen.isCollapsed && chosen.containsNode(place, true)) || place.querySelector('details.row[open]:not([data-self]), .msg[data-filled]');
}

let tidying;
function tidy() {
  clearTimeout(tidying);
  tidying = setTimeout(() => {
    const here = all(':scope > .rows:not(.away)', rows);
    const spare = nearest(here.filter((place) => !held(place))).reverse();
    const far = spare.filter((place) => !near.has(place)).slice(0, Math.max(0, here.length - KEEP));
    const many = spare.filter((place) => !far.includes(place)).slice(0, Math.max(0, here.length - far.length - MOST));
    for (const place of far.concat(many)) evict(place);
  }, 300);
}

function evict(place) {
  watching.unobserve(place);
  near.delete(place);
  const height = Math.round(place.getBoundingClientRect().height);
  // What chips leave of it is not how high all of it is.
  if (!shown().length) place.dataset.h = height;
  else place.dataset.h ??= all(':scope > .row', place).length * 30;
  place.replaceChildren();
  place.classList.add('away');
  size(place);
  if (!place.hidden) place.style.height = height + 'px';
  watcher.observe(place);
}

// ---- Chips --------------------------------------------------------------------------------------------------------
const chips = () => all('.chip[data-show]');
const shown = () => (rows.dataset.show ?? '').split(' ').filter(Boolean);
const codes = () => new Map(chips().map((chip) => [chip.dataset.show, chip.dataset.code]));
// How many rows of a place each chip stands for, as the page says it: `f2p1`.
const counts = (place) => new Map([...(place.dataset.n ?? '').matchAll(/([a-z]+)(\d+)/g)].map(([, code, count]) => [code, Number(count)]));

// Rows that are not here take about the space that they will take, or that those of them take which a chip leaves.
function size(place) {
  place.setAttribute('aria-busy', 'true');
  const only = shown();
  const [told, code] = only.length ? [counts(place), codes()] : [];
  const left = only.reduce((sum, name) => sum + (told.get(code.get(name)) ?? 0), 0);
  place.style.height = (only.length ? Math.max(1, left) * 30 : place.dataset.h) + 'px';
  place.hidden = only.length > 0 && !left;
}

const badCodes = () => all('.chip.bad[data-code]').map((chip) => chip.dataset.code);
function may(place, kind) {
  if (place.matches('.call')) return kind === 'bad';
  if (kind === 'row' || kind === 'turn') return !place.hidden;
  const told = counts(place);
  return kind === 'bad' ? badCodes().some((code) => told.has(code)) : told.has('ed') || told.has('wr');
}

// ---- Problems inside of calls -------------------------------------------------------------------------------------
// What a chip of a status looks for may be in a subagent or a script: the calls around it are opened, as far as they are here, and closed
// again with the chip.
function through(within = rows) {
  const only = shown();
  for (const call of all('.call[data-in]', within)) {
    const wanted = call.dataset.in.split(' ').some((word) => only.includes(word));
    const itself = only.some((name) => call.matches(`.s-${name}, .k-${name}`)) || (only.includes('edits') && call.matches('.k-edit, .k-write'));
    call.classList.toggle('through', wanted && !itself);
    if (wanted) openThrough(call);
    else if (call.matches('[data-through]')) { call.open = false; delete call.dataset.through; }
  }
}
async function openThrough(call) {
  if (!call.open) { call.dataset.through = ''; call.dataset.self = ''; }
  await deepen(call);
  if (!shown().length || !call.isConnected) return;
  call.open = true;
  for (const sub of all('.sub', call)) sub.open = true;
}

// ---- Quiet runs ---------------------------------------------------------------------------------------------------
// One line stands for several rows that tell little, until somebody opens it.
const loudRuns = new Set();
const runOf = (line) => [...line.parentElement.children].filter((row) => row.dataset.q === line.id);
function quieten(line, open) {
  if (open) loudRuns.add(line.id); else loudRuns.delete(line.id);
  line.setAttribute('aria-expanded', String(open));
  for (const row of runOf(line)) row.classList.toggle('loud', open);
}
function loud(row) {
  const line = byId(row.dataset.q);
  if (line) quieten(line, true);
}
rows.addEventListener('click', ({ target }) => {
  const line = target.closest('.quiet');
  if (line) quieten(line, line.getAttribute('aria-expanded') !== 'true');
});
function settled(within) {
  for (const line of all('.quiet', within)) if (loudRuns.has(line.id)) quieten(line, true);
  if (shown().length) through(within);
}

function showOnly(names) {
  if (names.length) rows.dataset.show = names.join(' '); else delete rows.dataset.show;
  const code = codes();
  for (const chip of chips()) {
    const on = names.includes(chip.dataset.show) || (!names.length && chip.dataset.show === '');
    if (on) chip.setAttribute('aria-current', 'true'); else chip.removeAttribute('aria-current');
  }
  // Sections that are here count only as far as something of them is left.
  for (const place of all(':scope > .rows:not(.away)', rows)) {
    const told = counts(place);
    place.hidden = names.length > 0 && !names.some((name) => told.has(code.get(name)));
  }
  for (const place of away()) size(place);
  through();
  if (finding) { leave(); report(); }
  pull();
  note();
}
bar.addEventListener('click', (event) => {
  const chip = event.target.closest('.chip[data-show]');
  if (!chip || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const name = chip.dataset.show;
  const now = shown();
  showOnly(!name ? [] : now.includes(name) ? now.filter((one) => one !== name) : [...now, name]);
  // Going back undoes it.
  clearTimeout(noting);
  history.pushState(null, '', here());
  if (current?.isConnected && current.checkVisibility()) put(current.matches('details') ? current.firstElementChild : current, 'nearest');
});

// ---- The address --------------------------------------------------------------------------------------------------
function address(id, whole = true) {
  const query = new URLSearchParams();
  if (shown().length) query.set('show', shown().join(','));
  if (input.value) query.set('find', input.value);
  // The server brings the rows around it along.
  if (id) query.set('at', id);
  const path = location.pathname + (query.size ? '?' + query : '') + (id ? '#' + encodeURIComponent(id) : '');
  return whole ? location.origin + path : path;
}
let noting;
function note() {
  clearTimeout(noting);
  noting = setTimeout(() => history.replaceState(history.state, '', here()), 150);
}
const here = () => address(current?.isConnected ? anchor(current) : '', false);
const anchor = (row) => row.id || row.closest('.row[id], .turn[id]')?.id || '';
const chosen = () => {
  note();
  // Whoever comes by a link from a search is told which of the hits it is.
  if (finding && finding.at < 0 && finding.open) { finding.stood = stands(); report(); }
};

// ---- Places -------------------------------------------------------------------------------------------------------
// The way to something that is not here: the sections to bring, and the calls to open between them.
async function reveal(id) {
  let element = byId(id);
  if (!element) {
    try {
      await walk(JSON.parse(await text('where?id=' + encodeURIComponent(id))));
    } catch {
      say('not in this session');
    }
    element = byId(id);
  }
  if (element) unfold(element);
  return element;
}
async function walk(steps) {
  let place = null;
  for (const { rows: section, call } of steps) {
    place = rows.querySelector(`.rows[data-s="${section}"]`);
    if (!place) return null;
    await bring(place);
    if (!call) continue;
    const row = byId(call);
    if (!row) return null;
    await deepen(row);
    row.open = true;
    for (const sub of all('.sub', row)) sub.open = true;
  }
  return place;
}
async function reach(section) {
  const place = rows.querySelector(`.rows[data-s="${section}"]`);
  if (!place) return walk(JSON.parse(await text('where?rows=' + section)));
  await bring(place);
  return place;
}

// The outline of a long session comes in parts too.
async function outlineOf(group) {
  if (!group.matches('[data-t]')) return;
  const html = await text(() => 'turns/' + group.dataset.t).catch(() => null);
  if (html === null || !group.matches('[data-t]')) return;
  group.removeAttribute('data-t');
  group.querySelector(':scope > .more')?.remove();
  group.insertAdjacentHTML('beforeend', html);
}
byId('tt-outline').addEventListener('toggle', ({ target }) => { if (target.open && target.matches('.span')) outlineOf(target); }, true);
async function pointless(turn) {
  const number = Number(turn.slice('turn-'.length));
  const group = all('.outline .span').find(({ dataset }) => number >= dataset.first && number <= dataset.last);
  if (!group) return;
  for (const other of all('.outline .span[open]')) if (other !== group) other.open = false;
  group.open = true;
  if (!group.matches('[data-t]')) return;
  await outlineOf(group);
  if (!group.matches('[data-t]')) point(turn);
}

// ---- Bodies -------------------------------------------------------------------------------------------------------
const filling = new Map();
function fill(row, whole) {
  const key = row.dataset.body;
  if (!key) return Promise.resolve();
  if (!filling.has(row)) filling.set(row, fillNow(row, whole ? '?all=1' : '').finally(() => filling.delete(row)));
  return filling.get(row);
}
async function fillNow(row, query) {
  const old = row.querySelector(':scope > .body');
  old?.setAttribute('aria-busy', 'true');
  let html;
  try {
    html = await text(() => row.dataset.body + query);
  } catch {
    old?.removeAttribute('aria-busy');
    return say('could not load it');
  }
  const body = document.createElement('div');
  body.className = 'body';
  body.innerHTML = html;
  // Conversations in it that are here already stay, and so do folds that somebody has opened.
  const [known, folds] = [new Map(all('.rows', old ?? body).map((place) => [place.dataset.k, place])), all('.sub', old ?? body)];
  for (const place of all('.rows', body)) if (old && known.has(place.dataset.k)) place.replaceWith(known.get(place.dataset.k));
  all('.sub', body).forEach((fold, at) => { fold.open ||= Boolean(folds[at]?.open); });
  if (old) old.replaceWith(body); else row.append(body);
  row.dataset.filled = '';
  row.toggleAttribute('data-whole', query !== '');
  for (const place of away(body)) { size(place); watcher.observe(place); }
  if (row.open && row.matches('.call')) equip(row);
  if (finding) paintUnit(row);
}
// Once more, as much as before; what is under way may be what it was.
function refill(row) {
  const again = () => fill(row, row.matches('[data-whole]'));
  if (filling.has(row)) filling.get(row).then(again); else again();
}
const filled = (row) => row.matches('[data-body]:not([data-filled])') ? fill(row, false) : Promise.resolve();
const deepen = filled;
rows.addEventListener('toggle', ({ target }) => { if (target.open && target.matches?.('.row[data-body]:not([data-filled])')) fill(target, false); }, true);
rows.addEventListener('click', async (event) => {
  const link = event.target.closest('a.all');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const row = link.closest('.row');
  await fill(row, true);
  row.querySelector(':scope > summary')?.focus({ preventScroll: true });
});
// A row's number leads to its page, and is what is copied of it.
const pageOf = (row) => row?.matches('.call') ? row.previousElementSibling?.href : null;
function openPage(row) {
  const page = pageOf(row);
  if (page) location.href = page;
}
async function copyMarkdown(row) {
  const page = pageOf(row);
  if (!page) return copyRow(row);
  try {
    const answer = await fetch(page + '.md');
    if (!answer.ok) throw new Error(String(answer.status));
    copy(await answer.text(), 'Markdown');
  } catch {
    say('could not load it');
  }
}

// ---- The menu of a row --------------------------------------------------------------------------------------------
const menu = byId('tt-menu');
let asked = null;
function openMenu() {
  if (!current?.isConnected) return say('select a row first');
  asked = current;
  const page = pageOf(asked);
  for (const item of all('[data-page]', menu)) item.hidden = !page;
  for (const link of all('a[data-page]', menu)) link.href = page ? page + link.dataset.page : '';
  const line = (asked.matches('details') ? asked.firstElementChild : asked).getBoundingClientRect();
  menu.showPopover();
  menu.style.left = Math.max(8, Math.min(line.left + 40, innerWidth - menu.offsetWidth - 8)) + 'px';
  menu.style.top = Math.max(8, Math.min(line.bottom + 2, innerHeight - menu.offsetHeight - 8)) + 'px';
  menu.querySelector('button, a')?.focus();
}
menu.addEventListener('click', (event) => {
  const act = { link: copyLink, text: copyRow, markdown: copyMarkdown }[event.target.closest('button')?.dataset.act];
  menu.hidePopover();
  if (act && asked) act(asked);
});
menu.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  event.preventDefault();
  const items = all('button, a', menu).filter((item) => !item.hidden);
  const step = event.key === 'ArrowDown' ? 1 : -1;
  items.at((items.indexOf(document.activeElement) + step) % items.length)?.focus();
});
menu.addEventListener('toggle', ({ newState }) => {
  if (newState === 'closed' && asked?.isConnected && !document.activeElement?.closest('dialog')) (asked.matches('details') ? asked.firstElementChild : asked).focus({ preventScroll: true });
});

// What stands there to be copied.
document.addEventListener('click', (event) => {
  const source = byId(event.target.closest?.('[data-copy]')?.dataset.copy ?? '');
  if (source) copy(source.textContent, 'command');
});

// ---- Find ---------------------------------------------------------------------------------------------------------
// The server finds, in rows that are not here too: { needle, found: [[section, row, times]], open, total, hidden, at, spot }.
let looking = null;
async function find(text) {
  const needle = text.toLowerCase();
  const mine = ++search;
  looking?.abort();
  finding = null;
  paint();
  note();
  if (!needle.trim()) return report();
  looking = new AbortController();
  status.textContent = '…';
  let told;
  try {
    told = await (await get('find?q=' + encodeURIComponent(text), looking.signal)).json();
  } catch {
    if (mine === search) status.textContent = 'search failed';
    return;
  }
  if (mine !== search) return;
  finding = { needle, found: told.found, chips: told.chips, spot: 0, more: told.more };
  leave();
  paint();
  report();
}
// Which of the rows that were found is the selected one.
function stands() {
  const unit = current?.isConnected && current.closest('.rows');
  const place = unit ? all(':scope > .row', unit).indexOf(current) : -1;
  return place < 0 ? -1 : finding.open.findIndex(([section, row]) => section === Number(unit.dataset.s) && row === place);
}
// Which of them is the first from where the reader stands: the selected row if it is in sight, the first row in sight otherwise.
function ahead() {
  const box = current?.isConnected && current.getBoundingClientRect();
  const top = bar.getBoundingClientRect().bottom;
  const seen = box && box.bottom > top && box.top < innerHeight;
  const from = seen ? current : all('.row', rows).find((row) => row.checkVisibility() && row.getBoundingClientRect().bottom > top);
  const unit = from?.closest('.rows');
  if (!unit) return 0;
  const place = all(':scope > .row', unit).indexOf(from);
  const after = ([section, row]) => {
    if (section === Number(unit.dataset.s)) return row >= place;
    const other = rows.querySelector(`.rows[data-s="${section}"]`);
    return other && from.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
  };
  return Math.max(0, finding.open.findIndex(after));
}
// Of what was found, only what chips leave to be seen can be gone to.
function leave() {
  const only = shown();
  const open = finding.found.filter((_, place) => !only.length || finding.chips[place].split(' ').some((name) => only.includes(name)));
  Object.assign(finding, { open, total: open.length, hidden: finding.found.length - open.length, at: -1, spots: null });
  finding.stood = stands();
}

// From match to match within a row, then on to the next row that has one.
async function match(back) {
  if (!finding || !finding.total) return;
  if (finding.old) { const { at } = finding; await find(input.value); if (!finding?.total) return; finding.at = Math.min(at, finding.total - 1); }
  const known = finding.spots?.[finding.spot + (back ? -1 : 1)];
  if (known?.startContainer.isConnected) {
    finding.spot += back ? -1 : 1;
    return put(paintHere(known), 'center');
  }
  const mine = finding;
  if (mine.at < 0) mine.at = ahead() - (back ? 0 : 1);
  mine.at = (mine.at + (back ? -1 : 1) + mine.total) % mine.total;
  mine.spots = null;
  report();
  const [section, place] = mine.open[mine.at];
  const unit = await reach(section).catch(() => null);
  const row = unit && all(':scope > .row', unit)[place];
  if (!row || mine !== finding) return;
  unfold(row);
  if (row.matches('details')) row.open = true;
  await filled(row);
  let spots = ranges(row, mine.needle);
  if (!spots.length && row.dataset.body) { await fill(row, true); spots = ranges(row, mine.needle); }
  if (mine !== finding) return;
  // Whoever types goes on typing.
  choose(row);
  row.classList.add('here');
  mark(row);
  note();
  if (!spots.length) { say('in a part that is not loaded: open its page'); return put(row.matches('details') ? row.firstElementChild : row, 'center'); }
  mine.spots = spots;
  mine.spot = back ? spots.length - 1 : 0;
  put(paintHere(spots[mine.spot]), 'center');
}

// ---- Keys ---------------------------------------------------------------------------------------------------------
const follow = (rel) => { const link = document.querySelector(`a[rel="${rel}"]`); if (link) location.href = link.href; else say(rel === 'prev' ? 'no previous session' : 'no next session'); };
const ACTS = {
  m: () => { if (current) copyMarkdown(current); else say('select a row first'); },
  '.': openMenu,
  i: () => document.querySelector('.chip[data-show="important"]')?.click(),
  f: () => (document.querySelector('.chip[aria-current]') ?? chips()[0])?.focus(),
  w: () => { location.href = `${base}/waterfall` + (current?.isConnected ? '?at=' + encodeURIComponent(anchor(current)) : ''); },
  '[': () => follow('prev'), ']': () => follow('next'),
};

// Links to what is on this page: those sections need not be loaded anew.
document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href]');
  if (!link || link.pathname !== location.pathname || link.host !== location.host || !link.hash || link.closest('.bar, .skip')) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  byId('tt-drawer').checked = false;
  let id = link.hash.slice(1);
  try { id = decodeURIComponent(id); } catch { /* as it is written */ }
  if (id !== hashId()) history.pushState(null, '', address(id, false));
  go(id, true);
});
addEventListener('popstate', () => {
  const query = new URLSearchParams(location.search);
  const names = (query.get('show') ?? '').split(',').filter((name) => codes().has(name) && name);
  if (names.join(' ') !== shown().join(' ')) showOnly(names);
  const wanted = query.get('find') ?? '';
  if (wanted !== input.value) { input.value = wanted; find(wanted); }
  if (!current?.isConnected || hashId() !== anchor(current)) followHash();
});

// The summary of a long session takes a while.
async function digest() {
  const place = byId('tt-digest');
  if (!place?.matches('[aria-busy]')) return;
  try {
    summarise(place, await text('digest'));
    place.removeAttribute('aria-busy');
  } catch {
    place.textContent = FAILED;
  }
}

// The summary stays as open as the reader wants it, on every session.
function summarise(place, html) {
  place.innerHTML = html;
  unfoldSummary();
}
function unfoldSummary() {
  const fold = document.querySelector('#tt-digest > .summary');
  if (fold) fold.open = saved('tt-summary') === 'open';
}
byId('tt-digest')?.addEventListener('toggle', ({ target }) => {
  if (target.matches('.summary')) save('tt-summary', target.open ? 'open' : 'folded');
}, true);

// Paper has only what is here, and says so.
addEventListener('beforeprint', () => {
  byId('tt-unloaded')?.remove();
  const left = away().filter((place) => !place.hidden).reduce((sum, place) => sum + Number(place.dataset.c ?? 0), 0);
  if (!left) return;
  const text = `${left.toLocaleString('en')} rows are not loaded and not printed. To print all of them, export the session as a web page and print that.`;
  rows.before(Object.assign(document.createElement('p'), { id: 'tt-unloaded', textContent: text }));
});

// The frame's own controls.
document.querySelector('.frame .help')?.addEventListener('click', (event) => { event.preventDefault(); help.showModal(); });
for (const name of THEMES) byId('tt-' + name)?.addEventListener('change', () => { setTheme(name); save('tt-theme', name); });

// The bar may take two lines; what is scrolled to stands below it, and on small screens its first line scrolls away.
new ResizeObserver(() => {
  const above = parseFloat(getComputedStyle(bar).top) || 0;
  root.style.setProperty('--bar', Math.round(bar.offsetHeight + above) + 'px');
}).observe(bar);

function begun() {
  count(all(':scope > .rows', rows));
  for (const place of all(':scope > .rows:not(.away)', rows)) watching.observe(place);
  unfoldSummary();
  digest();
  settled(rows);
  if (input.value) find(input.value);
}
