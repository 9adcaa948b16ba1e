// The page's one script: unpacks rows when somebody comes near, finds, moves by keys, copies. Everything can be read without it
// unless the page is packed. It runs before the first paint to set the theme; the rest waits for the document.
(() => {
  'use strict';
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  // Some browsers keep nothing for files, and say so by throwing.
  const saved = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
  const save = (key, value) => { try { localStorage.setItem(key, value); } catch { /* not kept */ } };
  const THEMES = ['auto', 'light', 'dark'];

  const setTheme = (theme) => {
    if (theme === 'auto') delete root.dataset.theme; else root.dataset.theme = theme;
    const box = byId('tt-' + theme);
    if (box) box.checked = true;
  };
  const theme = saved('tt-theme');
  if (THEMES.includes(theme)) setTheme(theme);

  document.addEventListener('DOMContentLoaded', () => {
    const rows = byId('tt-rows');
    const bar = document.querySelector('.bar');
    const status = byId('tt-found');
    if (THEMES.includes(theme)) setTheme(theme);

    // ---- Packed rows ----------------------------------------------------------------------------------------------
    const unpacking = new Map();
    const dataOf = (place) => place.querySelector(':scope > script') || document.querySelector(`.store[data-for="${place.dataset.pack}"] > script`);

    function decode(text) {
      const bytes = new Uint8Array(text.length);
      for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
      return bytes;
    }

    async function unzip(script) {
      const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(script.textContent) : decode(atob(script.textContent));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
      return new Response(stream).text();
    }

    async function unpackNow(place) {
      const script = dataOf(place);
      if (!script) return;
      let html;
      try {
        html = await unzip(script);
      } catch {
        place.querySelector('.wait').textContent = 'This browser cannot unpack these rows. An export with --plain shows them.';
        return;
      }
      watcher.unobserve(place);
      const store = script.closest('.store');
      // Until it is laid out it counts as high as it was, so nothing moves.
      if (!store) place.style.containIntrinsicBlockSize = 'auto ' + place.style.height;
      place.innerHTML = html;
      if (store) store.remove();
      place.classList.remove('packed');
      place.removeAttribute('aria-busy');
      place.style.height = '';
      ready(place);
    }

    function unpack(place) {
      if (!place.classList.contains('packed')) return Promise.resolve();
      const key = place.dataset.pack;
      if (!unpacking.has(key)) unpacking.set(key, unpackNow(place).finally(() => unpacking.delete(key)));
      return unpacking.get(key);
    }

    const packed = (within = rows) => all('.rows.packed', within);

    async function unpackAll(told) {
      for (let left = packed(); left.length; left = packed()) {
        const before = left.length;
        for (const place of left) { await unpack(place); told?.(packed().length); }
        if (packed().length >= before) return;
      }
    }

    const watcher = new IntersectionObserver((seen) => {
      for (const one of seen) if (one.isIntersecting) unpack(one.target);
    }, { rootMargin: '150% 0px' });

    // A place for rows that are not there yet has about their height; with a filter on, that of the rows that will stay.
    function size(place) {
      const { rows: count, bad, height } = place.dataset;
      const only = byId('tt-f-bad').checked;
      place.style.height = (only ? Math.max(1, bad) * 30 : Math.max(height, count * 30)) + 'px';
      place.hidden = only && bad === '0';
    }

    function ready(within) {
      for (const place of packed(within)) { size(place); watcher.observe(place); }
      for (const heading of all('.turn', within)) turns.observe(heading);
      for (const call of all('.call[open]', within)) equip(call);
      if (finding && within !== rows) for (const unit of [within, ...all('.rows', within)]) paintUnit(unit);
    }

    // ---- Places ---------------------------------------------------------------------------------------------------
    // Makes what has this id readable: unpacked, and every fold around it open.
    async function reveal(id) {
      let element = byId(id);
      if (!element) return null;
      const store = element.closest('.store');
      if (store) {
        await reveal(store.dataset.in);
        const place = document.querySelector(`.rows.packed[data-pack="${store.dataset.for}"]`);
        if (place) await unpack(place);
      } else {
        const place = element.closest('.rows.packed');
        if (place) await unpack(place);
      }
      element = byId(id);
      if (element) unfold(element);
      return element;
    }

    function unfold(element) {
      for (let up = element.parentElement?.closest('details'); up; up = up.parentElement.closest('details')) up.open = true;
    }

    async function go(id, open) {
      const element = await reveal(id);
      if (!element) return;
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
        still = Math.abs(target.getBoundingClientRect().top - before) < 2 && !unpacking.size ? still + 1 : 0;
        await pause(40);
      }
    }
    for (const kind of ['wheel', 'touchmove', 'mousedown']) addEventListener(kind, () => putting++, { passive: true });

    function show(element, block = 'nearest') {
      select(element);
      return put(element.matches('details') ? element.firstElementChild : element, block);
    }

    function followHash() {
      let id = location.hash.slice(1);
      try { id = decodeURIComponent(id); } catch { /* as it is written */ }
      if (id) go(id, true);
    }
    addEventListener('hashchange', followHash);

    // ---- Rows -----------------------------------------------------------------------------------------------------
    let current = null;
    function select(element) {
      current?.classList.remove('here');
      current = element;
      element.classList.add('here');
      const focus = element.matches('details') ? element.firstElementChild : element;
      focus.focus({ preventScroll: true });
      mark(element);
    }

    // The outline shows where the reader is.
    function mark(element) {
      let heading = null;
      const headings = all('.turn');
      for (const one of headings) {
        if (one === element || one.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) heading = one; else break;
      }
      if (heading) point(heading.id);
    }
    function point(turn) {
      const link = document.querySelector(`.turns a[href="#${turn}"]`);
      if (!link || link.hasAttribute('aria-current')) return;
      for (const other of all('.turns a[aria-current]')) other.removeAttribute('aria-current');
      link.setAttribute('aria-current', 'true');
      const nav = byId('tt-outline');
      if (!nav.checkVisibility()) return;
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

    // Where moving starts when nothing is selected: the first row in sight.
    function start(back) {
      if (current?.isConnected) return current;
      const top = bar.getBoundingClientRect().bottom;
      const seen = all('.row, .turn', rows).filter((row) => row.checkVisibility?.() !== false);
      const first = seen.findIndex((row) => row.getBoundingClientRect().bottom > top);
      return (back ? seen[first] : seen[first - 1]) || null;
    }

    // The next element that matches, unpacking on the way. `through` says which packed places may hold one.
    async function next(wanted, back, through, hidden) {
      const from = start(back);
      const take = (element) => element.matches(wanted) || element.matches('.rows.packed');
      const walker = document.createTreeWalker(rows, NodeFilter.SHOW_ELEMENT, (element) => take(element) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP);
      if (from && rows.contains(from)) walker.currentNode = from;
      for (;;) {
        const before = walker.currentNode;
        const element = back ? walker.previousNode() : walker.nextNode();
        if (!element) return null;
        if (element.matches('.rows.packed')) {
          if (!through(element) || (!hidden && !element.checkVisibility())) continue;
          await unpack(element);
          if (!element.classList.contains('packed')) walker.currentNode = before;
          continue;
        }
        if (back && element.contains(from) && element !== from && !hidden) return element;
        if (hidden ? !filtered(element) : element.checkVisibility()) return element;
      }
    }
    // Whether a filter hides it, rather than a fold.
    const filtered = (element) => { for (let up = element; up && up !== rows; up = up.parentElement) if (getComputedStyle(up).display === 'none') return true; return false; };

    const anyRow = () => true;
    const moves = {
      row: (back) => next('.row', back, anyRow, false),
      turn: (back) => next('.turn', back, anyRow, false),
      bad: (back) => next('.row.bad', back, (place) => place.dataset.bad !== '0', true),
      edit: (back) => next('.k-edit, .k-write', back, anyRow, true),
    };
    async function move(kind, back) {
      const element = await moves[kind](back);
      if (!element) return say(back ? 'none before' : 'none after');
      unfold(element);
      if (kind !== 'row' && element.matches('details')) element.open = true;
      show(element, kind === 'row' ? 'nearest' : 'start');
    }
    let silence;
    function say(text) {
      status.textContent = text;
      clearTimeout(silence);
      silence = setTimeout(() => { if (status.textContent === text) report(); }, 2500);
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

    async function openAll() {
      await unpackAll((left) => say(left ? `unpacking, ${left} left` : 'unpacked'));
      for (const call of all('.call', rows)) call.open = true;
    }

    async function print() {
      await unpackAll((left) => say(left ? `unpacking, ${left} left` : 'unpacked'));
      const count = all('.row', rows).length;
      if (count > 2000 && !confirm(`This prints ${count.toLocaleString('en')} rows. Go on?`)) return;
      window.print();
    }

    // ---- Find -----------------------------------------------------------------------------------------------------
    // Text is found unit by unit: a chunk of rows without the chunks inside it. Packed ones are searched without being shown.
    let finding = null;   // { needle, units: [{ place | pack, count }], total, at }
    let search = 0;
    const input = byId('tt-find');
    const own = (unit) => document.createTreeWalker(unit, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) => {
      if (node.nodeType === 3) return NodeFilter.FILTER_ACCEPT;
      return node.matches('.vh, .rows, .tools, script') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
    });

    function ranges(unit, needle) {
      const nodes = [];
      let text = '';
      for (const walker = own(unit); walker.nextNode();) { nodes.push([text.length, walker.currentNode]); text += walker.currentNode.data; }
      const low = text.toLowerCase();
      const found = [];
      if (low.length !== text.length) return found;
      let place = 0;
      const seek = (offset) => { while (place + 1 < nodes.length && nodes[place + 1][0] <= offset) place++; return nodes[place]; };
      for (let at = low.indexOf(needle); at >= 0; at = low.indexOf(needle, at + needle.length)) {
        const range = document.createRange();
        let [begin, node] = seek(at);
        range.setStart(node, at - begin);
        [begin, node] = seek(at + needle.length - 1);
        range.setEnd(node, at + needle.length - begin);
        found.push(range);
      }
      return found;
    }

    const ENTITIES = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" };
    function textOf(html) {
      return html.replace(/<span class="(?:[^"]* )?vh">[^<]*<\/span>/g, '').replace(/<p class="wait">[^<]*<\/p>/g, '').replace(/<[^>]*>/g, '')
        .replace(/&(lt|gt|amp|quot|#39);/g, (_, name) => ENTITIES[name]);
    }
    // Packed texts that were read for an earlier search, as many as are worth keeping.
    const texts = new Map();
    let kept = 0;
    const times = (text, needle) => { let count = 0; for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) count++; return count; };

    async function find(text) {
      const needle = text.toLowerCase();
      const mine = ++search;
      finding = null;
      paint();
      if (!needle) return report();
      const next = { needle, units: [], total: 0, at: -1 };
      const scripts = all('script[data-for]');
      const packs = new Map(scripts.map((script) => [script.dataset.for, script]));
      const read = async (key) => {
        if (texts.has(key)) return texts.get(key);
        const text = textOf(await unzip(packs.get(key)).catch(() => '')).toLowerCase();
        if (kept + text.length < 40e6) { kept += text.length; texts.set(key, text); }
        return text;
      };
      let done = 0;
      const add = (unit, count) => { if (count) { next.units.push({ ...unit, count }); next.total += count; } };
      // In the order of the page. A packed chunk that has its rows elsewhere is counted there.
      const order = all('.rows, .store', rows).filter((unit) => unit.matches('.store') || !unit.classList.contains('packed') || unit.querySelector(':scope > script'));
      for (const unit of order) {
        if (mine !== search) return;
        const key = unit.dataset.pack || unit.dataset.for;
        const script = key && (unit.matches('.store') || unit.classList.contains('packed')) && packs.get(key);
        if (!script) { add({ place: unit }, ranges(unit, needle).length); continue; }
        add({ pack: key }, times(await read(key), needle));
        if (++done % 20 === 0) status.textContent = `${Math.round(100 * done / scripts.length)} %`;
      }
      if (mine !== search) return;
      finding = next;
      paint();
      report();
    }

    const paints = globalThis.Highlight && CSS.highlights;
    function paint() {
      if (!paints) return;
      CSS.highlights.delete('tt-found');
      CSS.highlights.delete('tt-here');
      if (!finding) return;
      CSS.highlights.set('tt-found', new Highlight());
      for (const unit of all('.rows', rows)) paintUnit(unit);
    }
    function paintUnit(unit) {
      if (!paints || unit.classList.contains('packed')) return;
      const found = CSS.highlights.get('tt-found');
      for (const range of ranges(unit, finding.needle)) found.add(range);
    }

    function report() {
      if (!finding) status.textContent = input.value && search ? status.textContent : '';
      else status.textContent = finding.total ? `${finding.at < 0 ? '' : (finding.at + 1).toLocaleString('en') + ' of '}${finding.total.toLocaleString('en')}` : 'no match';
      if (!input.value) status.textContent = '';
    }

    async function match(back) {
      if (!finding || !finding.total) return;
      const at = finding.at < 0 && back ? finding.total - 1 : (finding.at + (back ? -1 : 1) + finding.total) % finding.total;
      finding.at = at;
      let left = at;
      const unit = finding.units.find((unit) => { if (left < unit.count) return true; left -= unit.count; return false; });
      if (!unit) return;
      if (!unit.place) {
        const store = document.querySelector(`.store[data-for="${unit.pack}"]`);
        if (store) await reveal(store.dataset.in);
        const place = document.querySelector(`.rows[data-pack="${unit.pack}"]`);
        if (!place) return;
        await unpack(place);
        unit.place = place;
      }
      const range = ranges(unit.place, finding.needle)[left];
      if (!range) return;
      const holder = range.startContainer.parentElement;
      for (let up = holder.closest('details'); up; up = up.parentElement.closest('details')) {
        if (!(up.firstElementChild.contains(holder))) up.open = true;
      }
      if (paints) {
        const here = new Highlight(range);
        here.priority = 1;
        CSS.highlights.set('tt-here', here);
      }
      current?.classList.remove('here');
      current = holder.closest('.row') || current;
      report();
      put(holder, 'center');
    }

    let typing;
    input.addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(() => find(input.value), 200); });
    input.addEventListener('keydown', async (event) => {
      if (event.key === 'Enter') {
        event.preventDefault();
        clearTimeout(typing);
        if (finding?.needle !== input.value.toLowerCase()) await find(input.value);
        match(event.shiftKey);
      } else if (event.key === 'Escape') {
        // Left, not emptied: `n` goes on from here.
        event.preventDefault();
        input.blur();
      }
    });

    // ---- Copy -----------------------------------------------------------------------------------------------------
    async function copy(text, what) {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        const box = Object.assign(document.createElement('textarea'), { value: text });
        document.body.append(box);
        box.select();
        document.execCommand('copy');
        box.remove();
      }
      say(what + ' copied');
    }
    // Without the words that only stand there for whoever listens.
    function plain(element) {
      const twin = element.cloneNode(true);
      for (const hidden of all('.vh, .tools', twin)) hidden.remove();
      return twin.textContent.replace(/\n$/, '');
    }
    function change(diff) {
      return all(':scope > span', diff).map((line) => (line.matches('.at') ? '@@ ' : line.matches('.add') ? '+' : line.matches('.rem') ? '-' : ' ') + plain(line)).join('\n');
    }
    function copyRow(row) {
      const body = row.querySelector(':scope > .body') || row;
      const command = body.querySelector('.term .cmd');
      const diff = body.querySelector('.diff');
      const title = row.querySelector(':scope > summary .title');
      if (command) copy(plain(command), 'command');
      else if (diff) copy(change(diff), 'change');
      else if (title?.textContent) copy(plain(title), 'title');
      else copy(plain(body), 'text');
    }
    function copyLink(row) {
      const id = row.id || row.closest('[id]')?.id;
      if (id) copy(location.href.split('#')[0] + '#' + encodeURIComponent(id), 'link');
    }
    // An open call gets its buttons when it is first seen: before its life, so that they can stand beside that.
    function equip(row) {
      const body = row.querySelector(':scope > .body');
      if (!body || body.querySelector(':scope > .tools')) return;
      const tools = document.createElement('div');
      tools.className = 'tools';
      for (const [label, act] of [['Copy', copyRow], ['Link', copyLink]]) {
        const button = Object.assign(document.createElement('button'), { type: 'button', textContent: label });
        button.addEventListener('click', () => act(row));
        tools.append(button);
      }
      body.insertBefore(tools, body.querySelector(':scope > .life'));
    }
    rows.addEventListener('toggle', ({ target }) => { if (target.open && target.matches?.('.call')) equip(target); }, true);

    // ---- Controls -------------------------------------------------------------------------------------------------
    const help = byId('tt-help');
    const keys = byId('tt-keys');
    keys.checked = saved('tt-keys') !== 'off';
    keys.addEventListener('change', () => save('tt-keys', keys.checked ? 'on' : 'off'));
    const on = (id, act) => byId(id).addEventListener('click', act);
    on('tt-help-open', () => help.showModal());
    on('tt-help-close', () => help.close());
    on('tt-open-all', () => { help.close(); openAll(); });
    on('tt-print', () => { help.close(); print(); });
    on('tt-find-next', () => match(false));
    on('tt-find-prev', () => match(true));
    on('tt-bad-next', () => move('bad', false));
    on('tt-bad-prev', () => move('bad', true));
    for (const name of THEMES) byId('tt-' + name).addEventListener('change', () => { setTheme(name); save('tt-theme', name); });
    bar.addEventListener('change', () => { for (const place of packed()) size(place); });
    rows.addEventListener('click', (event) => {
      const row = event.target.closest('.row');
      if (row && row !== current) { current?.classList.remove('here'); current = row; mark(row); }
    });
    document.addEventListener('click', (event) => {
      for (const menu of all('.menu[open]')) if (!menu.contains(event.target)) menu.open = false;
      // Links within the page: the same address twice has to lead there again.
      const link = event.target.closest?.('a[href^="#"]');
      if (!link) return;
      byId('tt-drawer').checked = false;
      if (link.hash === location.hash) followHash();
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
        current?.classList.remove('here');
        current = null;
        const first = document.querySelector('.turn');
        if (first) point(first.id);
      },
      G: async () => {
        const last = all(':scope > .rows', rows).filter((place) => !place.hidden).at(-1);
        if (last) await unpack(last);
        const end = last && all('.row', last).filter((row) => row.checkVisibility()).at(-1);
        if (end) show(end, 'end');
      },
      '/': () => { input.focus(); input.select(); },
      n: () => match(false), N: () => match(true),
      c: () => { if (current) copyRow(current); },
      y: () => { if (current) copyLink(current); },
      t: () => { const at = THEMES.findIndex((name) => byId('tt-' + name).checked); const name = THEMES[(at + 1) % 3]; setTheme(name); save('tt-theme', name); say('theme: ' + name); },
      '?': () => help.showModal(),
      Escape: () => { for (const menu of all('.menu[open]')) menu.open = false; byId('tt-drawer').checked = false; current?.classList.remove('here'); if (input.value) { input.value = ''; find(''); } },
    };
    document.addEventListener('keydown', (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === 'p' && packed().length) { event.preventDefault(); print(); return; }
      if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
      if (event.target.matches('input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]')) return;
      // On what can be pressed, Enter presses it.
      if (event.key === 'Enter' && event.target.matches('a, button, summary, input')) return;
      if (!keys.checked && event.key !== 'Escape') return;
      const act = acts[event.key];
      if (act) { event.preventDefault(); act(); }
      last = event.key;
    });

    // ---- Begin ----------------------------------------------------------------------------------------------------
    ready(rows);
    if (location.hash) followHash();
    // For tests: what a browser driver can wait for.
    root.dataset.ready = 'true';
  });
})();
