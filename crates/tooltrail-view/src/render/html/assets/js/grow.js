// ---- Growing ------------------------------------------------------------------------------------------------------
// The session may go on while it is read. Then the server sends the list of its sections, and the rows of loaded sections that have
// changed; the page takes them over, and nothing in sight moves.
const newer = byId('tt-new');
const told = byId('tt-told');
const keyOf = (place) => place.dataset.k;
const printOf = (place) => place.firstChild?.nodeType === 8 ? place.firstChild.data : '';
let outlined = '';

// Numbers the sections of the main conversation; those of subagents come with a key.
function count(within) {
  let number = 0;
  for (const place of within) place.dataset.k ??= 'main-' + number++;
}

let growing = null;
let more = false;
let rested = 0;
let grown = false;
let failed = 0;
// Whether a section was loaded while the page changed its version, and is still of the old one.
let behind = false;
function grow() {
  if (growing) { more = true; return growing; }
  growing = (async () => {
    // Updates take at most half of the time; the rest is for scrolling.
    await pause(Math.max(0, rested - performance.now()));
    more = false;
    const start = performance.now();
    try {
      const have = all('.rows:not(.away)', rows).map((place) => `${keyOf(place)}:${printOf(place)}`).join(',');
      const query = new URLSearchParams({ have, outline: outlined, show: shown().join(',') });
      const answer = await fetch(`${base}/live?${query}`);
      if (answer.status === 404) return lose();
      if (!answer.ok) throw new Error(String(answer.status));
      const news = await answer.json();
      if (news.v !== version || behind) learn(news);
      failed = 0;
    } catch {
      // Asks again by itself: if the session changes no more, no event would cause another update.
      failed = Math.min(failed + 1, 10);
      setTimeout(grow, failed * 1000);
    }
    rested = performance.now() + Math.max(60, performance.now() - start);
  })().finally(() => { growing = null; if (more) grow(); });
  return growing;
}

function learn(news) {
  const [following, seen] = [follows, sight()];
  const [before, calls] = [total(), Number(rows.dataset.calls ?? news.calls)];
  version = rows.dataset.v = news.v;
  rows.dataset.calls = news.calls;
  grown = true;
  byId('tt-lost')?.remove();
  around(news);
  sections(news.sections);
  const prints = new Map(news.sections.map(([key, , , , , , print]) => [key, print]));
  behind = false;
  for (const place of all('.rows:not(.away)', rows)) {
    const html = news.rows[keyOf(place)];
    if (html !== undefined) { alike(place, html, prints.get(keyOf(place))); ready(place); }
    behind ||= prints.has(keyOf(place)) && printOf(place) !== prints.get(keyOf(place));
  }
  more ||= behind;
  if (finding) findAgain();
  digestLater();
  keep(seen);
  const added = total() - before;
  if (following && added > 0) toEnd(); else if (added) announce(added);
  speak(news.calls - calls);
}

// Repeats the search, because rows have new numbers and there may be more matches. The current match stays the current one.
let finds = null;
function findAgain() {
  finding.old = true;
  finds ??= setTimeout(async () => {
    finds = null;
    if (!finding?.old) return;
    const { at, spot, spots } = finding;
    await find(input.value);
    if (finding) { Object.assign(finding, { at: Math.min(at, finding.total - 1), spot, spots }); report(); }
  }, 600);
}

// Number of rows that the chips show, loaded or not.
const total = () => all(':scope > .rows', rows).reduce((sum, place) => {
  const only = shown();
  if (!only.length) return sum + Number(place.dataset.c ?? 0);
  const [has, code] = [counts(place), codes()];
  return sum + only.reduce((all, name) => all + (has.get(code.get(name)) ?? 0), 0);
}, 0);

// ---- Sections and rows ----
function sections(list) {
  const known = new Map(all('.rows', rows).map((place) => [keyOf(place), place]));
  const thread = (key) => key.slice(0, key.lastIndexOf('-'));
  const ends = new Map([...known].map(([key, place]) => [thread(key), place]));
  const left = new Set(known.keys());
  let last = null;
  for (const [key, number, amount, chip, height, turn, , onPage] of list) {
    // A subagent's conversation that is shown goes on in its call; any other comes when its call is opened.
    if (!known.has(key) && !onPage && !ends.has(thread(key))) continue;
    const place = known.get(key) ?? fresh(number, amount, onPage ? last : ends.get(thread(key)));
    const grows = place.dataset.c !== String(amount);
    // Only changed values are written: the browser computes styles anew after each.
    for (const [name, value] of Object.entries({ k: key, s: number, c: amount, n: chip, turn })) {
      if (value === null) delete place.dataset[name]; else if (place.dataset[name] !== String(value)) place.dataset[name] = value;
    }
    if (place.matches('.away') && grows) { place.dataset.h = height; size(place); }
    left.delete(key);
    ends.set(thread(key), place);
    if (onPage) last = place;
  }
  for (const key of left) known.get(key).remove();
}
// Adds an empty section for new rows, behind another section.
function fresh(number, amount, before) {
  const place = Object.assign(document.createElement('section'), { className: 'rows away' });
  place.append(Object.assign(document.createElement('a'), { href: '?rows=' + number, textContent: `${amount} rows` }));
  if (before) before.after(place); else rows.prepend(place);
  watcher.observe(place);
  return place;
}

// Replaces the rows of a section by new ones, keeping those that are the same.
function alike(place, html, print) {
  const came = document.createElement('template');
  came.innerHTML = html;
  const name = (node) => node.id || 'nr ' + node.nextElementSibling?.id;
  const known = new Map([...place.children].map((node) => [name(node), node]));
  if (printOf(place)) place.firstChild.data = print; else place.prepend(document.createComment(print));
  let at = place.firstChild.nextSibling;
  for (const node of [...came.content.children]) {
    const same = known.get(name(node));
    if (!same) { place.insertBefore(node, at); continue; }
    known.delete(name(node));
    if (same !== at) place.insertBefore(same, at);
    at = same.nextSibling;
    const stays = renew(same, node);
    if (stays !== same) at = stays.nextSibling;
  }
  for (const node of known.values()) node.remove();
}
function renew(old, node) {
  if (old.matches('details.row') && node.matches('details.row')) return renewFold(old, node);
  const chosen = old === current;
  node.classList.toggle('here', old.classList.contains('here'));
  // A message that the reader has opened to its whole length stays open.
  if (old.isEqualNode(node) || old.matches('.msg[data-filled]')) return old;
  const focus = old === document.activeElement;
  old.replaceWith(node);
  if (chosen) choose(node);
  if (focus) node.focus({ preventScroll: true });
  return node;
}
function renewFold(old, node) {
  const [was, is] = [old.firstElementChild, node.firstElementChild];
  const here = old.classList.contains('here');
  for (const name of ['class', 'data-body', 'data-in']) {
    if (node.hasAttribute(name)) old.setAttribute(name, node.getAttribute(name)); else old.removeAttribute(name);
  }
  old.classList.toggle('here', here);
  if (was.isEqualNode(is)) return old;
  was.title = is.title;
  was.replaceChildren(...is.childNodes);
  // The head of the call has changed, so its body has too.
  if (!old.matches('[data-filled]')) return old;
  if (old.open) refill(old); else delete old.dataset.filled;
  return old;
}

// Says that the logs are gone, and that no more than the loaded rows can be shown.
function lose() {
  if (byId('tt-lost')) return;
  const said = Object.assign(document.createElement('p'), { id: 'tt-lost', textContent: 'The logs of this session are gone. What is here was read before.' });
  said.setAttribute('role', 'status');
  rows.before(said);
}

// ---- Around the rows ----
function around({ title, state, about, chips: bar, end, outline }) {
  const heading = document.querySelector('.top h1');
  if (heading.textContent !== title) heading.textContent = title;
  const put = (old, html) => { if (old && old.outerHTML !== html) old.outerHTML = html; };
  put(document.querySelector('.top .state'), state);
  put(document.querySelector('.top .about'), about);
  put(byId('tt-end'), end);
  const filters = byId('tt-filters');
  const [menu, focus] = [filters.querySelector('.menu')?.open, document.activeElement?.closest('#tt-filters .chip')?.dataset.show];
  put(filters, bar);
  if (menu) byId('tt-filters').querySelector('.menu').open = true;
  if (focus !== undefined) all('#tt-filters .chip').find((chip) => chip.dataset.show === focus)?.focus({ preventScroll: true });
  for (const button of [byId('tt-bad-prev'), byId('tt-bad-next')]) button.disabled = !document.querySelector('#tt-filters .chip.bad');
  if (!outline) return;
  [, outlined] = outline;
  const came = new DOMParser().parseFromString(outline[0], 'text/html').body.firstElementChild;
  renewOutline(byId('tt-outline'), came);
}
function renewOutline(old, came) {
  const turns = (nav) => nav.querySelector(':scope > .turns');
  if (turns(old) && turns(came)) return renewTurns(turns(old), turns(came));
  const spans = new Map(all(':scope > .span', old).map((span) => [span.dataset.first, span]));
  // The session has grown long enough for an outline in groups.
  if (!spans.size) return old.replaceChildren(...came.childNodes);
  for (const span of all(':scope > .span', came)) {
    const known = spans.get(span.dataset.first);
    if (!known) { span.open = false; old.append(span); continue; }
    if (known.dataset.last === span.dataset.last) continue;
    known.dataset.last = span.dataset.last;
    known.firstElementChild.replaceWith(span.firstElementChild);
    known.dataset.t ??= span.dataset.t ?? [...spans.values()].indexOf(known);
    known.querySelector(':scope > .turns')?.remove();
    if (known.open) outlineOf(known);
  }
}
function renewTurns(old, came) {
  const items = [...old.children];
  [...came.children].forEach((item, place) => {
    const [link, fresh] = [items[place]?.firstElementChild, item.firstElementChild];
    if (!link) old.append(item);
    else if (link.innerHTML !== fresh.innerHTML) { link.innerHTML = fresh.innerHTML; items[place].className = item.className; }
  });
  items.slice(came.children.length).forEach((item) => item.remove());
}

// Fetches the digest with a delay, because it takes the server longer than anything else.
let digesting = null;
let cost = 0;
function digestLater() {
  digesting ??= setTimeout(async () => {
    const [start, of] = [performance.now(), version];
    const html = await text('digest').catch(() => null);
    cost = performance.now() - start;
    const place = byId('tt-digest');
    if (html !== null && place && place.innerHTML !== html) { const seen = sight(); place.innerHTML = html; place.removeAttribute('aria-busy'); keep(seen); }
    digesting = null;
    if (version !== of) digestLater();
  }, Math.max(700, 8 * cost));
}

// ---- The reader's position ----
// The first row in sight with its position; `null` above the rows.
function sight() {
  const top = bar.getBoundingClientRect().bottom;
  if (rows.getBoundingClientRect().top > top) return null;
  const place = all(':scope > .rows', rows).find((one) => one.getBoundingClientRect().bottom > top);
  const row = place && [...place.children].find((one) => one.getBoundingClientRect().bottom > top) || place;
  return row && { row, place, top: row.getBoundingClientRect().top };
}
function keep(seen) {
  if (!seen) return;
  const row = seen.row.isConnected ? seen.row : seen.place.isConnected ? seen.place : null;
  const moved = row ? row.getBoundingClientRect().top - seen.top : 0;
  if (Math.abs(moved) >= 1) scrollBy({ top: moved, behavior: 'instant' });
}

// At the end of the page the view follows new rows until the reader scrolls up; elsewhere a button shows their number.
const NEAR_END = 200;
const toGo = () => byId('tt-end').getBoundingClientRect().bottom - innerHeight;
let follows = toGo() < NEAR_END;
let height = scrollY;
addEventListener('scroll', () => {
  follows = toGo() < (scrollY < height ? 4 : NEAR_END);
  height = scrollY;
  if (unread && follows) announce(-unread);
}, { passive: true });
async function toEnd() {
  announce(-unread);
  follows = true;
  const last = all(':scope > .rows', rows).filter((place) => !place.hidden).at(-1);
  if (last) await bring(last);
  scrollTo({ top: root.scrollHeight, behavior: 'instant' });
}
let unread = 0;
function announce(added) {
  unread = Math.max(0, unread + added);
  newer.textContent = `${unread.toLocaleString('en')} new ↓`;
  newer.setAttribute('aria-label', `${unread.toLocaleString('en')} new ${unread === 1 ? 'row' : 'rows'}: to the end`);
  newer.hidden = !unread;
}
newer.addEventListener('click', toEnd);

// Announces new calls to screen readers, at most every ten seconds.
let spoken = -Infinity;
let unsaid = 0;
function speak(calls) {
  unsaid += Math.max(0, calls);
  if (!unsaid || performance.now() - spoken < 10000) return;
  spoken = performance.now();
  told.textContent = unsaid === 1 ? '1 new tool call' : `${unsaid.toLocaleString('en')} new tool calls`;
  unsaid = 0;
}

document.addEventListener('tt-session', grow);
