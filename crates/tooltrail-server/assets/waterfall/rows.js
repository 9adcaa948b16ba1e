// Rows: names beside the bars. Only those that can be seen are there, and one that is selected.
const folded = new Set();
const keyOf = (line) => line < 0 ? 'h' + told.heads[-1 - line].turn + '.' + told.heads[-1 - line].text : 'c' + told.calls.index[line];
const holds = (line) => line < 0 ? told.heads[-1 - line].past > told.heads[-1 - line].place : told.calls.past[line] > line + 1;

// Which lines there are: calls by their place, headings below zero.
function layOut() {
  const found = [];
  const { calls, heads } = told;
  let head = 0;
  for (let place = 0; place <= calls.count;) {
    let past = null;
    for (; head < heads.length && heads[head].place <= place; head++) {
      found.push(-1 - head);
      if (folded.has(keyOf(-1 - head))) past = Math.max(past ?? 0, heads[head].past);
    }
    if (place === calls.count) break;
    if (past !== null && past > place) { place = past; continue; }
    found.push(place);
    place = folded.has(keyOf(place)) ? calls.past[place] : place + 1;
  }
  lines = Int32Array.from(found);
  list.style.height = lines.length * ROW + 'px';
}

// Where there are many calls, what they are about comes when somebody comes near.
async function bringTitles(from, to) {
  const mine = told;
  for (let section = Math.floor(from / mine.section); section <= Math.floor(to / mine.section); section++) {
    if (mine.asked.has(section) || section * mine.section >= mine.count) continue;
    mine.asked.add(section);
    const answer = await fetch(`${base}/waterfall/titles/${section}?v=${mine.v}`).catch(() => null);
    if (mine !== told) return;
    if (answer?.status === 409) return load();
    if (!answer?.ok) { mine.asked.delete(section); return; }
    (await answer.json()).forEach((title, at) => { mine.calls.title[section * mine.section + at] = title; });
    if (mine !== told) return;
    for (const [line, row] of shown) if (lines[line] >= 0 && Math.floor(lines[line] / mine.section) === section) entitle(row, lines[line]);
  }
}
function entitle(row, place) {
  const title = told.calls.title[place] ?? '';
  row.querySelector('.t').textContent = title;
  row.title = `${told.tools[told.calls.tool[place]][0]} ${title}\n${about(place)}`;
}
let nearing = 0;

const shown = new Map();
function drawRows() {
  const { scrollTop } = scroll;
  const [first, last] = [Math.max(0, Math.floor(scrollTop / ROW) - 6), Math.min(lines.length, Math.ceil((scrollTop + high) / ROW) + 6)];
  for (const [line, row] of shown) if (line < first || line >= last) { row.remove(); shown.delete(line); }
  for (let line = first; line < last; line++) {
    if (shown.has(line)) continue;
    const row = makeRow(line);
    shown.set(line, row);
    list.append(row);
  }
  if (!told.section) return;
  const places = lines.subarray(first, last).filter((what) => what >= 0);
  // Whoever only passes needs none.
  clearTimeout(nearing);
  if (places.length) nearing = setTimeout(() => bringTitles(places[0], places.at(-1)), 40);
}
function redrawRows() {
  for (const row of shown.values()) row.remove();
  shown.clear();
}

const element = (name, className, text) => Object.assign(document.createElement(name), { className, textContent: text });
function makeRow(line) {
  const what = lines[line];
  const row = element('div', 'wf-row', '');
  row.setAttribute('role', 'treeitem');
  row.id = 'tt-line-' + line;
  row.dataset.line = line;
  row.style.top = line * ROW + 'px';
  const open = holds(what) ? !folded.has(keyOf(what)) : null;
  row.setAttribute('aria-posinset', line + 1);
  row.setAttribute('aria-setsize', lines.length);
  if (open !== null) row.setAttribute('aria-expanded', open);
  row.setAttribute('aria-selected', what === selected());
  const twist = element('span', 'twist', open === null ? '' : open ? '▾' : '▸');
  twist.setAttribute('aria-hidden', 'true');
  if (what < 0) headRow(row, told.heads[-1 - what], twist); else callRow(row, what, twist, open);
  return row;
}
function headRow(row, head, twist) {
  row.classList.add('head');
  row.setAttribute('aria-level', 1);
  const count = head.past - head.place;
  row.append(twist, element('span', 'n', head.turn || ''), element('span', 't', head.text || 'no prompt'), element('span', 'c', count ? count.toLocaleString('en') : ''));
  row.title = `${head.turn ? 'Turn ' + head.turn + ': ' : ''}${head.text}\n${head.time === null ? '' : day(head.time) + ' ' + clock(head.time) + ' · '}${count} ${count === 1 ? 'call' : 'calls'}`;
}
function callRow(row, place, twist, open) {
  const { calls } = told;
  const [word, glyph, tone] = told.statuses[calls.status[place]];
  const [tool] = told.tools[calls.tool[place]];
  row.classList.add('tone-' + tone, 'd' + Math.min(4, calls.depth[place]));
  row.setAttribute('aria-level', calls.depth[place] + 2);
  const sign = element('span', 'sign', glyph);
  sign.setAttribute('aria-hidden', 'true');
  row.append(twist, element('span', 'n', calls.number[place]), sign, element('b', '', tool), element('span', 't', ''));
  const together = calls.parallel[place];
  if (together !== '.') row.append(element('span', 'par', together === '+' ? '∥' : '∥ ' + parseInt(together, 36)));
  if (open === false) row.append(element('span', 'c', '+' + (calls.past[place] - place - 1).toLocaleString('en')));
  row.append(element('span', 'vh', ', ' + about(place)));
  entitle(row, place);
}
// A call in words: what is drawn, for those who do not see it.
function about(place) {
  const { calls } = told;
  const [word] = told.statuses[calls.status[place]];
  const said = [calls.why.get(place) ?? word];
  if (Number.isNaN(calls.start[place])) said.push('no time in the log');
  else said.push((calls.moment.has(place) ? 'known only at ' : 'from ') + clock(calls.start[place], 'milli'));
  if (calls.took[place] !== null) said.push((calls.atMost.has(place) ? 'at most ' : 'took ') + took(calls.took[place]) + (calls.waits.has(place) ? ' (includes waiting for approval, if any)' : ''));
  else if (!calls.moment.has(place) && word !== 'running' && !Number.isNaN(calls.start[place])) said.push('no end in the log');
  if (!Number.isNaN(calls.ran[place])) said.push(`ran ${took(calls.ran[place])}, waited ${took(Math.max(0, calls.took[place] - calls.ran[place]))}`);
  if (calls.person.has(place)) said.push(word === 'running' ? 'waiting for you' : 'you were asked');
  const together = calls.parallel[place];
  if (together !== '.' && together !== '+') said.push(`${parseInt(together, 36)} calls in parallel`);
  return said.join(', ');
}

// ---- The selected row ---------------------------------------------------------------------------------------------
// By its name, which stays when rows come and go.
let chosen = null;
const selected = () => { const line = lineOf(chosen); return line < 0 ? null : lines[line]; };
let known = new Map();
function lineOf(key) {
  if (key === null) return -1;
  if (known.lines !== lines) {
    known = new Map();
    lines.forEach((what, line) => known.set(keyOf(what), line));
    known.lines = lines;
  }
  return known.get(key) ?? -1;
}
function choose(line, scrolls = true) {
  if (line < 0 || line >= lines.length) return;
  shown.get(lineOf(chosen))?.setAttribute('aria-selected', 'false');
  chosen = keyOf(lines[line]);
  if (scrolls) bringIn(line);
  drawRows();
  const row = shown.get(line);
  row?.setAttribute('aria-selected', 'true');
  scroll.setAttribute('aria-activedescendant', 'tt-line-' + line);
  if (lines[line] >= 0) open(lines[line]);
  request();
  note();
}
// Scrolls as far as it takes, up or down and in time.
function bringIn(line) {
  const top = line * ROW;
  if (top < scroll.scrollTop) scroll.scrollTop = top - ROW;
  else if (top + ROW > scroll.scrollTop + high) scroll.scrollTop = top + 2 * ROW - high;
  const start = lines[line] < 0 ? told.heads[-1 - lines[line]].time ?? NaN : told.calls.start[lines[line]];
  if (Number.isNaN(start)) return;
  const place = x(start);
  if (place < 0 || place > scale.width - 40) { scale.left += place - scale.width / 3; keepIn(scale); }
}
function step(by) {
  const line = lineOf(chosen);
  choose(line < 0 ? Math.floor(scroll.scrollTop / ROW) : Math.max(0, Math.min(lines.length - 1, line + by)));
}
function problem(back) {
  const bad = (what) => what >= 0 && told.statuses[told.calls.status[what]][3];
  const { calls } = told;
  const here = selected();
  const from = here === null ? (back ? calls.count : -1) : here < 0 ? told.heads[-1 - here].place - (back ? 0 : 1) : here;
  for (let place = from + (back ? -1 : 1); place >= 0 && place < calls.count; place += back ? -1 : 1) {
    if (!bad(place)) continue;
    reveal(place);
    return choose(lineOf('c' + calls.index[place]));
  }
  say(back ? 'No previous problem.' : 'No next problem.');
}
// Unfolds what a call stands in.
function reveal(place) {
  let changed = false;
  const head = told.heads.findLastIndex((head) => head.place <= place);
  if (head >= 0) changed = folded.delete(keyOf(-1 - head));
  for (let up = place; up >= 0; up--) if (told.calls.past[up] > place && up !== place) changed = folded.delete(keyOf(up)) || changed;
  if (changed) refold();
}
function refold() {
  layOut();
  redrawRows();
  drawRows();
  request();
}
function toggle(line) {
  if (line < 0 || !holds(lines[line])) return;
  const key = keyOf(lines[line]);
  if (!folded.delete(key)) folded.add(key);
  refold();
}

// ---- What is in it ------------------------------------------------------------------------------------------------
let opening = null;
let waiting = 0;
function open(place) {
  opening?.abort();
  clearTimeout(waiting);
  const mine = opening = new AbortController();
  waiting = setTimeout(async () => {
    side.setAttribute('aria-busy', 'true');
    try {
      const answer = await fetch(`${base}/waterfall/call/${told.calls.index[place]}?v=${told.v}`, { signal: mine.signal });
      if (answer.status === 409) return load();
      if (!answer.ok) throw new Error(String(answer.status));
      side.innerHTML = await answer.text();
      side.scrollTop = 0;
    } catch {
      if (mine.signal.aborted) return;
      side.textContent = 'Could not load it. Select it again.';
    } finally {
      if (mine === opening) side.removeAttribute('aria-busy');
    }
  }, 90);
}
