// Keys, and the buttons that do the same. `ACTS` are those that only this page has.
const help = byId('tt-help');
const keys = byId('tt-keys');
keys.checked = saved('tt-keys') !== 'off';
keys.addEventListener('change', () => save('tt-keys', keys.checked ? 'on' : 'off'));
on('tt-help-open', () => help.showModal());
on('tt-help-close', () => help.close());
on('tt-find-next', () => match(false));
on('tt-find-prev', () => match(true));
on('tt-bad-next', () => move('bad', false));
on('tt-bad-prev', () => move('bad', true));
rows.addEventListener('click', (event) => {
  const row = event.target.closest('.row');
  if (row && row !== current) { choose(row); mark(row); chosen(row); }
});
document.addEventListener('click', (event) => {
  for (const menu of all('.menu[open]')) if (!menu.contains(event.target)) menu.open = false;
});

let last = '';
const acts = {
  j: () => move('row', false), k: () => move('row', true),
  J: () => move('turn', false), K: () => move('turn', true),
  e: () => move('bad', false), E: () => move('bad', true),
  d: () => move('edit', false),
  o: () => { if (current?.matches('details')) current.open = !current.open; },
  Enter: () => acts.o(),
  O: openTurn,
  g: () => {
    if (last !== 'g') return;
    // Whatever is still being put in its place stays where it is.
    putting++;
    scrollTo({ top: 0, behavior: 'instant' });
    choose(null);
    chosen(null);
    const first = document.querySelector('.turns a');
    if (first) point(first.hash.slice(1));
  },
  G: async () => {
    const last = all(':scope > .rows', rows).filter((place) => !place.hidden).at(-1);
    if (last) await bring(last);
    const end = last && all('.row', last).filter((row) => row.checkVisibility()).at(-1);
    if (end) show(end, 'end');
  },
  '/': () => { input.focus(); input.select(); },
  n: () => match(false), N: () => match(true),
  c: () => { if (current) copyRow(current); },
  y: () => { if (current) copyLink(current); },
  t: () => {
    const now = root.dataset.theme ?? 'auto';
    const name = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
    setTheme(name);
    save('tt-theme', name);
    say('theme: ' + name);
  },
  '?': () => help.showModal(),
  Escape: () => {
    for (const menu of all('.menu[open]')) menu.open = false;
    byId('tt-drawer').checked = false;
    current?.classList.remove('here');
    if (input.value) { input.value = ''; find(''); }
  },
  ...ACTS,
};
document.addEventListener('keydown', (event) => {
  if (intercept(event)) return;
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.target.matches('input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]')) return;
  // On what can be pressed, Enter presses it.
  if (event.key === 'Enter' && event.target.matches('a, button, summary, input')) return;
  if (!keys.checked && event.key !== 'Escape') return;
  const act = acts[event.key];
  if (act) { event.preventDefault(); act(); }
  last = event.key;
});
