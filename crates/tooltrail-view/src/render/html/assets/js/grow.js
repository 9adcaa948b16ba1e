// ---- Growing ------------------------------------------------------------------------------------------------------
// The session may go on while it is read. Then the server tells what sections there are now, and the rows of those that are here and not
// as they were; what is here becomes like that, and nothing moves that somebody looks at.
const newer = byId('tt-new');
const told = byId('tt-told');
const keyOf = (place) => place.dataset.k;
const printOf = (place) => place.firstChild?.nodeType === 8 ? place.firstChild.data : '';
let outlined = '';

// Sections of the main conversation are counted; those of others say whose they are.
function count(within) {
  let number = 0;
  for (const place of within) place.dataset.k ??= 'main-' + number++;
}

let growing = null;
let more = false;
let rested = 0;
let grown = false;
let failed = 0;
// Whether a section is here that came while the page was becoming another version.
let behind = false;
function grow() {
  if (growing) { more = true; return growing; }
  growing = (async () => {
    // Half of the time is left to whoever scrolls.
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
      // Nothing may change any more that would ask again.
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

// What was found has other numbers then, and there may be more of it. Whoever goes from match to match goes on from the one they are at.
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

// How many rows there are, of those that are shown.
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
  for (const [key, number, amount, chip, height, turn, , onPage, marks] of list) {
    // A conversation in a call that is open goes on there; others come when their call is opened.
    if (!known.has(key) && !onPage && !ends.has(thread(key))) continue;
    const place = known.get(key) ?? fresh(number, amount, onPage ? last : ends.get(thread(key)));
    const grows = place.dataset.c !== String(amount);
    // What is written is looked at again by the browser, so only what is another is.
    for (const [name, value] of Object.entries({ k: key, s: number, c: amount, n: chip, turn, m: marks })) {
      if (value === null) delete place.dataset[name]; else if (place.dataset[name] !== String(value)) place.dataset[name] = value;
    }
    if (place.matches('.away') && grows) { place.dataset.h = height; size(place); }
    left.delete(key);
    ends.set(thread(key), place);
    if (onPage) last = place;
  }
  for (const key of left) known.get(key).remove();
}
// A place for rows that have just come, behind another.
function fresh(number, amount, before) {
  const place = Object.assign(document.createElement('section'), { className: 'rows away' });
  place.append(Object.assign(document.createElement('a'), { href: '?rows=' + number, textContent: `${amount} rows` }));
  if (before) before.after(place); else rows.prepend(place);
  watcher.observe(place);
  return place;
}

// Makes the rows of a section like those that came.
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
  // What somebody has opened to its whole length stays so.
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
  // A call at work may print more while its line stays the same.
  const [before, now] = [old.dataset.progress, node.dataset.progress];
  for (const name of ['class', 'data-body', 'data-in', 'data-progress', 'data-q']) {
    if (node.hasAttribute(name)) old.setAttribute(name, node.getAttribute(name)); else old.removeAttribute(name);
  }
  old.classList.toggle('here', here);
  // Its first output opens it, unless the reader has had it open before.
  if (now && !before && !old.dataset.filled) old.open = true;
  if (was.isEqualNode(is) && before === now) return old;
  was.title = is.title;
  was.replaceChildren(...is.childNodes);
  // What is in it is not what it was either.
  if (!old.matches('[data-filled]')) return old;
  if (old.open) refill(old); else delete old.dataset.filled;
  return old;
}

// Its logs are not there any more: what is here is all there is.
function lose() {
  if (byId('tt-lost')) return;
  const said = Object.assign(document.createElement('p'), { id: 'tt-lost', textContent: 'The logs of this session are gone. This page shows what was read before.' });
  said.setAttribute('role', 'status');
  rows.before(said);
}

// ---- What stands around the rows ----
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
  // It has become a long one.
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

// The summary takes longer than anything else, so it comes later.
let digesting = null;
let digested = null;
let cost = 0;
function digestLater() {
  digesting ??= setTimeout(async () => {
    const [start, of] = [performance.now(), version];
    const html = await text('digest').catch(() => null);
    cost = performance.now() - start;
    const place = byId('tt-digest');
    if (html !== null && place && digested !== html) { digested = html; const seen = sight(); summarise(place, html); place.removeAttribute('aria-busy'); keep(seen); }
    digesting = null;
    if (version !== of) digestLater();
  }, Math.max(700, 8 * cost));
}

// ---- Where the reader is ----
// The first row in sight, and where it is; nothing above the rows.
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

// Whoever is at the end stays there, until they scroll up; whoever is not is told how much there is.
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

// Said aloud, but not all the time.
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
