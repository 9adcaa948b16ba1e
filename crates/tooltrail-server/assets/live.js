// Pages come alive: what changes in the logs is heard through one connection of the browser, and each page asks for what it shows.
// `tt-session` says that the session of this page is not as it was, `tt-lists` that lists of sessions are not.
document.addEventListener('DOMContentLoaded', () => {
  'use strict';
  const root = document.documentElement;
  const { live, worker, session, again } = root.dataset;
  const byId = (id) => document.getElementById(id);
  const shout = (name) => document.dispatchEvent(new CustomEvent(name, { detail: { session } }));

  // ---- What is heard ----
  const hear = {
    look: () => { shout('tt-session'); shout('tt-lists'); },
    changed: ({ sessions, lists }) => {
      if (session && sessions.includes(session)) shout('tt-session');
      if (lists) shout('tt-lists');
    },
    needs: ({ needs }) => entitle(needs),
    link: ({ up }) => connected(up),
  };
  const take = ({ data }) => hear[data.kind]?.(data);

  // The title counts the sessions that wait for somebody.
  const title = document.title.replace(/^\(\d+\) /, '');
  function entitle(needs) {
    document.title = needs ? `(${needs}) ${title}` : title;
    const link = byId('tt-needs');
    link.hidden = !needs;
    link.textContent = needs === 1 ? '1 waits for you' : `${needs} wait for you`;
  }

  // A server that is started anew is back in a moment: only what lasts is said.
  let missing;
  function connected(up) {
    clearTimeout(missing);
    root.dataset.link = up ? 'up' : 'down';
    if (up) byId('tt-link').hidden = true;
    else missing = setTimeout(() => { byId('tt-link').hidden = false; }, 3000);
  }

  // ---- The connection ----
  const now = root.dataset.root + '/now';
  let port = null;
  function join() {
    if (globalThis.SharedWorker) {
      port = new SharedWorker(worker, { name: 'tooltrail ' + live }).port;
      port.addEventListener('message', take);
      port.start();
      port.postMessage({ kind: 'join', events: live, now });
      return;
    }
    // Without shared workers each page has a connection while it is looked at.
    if (document.hidden) return;
    const source = new EventSource(live);
    const ask = () => fetch(now).then((answer) => answer.json()).then(hear.needs, () => {});
    source.addEventListener('open', () => connected(true));
    source.addEventListener('error', () => connected(false));
    source.addEventListener('look', () => { hear.look(); ask(); });
    source.addEventListener('changed', ({ data }) => { const news = JSON.parse(data); hear.changed(news); if (news.lists) ask(); });
    port = { postMessage: () => source.close() };
  }
  const leave = () => { port?.postMessage({ kind: 'leave' }); port = null; };
  addEventListener('pagehide', leave);
  addEventListener('pageshow', ({ persisted }) => { if (persisted) { join(); hear.look(); } });
  if (!globalThis.SharedWorker) document.addEventListener('visibilitychange', () => { leave(); join(); });
  join();

  // ---- Clocks ----
  // What lasts says for how long, in one unit, as the server does.
  const ago = (seconds) => seconds < 60 ? `${seconds} s` : seconds < 3600 ? `${Math.floor(seconds / 60)} m`
    : seconds < 86400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} d`;
  function tick() {
    for (const clock of document.querySelectorAll('[data-since]')) {
      const text = ago(Math.max(0, Math.floor((Date.now() - clock.dataset.since) / 1000)));
      if (clock.textContent !== text) clock.textContent = text;
    }
  }
  tick();
  setInterval(() => { if (!document.hidden) tick(); }, 1000);

  // ---- Pages that are asked for again ----
  // Makes what is there like what came, and leaves alone what is alike: focus, folds and what was typed stay.
  function become(old, wanted) {
    if (old.isEqualNode(wanted)) return;
    if (old.nodeType !== 1 || old.tagName !== wanted.tagName) return old.replaceWith(wanted);
    // Found out later, by another script.
    if (old.dataset.tests && old.dataset.tests === wanted.dataset.tests && old.textContent) return;
    // The same content, of which a script may have brought more.
    if (old.dataset.print && old.dataset.print === wanted.dataset.print && old.id === wanted.id) return;
    for (const { name } of [...old.attributes]) if (!wanted.hasAttribute(name) && name !== 'open') old.removeAttribute(name);
    for (const { name, value } of wanted.attributes) if (old.getAttribute(name) !== value && name !== 'open') old.setAttribute(name, value);
    if (old.matches('input, select, textarea')) return;
    const key = (node) => node.nodeType === 1 ? node.dataset.key ?? node.id : '';
    const known = new Map([...old.children].filter(key).map((child) => [key(child), child]));
    let at = old.firstChild;
    for (const child of [...wanted.childNodes]) {
      const same = key(child) ? known.get(key(child)) : at && !key(at) && at.nodeType === child.nodeType && at.nodeName === child.nodeName ? at : null;
      if (!same) { old.insertBefore(child, at); continue; }
      if (same === at) at = at.nextSibling;
      // Moved, a row keeps the focus, where the browser can do that.
      else if (old.moveBefore) old.moveBefore(same, at); else old.insertBefore(same, at);
      known.delete(key(child));
      become(same, child);
    }
    while (at) { const next = at.nextSibling; at.remove(); at = next; }
  }

  let asking = null;
  let late = false;
  let rested = 0;
  let failed = 0;
  async function ask() {
    if (asking || document.hidden) { late = true; return; }
    late = false;
    const wait = rested - performance.now();
    if (wait > 0) { asking = setTimeout(() => { asking = null; ask(); }, wait); return; }
    asking = true;
    const start = performance.now();
    try {
      const answer = await fetch(location.href);
      const came = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const which = root.dataset.part ?? '#main';
      const [old, wanted] = [document, came].map((page) => page.querySelector(which));
      if (answer.ok && old && wanted) become(old, wanted);
      failed = answer.ok ? 0 : failed + 1;
      // More has changed than the server has looked at.
      late ||= came.documentElement.hasAttribute('data-old');
    } catch { failed += 1; }
    // Nothing may change any more that would ask again.
    late ||= failed > 0;
    tick();
    document.dispatchEvent(new Event('tt-again'));
    // Not more often than a page is read, and never more than a third of the time.
    rested = performance.now() + Math.max(300, 2 * (performance.now() - start), Math.min(failed, 10) * 1000);
    asking = null;
    if (late) ask();
  }
  if (again) {
    document.addEventListener('tt-' + again, ask);
    document.addEventListener('visibilitychange', () => { if (late) ask(); });
  }
});
