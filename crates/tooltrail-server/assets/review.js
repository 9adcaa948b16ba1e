// The review of changes: files come when the reader is near, the filter works while it is typed, what was viewed is remembered by its
// content. Without it the page shows the same through links.
document.addEventListener('DOMContentLoaded', () => {
  'use strict';
  const byId = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const list = byId('tt-files');
  if (!list) return;
  const filter = byId('tt-filter');
  const read = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
  const write = (key, value) => { try { localStorage.setItem(key, value); } catch { /* not kept */ } };
  const files = () => all('.filed', list).filter((file) => !file.hidden);

  // ---- Parts that are not here ----
  const part = (number, query = '') => {
    const spaces = list.dataset.spaces ? '&spaces=' + list.dataset.spaces : '';
    return fetch(`${list.dataset.base}${number}?v=${list.dataset.v}${spaces}${query}`).then((answer) => {
      if (!answer.ok) throw new Error(String(answer.status));
      return answer.text();
    });
  };
  const under = new Map();
  function bring(file) {
    const body = file.querySelector(':scope > details > .body.away');
    if (!body) return Promise.resolve();
    if (!under.has(file)) {
      const coming = part(file.dataset.file).then((html) => {
        body.innerHTML = html;
        body.classList.remove('away');
      }, () => { body.firstElementChild.textContent = 'Could not load the changes. Open them alone'; });
      under.set(file, coming.finally(() => under.delete(file)));
    }
    return under.get(file);
  }
  const watcher = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) if (isIntersecting) bring(target.closest('.filed'));
  }, { rootMargin: '100% 0px' });
  const watch = () => { for (const body of all('.body.away', list)) watcher.observe(body); };
  list.addEventListener('click', async (event) => {
    const fill = event.target.closest('a.fill');
    if (!fill || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    const file = fill.closest('.filed');
    try {
      const html = await part(file.dataset.file, '&fill=' + fill.dataset.fill);
      const place = fill.closest('.between');
      place.insertAdjacentHTML('afterend', html);
      place.nextElementSibling.tabIndex = -1;
      place.nextElementSibling.focus({ preventScroll: true });
      place.remove();
    } catch { location.assign(fill.href); }
  });

  // ---- Viewed ----
  const KEPT = 3000;
  const viewed = () => { try { return JSON.parse(read('tt-viewed')) ?? []; } catch { return []; } };
  function paint() {
    const known = new Set(viewed());
    let count = 0;
    for (const file of all('.filed', list)) {
      const on = known.has(file.dataset.hash);
      count += on;
      file.querySelector('[data-viewed]').checked = on;
      document.querySelector(`.tree a[data-file="${file.dataset.file}"]`)?.closest('li').classList.toggle('viewed', on);
    }
    const seen = document.querySelector('.tree .seen');
    if (seen) seen.textContent = count ? `${count} viewed` : '';
  }
  function mark(file, on) {
    const rest = viewed().filter((hash) => hash !== file.dataset.hash);
    write('tt-viewed', JSON.stringify(on ? [...rest, file.dataset.hash].slice(-KEPT) : rest));
    file.querySelector('details').open = !on;
    paint();
  }
  list.addEventListener('change', ({ target }) => { if (target.matches('[data-viewed]')) mark(target.closest('.filed'), target.checked); });

  // ---- The filter ----
  function sift() {
    const wanted = filter.value.trim().toLowerCase();
    const fits = (element) => !wanted || element.dataset.path.toLowerCase().includes(wanted);
    for (const leaf of all('.tree li[data-path]')) leaf.hidden = !fits(leaf);
    for (const folder of all('.tree .dir')) folder.hidden = !all('li', folder).some((leaf) => !leaf.hidden);
    if (all('.filed', list).length > 1) for (const file of all('.filed', list)) file.hidden = !fits(file);
  }
  filter.addEventListener('input', sift);

  // ---- Two looks ----
  const split = byId('tt-split');
  const saved = read('tt-split');
  split.checked = saved === 'on';
  split.addEventListener('change', () => write('tt-split', split.checked ? 'on' : 'off'));

  // ---- Moving ----
  const edge = () => document.querySelector('.bar').getBoundingClientRect().bottom;
  let at = null;
  function here() {
    const focused = document.activeElement?.closest('.filed');
    if (focused) return focused;
    if (at?.isConnected && !at.hidden && Math.abs(at.getBoundingClientRect().top - edge()) < 40) return at;
    return files().filter((file) => file.getBoundingClientRect().top <= edge() + 8).at(-1) ?? null;
  }
  function point(file) {
    for (const link of all('.tree a[aria-current]')) link.removeAttribute('aria-current');
    const link = file && document.querySelector(`.tree a[data-file="${file.dataset.file}"]`);
    link?.setAttribute('aria-current', 'true');
    const box = link?.getBoundingClientRect();
    const tree = byId('tt-tree');
    const within = tree.getBoundingClientRect();
    if (box && tree.scrollHeight > tree.clientHeight && (box.top < within.top || box.bottom > within.bottom)) tree.scrollTop += box.top - within.top - within.height / 3;
  }
  function go(file) {
    if (!file) return;
    at = file;
    file.querySelector('summary').focus({ preventScroll: true });
    file.scrollIntoView({ block: 'start', behavior: 'instant' });
    point(file);
    bring(file);
  }
  function file(back) {
    const some = files();
    const place = some.indexOf(here());
    go(some[back ? place - 1 : place + 1]);
  }
  async function hunk(back) {
    const some = files();
    let place = Math.max(0, some.indexOf(here()));
    const from = document.activeElement?.closest('.hunk');
    const before = (one, other) => one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
    for (; place >= 0 && place < some.length; place += back ? -1 : 1) {
      const own = some[place];
      if (!own.querySelector('details').open) continue;
      await bring(own);
      const hunks = all('.hunk', own);
      const ahead = !from || !own.contains(from) ? hunks : hunks.filter((one) => back ? before(one, from) : before(from, one));
      const wanted = back ? ahead.at(-1) : ahead[0];
      if (!wanted) continue;
      wanted.focus({ preventScroll: true });
      wanted.scrollIntoView({ block: 'start', behavior: 'instant' });
      at = own;
      return point(own);
    }
  }
  const acts = {
    j: () => file(false), k: () => file(true), n: () => hunk(false), p: () => hunk(true),
    v: () => {
      const own = here() ?? files()[0];
      if (!own) return;
      const on = !own.querySelector('[data-viewed]').checked;
      const next = files()[files().indexOf(own) + 1];
      mark(own, on);
      go(on && next ? next : own);
    },
    o: () => { const own = here()?.querySelector('details'); if (own) own.open = !own.open; },
    s: () => split.click(),
    f: () => { filter.focus(); filter.select(); },
  };
  let begun = -Infinity;
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]') || !byId('tt-keys')?.checked) return;
    if (event.target.matches('input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]')) return;
    // The frame has keys that begin with `g`.
    const alone = event.timeStamp - begun > 1500;
    begun = event.key === 'g' ? event.timeStamp : -Infinity;
    const act = alone ? acts[event.key] : undefined;
    if (act) { event.preventDefault(); act(); }
  });
  byId('tt-tree').addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#file-"]');
    const own = link && byId(link.hash.slice(1));
    if (!own || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    history.replaceState(history.state, '', link.hash);
    own.querySelector('details').open = true;
    go(own);
  });
  addEventListener('scroll', () => point(here()), { passive: true });

  // The bar above may take two lines.
  const bar = document.querySelector('.bar');
  new ResizeObserver(() => {
    const above = Math.min(0, parseFloat(getComputedStyle(bar).top) || 0);
    document.documentElement.style.setProperty('--bar', Math.round(bar.offsetHeight + above) + 'px');
  }).observe(bar);

  const again = () => { watch(); paint(); sift(); };
  document.addEventListener('tt-again', again);
  again();
  for (const own of all('.filed', list)) if (own.querySelector('[data-viewed]').checked) own.querySelector('details').open = false;
});
