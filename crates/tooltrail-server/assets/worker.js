// The one connection of a browser to the server: all its pages hear what changes through it. Browsers allow only six connections to a
// server, so with one for each page the seventh page would not load.
'use strict';
const ports = new Set();
const tell = (news) => { for (const port of ports) port.postMessage(news); };

let source = null;
let connected = null;
const told = { needs: null, link: null };
function connect({ events, now }) {
  source = new EventSource(events);
  const count = counting(now);
  const link = (up) => { connected = up; told.link = { kind: 'link', up }; tell(told.link); };
  source.addEventListener('open', () => link(true));
  source.addEventListener('error', () => {
    if (connected !== false) link(false);
    // It tries again by itself, unless somebody answered who is no stream.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => connect({ events, now }), 2000);
  });
  source.addEventListener('look', () => { tell({ kind: 'look' }); count(); });
  source.addEventListener('changed', ({ data }) => {
    const { sessions, lists } = JSON.parse(data);
    tell({ kind: 'changed', sessions, lists });
    if (lists) count();
  });
}

// How many sessions wait for somebody. It is asked for once, however many pages are open, and not more often than it takes.
// An answer that is old already is asked for again.
function counting(now) {
  let asking = false;
  let again = false;
  return async function count() {
    if (asking) { again = true; return; }
    asking = true;
    try {
      const answer = await fetch(now);
      again ||= !answer.ok;
      if (answer.ok) { told.needs = { kind: 'needs', ...await answer.json() }; tell(told.needs); again ||= told.needs.old; }
    } catch { /* the connection is lost as well, and when it is back it is asked again */ }
    setTimeout(() => { asking = false; if (again) { again = false; count(); } }, 250);
  };
}

addEventListener('connect', ({ ports: [port] }) => {
  port.addEventListener('message', ({ data }) => {
    if (data.kind === 'leave') return ports.delete(port);
    ports.add(port);
    if (!source) connect(data);
    for (const news of Object.values(told)) if (news) port.postMessage(news);
  });
  port.start();
});
