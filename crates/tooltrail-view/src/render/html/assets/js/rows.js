// Rows: which one is selected, moving between them, the outline. Some rows are not here yet: what says `AWAY` is a place for them, and
// `bring` brings them. Where they come from is up to the page.
const rows = byId('tt-rows');
const bar = document.querySelector('.bar');
const status = byId('tt-found');
if (THEMES.includes(theme)) setTheme(theme);

const away = (within = rows) => all(AWAY, within);

// ---- Places -------------------------------------------------------------------------------------------------------
function unfold(element) {
  // A page may have lines in place of several rows.
  if (element.matches('.q, .q *')) loud(element.closest('.q'));
  for (let up = element.parentElement?.closest('details'); up; up = up.parentElement.closest('details')) up.open = true;
}

async function go(id, open) {
  const element = await reveal(id);
  // Where the rows themselves are meant, there is none to select.
  if (!element || element === rows || !rows.contains(element)) return;
  if (open && element.matches('details')) element.open = true;
  show(element, 'start');
}

const pause = (time) => new Promise((done) => setTimeout(done, time));
// Heights around it may still change while rows come in, so the place is put right until nothing moves any more.
let putting = 0;
async function put(target, block) {
  const mine = ++putting;
  for (let still = 0, round = 0; still < 8 && round < 100 && mine === putting && target.isConnected; round++) {
    const before = target.getBoundingClientRect().top;
    target.scrollIntoView({ block, behavior: 'instant' });
    still = Math.abs(target.getBoundingClientRect().top - before) < 2 && !bringing() ? still + 1 : 0;
    await pause(40);
  }
}
for (const kind of ['wheel', 'touchmove', 'mousedown']) addEventListener(kind, () => putting++, { passive: true });

function show(element, block = 'nearest') {
  select(element);
  return put(element.matches('details') ? element.firstElementChild : element, block);
}

function hashId() {
  const id = location.hash.slice(1);
  try { return decodeURIComponent(id); } catch { return id; }
}
function followHash() {
  const id = hashId();
  if (id) go(id, true);
}
addEventListener('hashchange', followHash);

// ---- The selected row ---------------------------------------------------------------------------------------------
let current = null;
function choose(element) {
  current?.classList.remove('here');
  current = element;
}
function select(element) {
  choose(element);
  element.classList.add('here');
  const focus = element.matches('details') ? element.firstElementChild : element;
  focus.focus({ preventScroll: true });
  mark(element);
  chosen(element);
}

// The outline shows where the reader is.
function mark(element) {
  const before = (one) => one === element || one.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING;
  const section = element.closest('.transcript > .rows');
  const within = section?.dataset.turn ? all(':scope > .turn', section) : all('.turn');
  const heading = within.filter(before).at(-1);
  if (heading) point(heading.id);
  else if (section?.dataset.turn) point('turn-' + section.dataset.turn);
}
function point(turn) {
  const link = document.querySelector(`.turns a[href$="#${turn}"]`);
  if (!link) return pointless(turn);
  if (link.hasAttribute('aria-current')) return;
  for (const other of all('.turns a[aria-current]')) other.removeAttribute('aria-current');
  link.setAttribute('aria-current', 'true');
  const nav = byId('tt-outline');
  if (!nav.checkVisibility() || !link.checkVisibility()) return;
  const [box, within] = [link.getBoundingClientRect(), nav.getBoundingClientRect()];
  if (box.top < within.top || box.bottom > within.bottom) nav.scrollTop += box.top - within.top - within.height / 3;
}
// Scrolling moves it too: the first heading in sight, or, when one left at the foot, the one before it.
const sighted = new Set();
const turns = new IntersectionObserver((seen) => {
  let left = null;
  for (const { target, isIntersecting, boundingClientRect, rootBounds } of seen) {
    if (isIntersecting) { sighted.add(target); continue; }
    if (sighted.delete(target) && rootBounds && boundingClientRect.top >= rootBounds.bottom) left = target;
  }
  for (const heading of sighted) if (!heading.isConnected) sighted.delete(heading);
  // What was chosen stays chosen while it can be seen.
  const box = current?.isConnected && current.getBoundingClientRect();
  if (box && box.bottom > 0 && box.top < innerHeight) return;
  const number = (heading) => Number(heading.id.slice('turn-'.length));
  const first = [...sighted].sort((one, other) => number(one) - number(other))[0];
  const top = document.querySelector('.turns a');
  if (first) point(first.id);
  // What stands above the first turn may be higher than the screen.
  else if (!scrollY && top) point(top.hash.slice(1));
  else if (left) point('turn-' + (number(left) - 1));
}, { rootMargin: '-48px 0px -60% 0px' });

// ---- Moving -------------------------------------------------------------------------------------------------------
// Where moving starts when nothing is selected: the first row in sight.
function start(back) {
  if (current?.isConnected) return current;
  const top = bar.getBoundingClientRect().bottom;
  const seen = all('.row, .turn', rows).filter((row) => row.checkVisibility?.() !== false);
  const first = seen.findIndex((row) => row.getBoundingClientRect().bottom > top);
  return (back ? seen[first] : seen[first - 1]) || null;
}

// The next element that matches, bringing rows on the way. `kind` says which places may hold one; `hidden`, that folds do not count.
async function next(wanted, back, kind, hidden) {
  const from = start(back);
  const take = (element) => element.matches(wanted) || element.matches(AWAY) || (hidden && element.matches(DEEP));
  const walker = document.createTreeWalker(rows, NodeFilter.SHOW_ELEMENT, (element) => take(element) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP);
  if (from && rows.contains(from)) walker.currentNode = from;
  for (;;) {
    const before = walker.currentNode;
    const element = back ? walker.previousNode() : walker.nextNode();
    if (!element) return null;
    if (element.matches(AWAY)) {
      if (!may(element, kind) || (!hidden && !element.checkVisibility())) continue;
      await bring(element);
      if (!element.matches(AWAY)) walker.currentNode = before;
      continue;
    }
    // What is in a call that was never opened is not here either.
    if (hidden && element.matches(DEEP) && may(element, kind)) {
      await deepen(element);
      if (!element.matches(DEEP)) { walker.currentNode = before; continue; }
    }
    if (!element.matches(wanted)) continue;
    if (back && element.contains(from) && element !== from && !hidden) return element;
    if (hidden ? !filtered(element) : element.checkVisibility()) return element;
  }
}
// Whether a filter hides it, rather than a fold.
const filtered = (element) => { for (let up = element; up && up !== rows; up = up.parentElement) if (getComputedStyle(up).display === 'none') return true; return false; };

const moves = {
  row: (back) => next('.row', back, 'row', false),
  turn: (back) => next('.turn', back, 'turn', false),
  bad: (back) => next('.row.bad', back, 'bad', true),
  edit: (back) => next('.k-edit, .k-write', back, 'edit', true),
};
async function move(kind, back) {
  const element = await moves[kind](back);
  if (!element) return say(back ? 'none before' : 'none after');
  unfold(element);
  if (kind !== 'row' && element.matches('details')) element.open = true;
  show(element, kind === 'row' ? 'nearest' : 'start');
}

function openTurn() {
  const turn = current || start(false);
  let from = turn?.matches?.('.turn') ? turn : null;
  for (const one of all('.turn')) if (turn && one.compareDocumentPosition(turn) & Node.DOCUMENT_POSITION_FOLLOWING) from = one;
  const after = from && all('.turn').find((one) => from.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);
  const calls = all('.call', rows).filter((call) => (!from || from.compareDocumentPosition(call) & Node.DOCUMENT_POSITION_FOLLOWING)
    && (!after || after.compareDocumentPosition(call) & Node.DOCUMENT_POSITION_PRECEDING));
  const open = calls.some((call) => !call.open);
  for (const call of calls) call.open = open;
}

// Rows that have just come: places among them, headings, open calls, what was found.
function ready(within) {
  for (const place of away(within)) { size(place); watcher.observe(place); }
  for (const heading of all('.turn', within)) turns.observe(heading);
  for (const call of all('.call[open]', within)) equip(call);
  settled(within);
  if (finding && within !== rows) for (const unit of [within, ...all('.rows', within)]) paintUnit(unit);
}
