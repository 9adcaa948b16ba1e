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
})();
