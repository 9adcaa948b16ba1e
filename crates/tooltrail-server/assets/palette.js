// The palette: a field, and places to go to. Sessions, turns and files come from the server; what the page itself can do is found in it.
document.addEventListener('DOMContentLoaded', () => {
  'use strict';
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const find = (selector) => document.querySelector(selector);
  const dialog = byId('tt-palette');
  const input = byId('tt-palette-q');
  const list = byId('tt-palette-list');
  if (!dialog || !input || !list) return;
  const to = (path) => root.dataset.root + path;
  const session = () => location.pathname.slice(root.dataset.root.length).match(/^\/s\/([^/]+)/)?.[1];

  // ---- What the page can do ---------------------------------------------------------------------------------------
  // A command has a title, words that find it too, and an address or something to do.
  const command = (title, go, about = '', words = '') => ({ title, about, words, ...(typeof go === 'string' ? { to: go } : { act: go }) });
  const press = (selector) => () => find(selector)?.click();
  const theme = (name) => command(`Theme: ${name}`, press('#tt-' + name), '', 'colours appearance');
  const linked = (selector, title) => [...document.querySelectorAll(selector)].map((link) => command(title(link.textContent.trim()), link.href));
  const ifThere = (selector, made) => { const element = find(selector); return element && !element.disabled ? [made(element)] : []; };
  const ofSession = (id) => [
    ...ifThere('[data-copy="tt-resume"]', () => command('Copy the resume command', press('[data-copy="tt-resume"]'), '', 'continue')),
    ...ifThere('#tt-bad-next', () => command('Next problem', press('#tt-bad-next'), 'e', 'failure error')),
    ...linked('nav.tabs a:not([aria-current])', (name) => `This session: ${name}`),
    ...linked('a[href*="/export."]', (name) => `Export: ${name}`),
    command('This session: calls as a table', to('/calls?q=' + encodeURIComponent(`session:"${decodeURIComponent(id)}"`))),
    ...ifThere('main a[rel="prev"]', (link) => command('Previous session', link.href, '[', 'previous')),
    ...ifThere('main a[rel="next"]', (link) => command('Next session', link.href, ']', 'next')),
  ];
  const commands = () => [
    ...(session() ? ofSession(session()) : []),
    ...ifThere('.chooser', (chooser) => command('Choose columns', () => { chooser.open = true; chooser.querySelector('input:not([type="hidden"])').focus(); }, 'c')),
    ...linked('.save a', (name) => `Download ${name}`),
    command('Home', to('/'), 'g h'),
    command('Running sessions', to('/#now'), 'g l', 'live running'),
    command('Sessions', to('/sessions'), 'g s'),
    command('Calls', to('/calls'), 'g c', 'table'),
    command('Failures', to('/failures'), 'g f', 'errors failed messages'),
    command('Failed calls', to('/calls?q=is:failed'), '', 'errors table'),
    command('Search', to('/search'), '/'),
    command('Help', to('/help'), '', 'filters keys'),
    ...ifThere('#tt-help', (help) => command('Keys', () => help.showModal(), '?', 'shortcuts')),
    theme('auto'), theme('light'), theme('dark'),
    ...ifThere('#tt-keys', (keys) => command(`Single keys: switch ${keys.checked ? 'off' : 'on'}`, () => keys.click(), '', 'shortcuts')),
  ];
  // Every word must be there, at the beginning of a word or within one.
  const fits = (query, item) => {
    const text = `${item.title} ${item.words}`.toLowerCase();
    return query.toLowerCase().split(/\s+/).every((word) => text.includes(word));
  };

  // ---- What is shown ----------------------------------------------------------------------------------------------
  let told = { sessions: [], project_pages: [], turns: [], files: [] };
  let options = [];
  let at = 0;
  // Whether somebody has chosen, and not only written.
  let chose = false;
  const groups = (query) => {
    const wanted = { to: (path) => to(path + encodeURIComponent(query)) };
    const found = commands().filter((item) => !query || fits(query, item));
    return [
      ['Turns', query ? told.turns : []],
      ['Files it changed', told.files.slice(0, query ? undefined : 4)],
      [query ? 'Sessions' : 'Recent sessions', told.sessions],
      ['Projects', told.project_pages],
      ['Commands', found.slice(0, query ? 6 : 14)],
      ['Search', query ? [
        { title: `Search everything for “${query}”`, about: '', to: wanted.to('/search?q=') },
        { title: `Calls matching “${query}”`, about: '', to: wanted.to('/calls?q=') },
        { title: `Sessions matching “${query}”`, about: '', to: wanted.to('/sessions?q=') },
      ] : []],
    ].filter(([, items]) => items.length);
  };
  const made = (tag, props, ...children) => { const element = Object.assign(document.createElement(tag), props); element.append(...children); return element; };
  const select = (place) => {
    options[at]?.element.setAttribute('aria-selected', 'false');
    at = Math.min(Math.max(place, 0), options.length - 1);
    const here = options[at]?.element;
    if (!here) return input.removeAttribute('aria-activedescendant');
    here.setAttribute('aria-selected', 'true');
    input.setAttribute('aria-activedescendant', here.id);
    here.scrollIntoView({ block: 'nearest' });
  };
  const option = (item) => {
    const element = made('a', { id: 'tt-palette-' + options.length, href: item.to ?? '#', tabIndex: -1 }, made('span', { textContent: item.title }), made('span', { textContent: item.about }));
    element.setAttribute('role', 'option');
    element.setAttribute('aria-selected', 'false');
    options.push({ ...item, element });
    return element;
  };
  const show = () => {
    const query = input.value.trim();
    const same = (one, other) => one && one.title === other.title && one.to === other.to;
    const before = chose ? options[at] : undefined;
    options = [];
    list.replaceChildren(...groups(query).map(([name, items], number) => {
      const group = made('div', {}, made('div', { id: 'tt-palette-g' + number, textContent: name }), ...items.map(option));
      group.setAttribute('role', 'group');
      group.setAttribute('aria-labelledby', 'tt-palette-g' + number);
      return group;
    }));
    select(Math.max(options.findIndex((item) => same(before, item)), 0));
    byId('tt-palette-say').textContent = options.length === 1 ? '1 place' : `${options.length} places`;
  };

  // ---- What is asked ----------------------------------------------------------------------------------------------
  let stop = new AbortController();
  let waits;
  // Whether what is shown answers what was asked before.
  let stale = false;
  let answered = Promise.resolve();
  const ask = async (query, more, signal) => {
    const answer = await fetch(`${dialog.dataset.from}?q=${encodeURIComponent(query)}${more}`, { signal });
    if (!answer.ok) throw new Error(answer.statusText);
    return answer.json();
  };
  // Only the last question counts: those before it are given up.
  const look = () => {
    stop.abort();
    const own = stop = new AbortController();
    const query = input.value.trim();
    const id = session();
    const take = (part) => { if (!own.signal.aborted) { told = { ...told, ...part }; show(); } };
    const gone = (part) => () => take(part);
    answered = Promise.all([
      ask(query, '', own.signal).then(take, gone({ sessions: [], project_pages: [] })),
      id ? ask(query, '&session=' + id, own.signal).then(take, gone({ turns: [], files: [] })) : undefined,
    ]).then(() => { if (!own.signal.aborted) stale = false; });
  };
  const later = () => { clearTimeout(waits); waits = setTimeout(() => { waits = undefined; look(); }, 80); };

  const open = () => {
    if (dialog.open) return dialog.close();
    for (const other of document.querySelectorAll('dialog[open]')) other.close();
    input.value = '';
    told = { sessions: [], project_pages: [], turns: [], files: [] };
    show();
    dialog.showModal();
    look();
  };
  const follow = (item, aside) => {
    if (!item) return;
    if (item.act) { dialog.close(); return item.act(); }
    if (aside) return window.open(item.to, '_blank', 'noopener');
    dialog.close();
    location.assign(item.to);
  };
  input.addEventListener('input', () => { stale = true; chose = false; show(); later(); });
  input.addEventListener('keydown', async (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step) {
      event.preventDefault();
      chose = true;
      const next = at + step;
      // From the last to the first and back, one at a time.
      return select(Math.abs(step) === 1 && next < 0 ? options.length - 1 : Math.abs(step) === 1 && next >= options.length ? 0 : next);
    }
    if (event.key !== 'Enter' || event.isComposing) return;
    event.preventDefault();
    const aside = event.ctrlKey || event.metaKey;
    // Whoever is quicker than the answer means what is written now.
    if (waits) { clearTimeout(waits); waits = undefined; look(); }
    if (stale) await answered;
    follow(options[at], aside);
  });
  list.addEventListener('click', (event) => {
    const item = options.find(({ element }) => element.contains(event.target));
    if (!item || (item.to && (event.ctrlKey || event.metaKey || event.shiftKey))) return;
    event.preventDefault();
    follow(item, false);
  });
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener('close', () => {
    // The event comes later than the closing: somebody may have opened it again, and waits for an answer.
    if (dialog.open) return;
    stop.abort();
    clearTimeout(waits);
    waits = undefined;
  });
  byId('tt-go')?.addEventListener('click', open);
  document.addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'k') return;
    event.preventDefault();
    event.stopImmediatePropagation();
    open();
  }, { capture: true });
});
