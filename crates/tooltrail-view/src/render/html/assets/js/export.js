// An exported page: its rows may be packed, and are unpacked when somebody comes near. Everything can be read without a script unless
// the page is packed.
const AWAY = '.rows.packed';
// Every call is whole.
const DEEP = ':not(*)';
const deepen = async () => {};
const filled = async () => {};
const chosen = () => {};
const pointless = () => {};
const BUTTONS = [['Copy', copyRow], ['Link', copyLink]];
const ACTS = {};
const address = (id) => location.href.split('#')[0] + '#' + encodeURIComponent(id);
const may = (place, kind) => kind !== 'bad' || place.dataset.bad !== '0';
// Printing needs all rows first.
function intercept(event) {
  if ((event.ctrlKey || event.metaKey) && event.key === 'p' && away().length) { event.preventDefault(); print(); return true; }
  return false;
}

// ---- Packed rows --------------------------------------------------------------------------------------------------
const unpacking = new Map();
const bringing = () => unpacking.size;
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
    place.querySelector('.wait').textContent = 'This browser cannot decompress these rows. Export the session with --plain to see them.';
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

function bring(place) {
  if (!place.classList.contains('packed')) return Promise.resolve();
  const key = place.dataset.pack;
  if (!unpacking.has(key)) unpacking.set(key, unpackNow(place).finally(() => unpacking.delete(key)));
  return unpacking.get(key);
}

async function unpackAll(told) {
  for (let left = away(); left.length; left = away()) {
    const before = left.length;
    for (const place of left) { await bring(place); told?.(away().length); }
    if (away().length >= before) return;
  }
}

const watcher = new IntersectionObserver((seen) => {
  for (const one of seen) if (one.isIntersecting) bring(one.target);
}, { rootMargin: '150% 0px' });

// A place for rows that are not there yet has about their height; with a filter on, that of the rows that will stay.
function size(place) {
  const { rows: count, bad, height } = place.dataset;
  const only = byId('tt-f-bad').checked;
  place.style.height = (only ? Math.max(1, bad) * 30 : Math.max(height, count * 30)) + 'px';
  place.hidden = only && bad === '0';
}

// Makes what has this id readable: unpacked, and every fold around it open.
async function reveal(id) {
  let element = byId(id);
  if (!element) return null;
  const store = element.closest('.store');
  if (store) {
    await reveal(store.dataset.in);
    const place = document.querySelector(`.rows.packed[data-pack="${store.dataset.for}"]`);
    if (place) await bring(place);
  } else {
    const place = element.closest('.rows.packed');
    if (place) await bring(place);
  }
  element = byId(id);
  if (element) unfold(element);
  return element;
}

async function openAll() {
  await unpackAll((left) => say(left ? `unpacking, ${left} left` : 'unpacked'));
  for (const call of all('.call', rows)) call.open = true;
}

async function print() {
  await unpackAll((left) => say(left ? `unpacking, ${left} left` : 'unpacked'));
  const count = all('.row', rows).length;
  if (count > 2000 && !confirm(`This prints ${count.toLocaleString('en')} rows. Continue?`)) return;
  window.print();
}

// ---- Find ---------------------------------------------------------------------------------------------------------
// `finding` is { needle, units: [{ place | pack, count }], total, at }. Packed units are searched without being shown.
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
    await bring(place);
    unit.place = place;
  }
  const range = ranges(unit.place, finding.needle)[left];
  if (!range) return;
  const holder = paintHere(range);
  choose(holder.closest('.row') || current);
  report();
  put(holder, 'center');
}

// ---- Controls -----------------------------------------------------------------------------------------------------
on('tt-open-all', () => { help.close(); openAll(); });
on('tt-print', () => { help.close(); print(); });
for (const name of THEMES) byId('tt-' + name).addEventListener('change', () => { setTheme(name); save('tt-theme', name); });
bar.addEventListener('change', () => { for (const place of away()) size(place); });
document.addEventListener('click', (event) => {
  // Links within the page: the same address twice has to lead there again.
  const link = event.target.closest?.('a[href^="#"]');
  if (!link) return;
  byId('tt-drawer').checked = false;
  if (link.hash === location.hash) followHash();
});
function begun() {}

// Here every row is shown.
function loud() {}
function settled() {}
