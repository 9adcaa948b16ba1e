// The frame's script: the theme, before the first paint; then the keys, unless the page has its own.
(() => {
  'use strict';
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  // Where nothing can be kept, browsers say so by throwing.
  const saved = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
  const save = (key, value) => { try { localStorage.setItem(key, value); } catch { /* not kept */ } };
  const THEMES = ['auto', 'light', 'dark'];

  const setTheme = (theme) => {
    if (theme === 'auto') delete root.dataset.theme; else root.dataset.theme = theme;
    const box = byId('tt-' + theme);
    if (box) box.checked = true;
  };
  const kept = () => { const theme = saved('tt-theme'); return THEMES.includes(theme) ? theme : root.dataset.usualTheme ?? 'auto'; };
  setTheme(kept());

  document.addEventListener('DOMContentLoaded', () => {
    const show = (theme) => { setTheme(theme); save('tt-theme', theme); };
    setTheme(kept());
    for (const name of THEMES) byId('tt-' + name).addEventListener('change', () => show(name));
    // Another tab may have changed it, also while this page was put aside.
    addEventListener('storage', () => setTheme(kept()));
    addEventListener('pageshow', () => setTheme(kept()));

    // `g` and a letter go to a page, on every page.
    const go = (path) => location.assign(root.dataset.root + path);
    const PLACES = { h: '/', l: '/#now', s: '/sessions', c: '/calls', f: '/failures' };
    const isText = (element) => element.matches('input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]');
    let begun = -Infinity;
    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
      if (isText(event.target) || !byId('tt-keys')?.checked) return;
      const place = event.timeStamp - begun < 1500 ? PLACES[event.key] : undefined;
      begun = event.key === 'g' && event.timeStamp - begun > 1500 ? event.timeStamp : -Infinity;
      // Before the page's own keys, some of which are the same letters.
      if (place) { event.preventDefault(); event.stopImmediatePropagation(); go(place); }
    }, { capture: true });
    if (root.dataset.keys === 'own') return;

    const help = byId('tt-help');
    const keys = byId('tt-keys');
    const box = byId('tt-search');
    keys.checked = saved('tt-keys') !== 'off';
    keys.addEventListener('change', () => save('tt-keys', keys.checked ? 'on' : 'off'));
    byId('tt-help-close').addEventListener('click', () => help.close());
    document.querySelector('.frame .help').addEventListener('click', (event) => { event.preventDefault(); help.showModal(); });

    // A row is its link: the one with the focus is where one is, and Enter opens it by itself.
    const move = (step) => {
      const rows = [...document.querySelectorAll('a[data-row]')].filter((row) => row.checkVisibility());
      const around = document.activeElement?.closest('[data-rows] > *');
      const at = rows.findIndex((row) => row === document.activeElement || around?.contains(row));
      const next = at < 0 ? (step > 0 ? 0 : -1) : Math.min(Math.max(at + step, 0), rows.length - 1);
      const row = rows.at(next);
      row?.focus({ preventScroll: true });
      row?.scrollIntoView({ block: 'nearest' });
    };
    const acts = {
      j: () => move(1), k: () => move(-1),
      '/': () => { box.focus(); box.select(); },
      t: () => show(THEMES[(THEMES.indexOf(kept()) + 1) % 3]),
      '?': () => help.showModal(),
      Escape: () => document.activeElement?.blur(),
    };
    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
      if (event.key !== 'Escape' && (isText(event.target) || !keys.checked)) return;
      const act = acts[event.key];
      if (act) { event.preventDefault(); act(); }
    });
    // For tests: what a browser driver can wait for.
    root.dataset.ready = 'true';
  });
})();
