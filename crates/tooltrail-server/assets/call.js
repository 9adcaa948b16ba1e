// The page of one call: copying, and keys. Whatever it does can be done by its links, too.
(() => {
  'use strict';
  const find = (selector) => document.querySelector(selector);

  // Says for a moment what came of it, in the button itself.
  const said = (button, word, good) => {
    button.dataset.word ??= button.textContent;
    button.textContent = word;
    button.classList.toggle('done', good);
    clearTimeout(button.waits);
    button.waits = setTimeout(() => { button.textContent = button.dataset.word; button.classList.remove('done'); }, 1200);
  };
  const text = async (button) => {
    if (!button.dataset.fetch) return button.dataset.copy ?? location.href.split('#')[0];
    const answer = await fetch(button.dataset.fetch);
    if (!answer.ok) throw new Error(answer.statusText);
    return answer.text();
  };
  const copy = async (button) => {
    try {
      await navigator.clipboard.writeText(await text(button));
      said(button, 'Copied', true);
    } catch {
      said(button, 'Could not copy', false);
    }
  };
  const follow = (rel) => { const link = find(`main a[rel="${rel}"]`); if (link) location.assign(link.href); };
  const press = (key) => { const button = find(`[data-key="${key}"]`); if (button) copy(button); };
  const fold = (id) => {
    const part = document.getElementById(id);
    if (!part) return;
    part.open = !part.open;
    if (part.open) part.scrollIntoView({ block: 'nearest' });
  };
  const acts = {
    '[': () => follow('prev'), h: () => follow('prev'), ']': () => follow('next'), l: () => follow('next'), u: () => follow('up'),
    c: () => press('c'), m: () => press('m'), y: () => press('y'), d: () => fold('difference'),
  };
  let begun = -Infinity;
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || find('dialog[open]') || !document.getElementById('tt-keys')?.checked) return;
    if (event.target.matches('input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]')) return;
    // The frame has keys that begin with `g`.
    const alone = event.timeStamp - begun > 1500;
    begun = event.key === 'g' ? event.timeStamp : -Infinity;
    const act = alone ? acts[event.key] : undefined;
    if (act) { event.preventDefault(); act(); }
  });
  // Changes side by side: the choice holds for every page.
  const split = document.getElementById('tt-split');
  if (split) {
    try { split.checked = localStorage.getItem('tt-split') === 'on'; } catch { /* as it is */ }
    split.addEventListener('change', () => { try { localStorage.setItem('tt-split', split.checked ? 'on' : 'off'); } catch { /* not kept */ } });
  }
  document.addEventListener('click', (event) => {
    const button = event.target.closest('button.copy');
    if (button) copy(button);
  });
})();
