// The table of all calls: keys of its own. Whatever they do can be done by its links, too.
(() => {
  'use strict';
  const find = (selector) => document.querySelector(selector);
  const follow = (rel) => { const link = find(`main a[rel="${rel}"]`); if (link) location.assign(link.href); };
  const acts = {
    '[': () => follow('prev'), ']': () => follow('next'),
    f: () => { const box = find('#tt-q'); box?.focus(); box?.select(); },
    c: () => { const chooser = find('.chooser'); if (chooser) { chooser.open = !chooser.open; (chooser.open ? chooser.querySelector('input:not([type="hidden"])') : chooser.querySelector('summary')).focus(); } },
    e: () => find('.save a')?.focus(),
  };
  let begun = -Infinity;
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || find('dialog[open]')) return;
    const chooser = find('.chooser[open]');
    if (event.key === 'Escape' && chooser) { chooser.open = false; chooser.querySelector('summary').focus(); event.stopImmediatePropagation(); return; }
    if (!document.getElementById('tt-keys')?.checked) return;
    if (event.target.matches('input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]')) return;
    // The frame has keys that begin with `g`.
    const alone = event.timeStamp - begun > 1500;
    begun = event.key === 'g' ? event.timeStamp : -Infinity;
    const act = alone ? acts[event.key] : undefined;
    if (act) { event.preventDefault(); act(); }
  });
  document.addEventListener('click', (event) => { const open = find('.chooser[open]'); if (open && !open.contains(event.target)) open.open = false; });

  // The table stays as it is while somebody reads it; that there is more is said beside it.
  let asking = false;
  let late = false;
  async function look() {
    const shown = find('#tt-newer[data-calls]');
    if (!shown || asking || document.hidden) { late = true; return; }
    asking = true;
    late = false;
    try {
      const told = await (await fetch(shown.dataset.from)).json();
      // The server has not looked at all that has changed yet, and will not say so by itself.
      late ||= told.old;
      const more = told.calls - shown.dataset.calls;
      if (told.whole && more > 0) {
        const link = Object.assign(document.createElement('a'), { href: location.href, textContent: 'Reload' });
        const text = more === 1 ? ' · There is a new call. ' : ` · There are ${more.toLocaleString('en')} new calls. `;
        if (shown.textContent !== text + 'Reload') shown.replaceChildren(text, link);
      }
    } catch { /* asked again when something else is new */ }
    setTimeout(() => { asking = false; if (late) look(); }, 2000);
  }
  document.addEventListener('tt-lists', look);
  document.addEventListener('visibilitychange', () => { if (late && !document.hidden) look(); });
})();
