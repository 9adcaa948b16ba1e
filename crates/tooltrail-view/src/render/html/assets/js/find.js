// Finding, as far as a page is here: texts found in units of rows, and painted without changing anything.
let finding = null;
let search = 0;
const input = byId('tt-find');
// A unit is a chunk of rows without the chunks inside it.
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
  if (!paints || unit.matches(AWAY)) return;
  const found = CSS.highlights.get('tt-found');
  for (const range of ranges(unit, finding.needle)) found.add(range);
}
// One match is where the reader is: folds around it open.
function paintHere(range) {
  const holder = range.startContainer.parentElement;
  for (let up = holder.closest('details'); up; up = up.parentElement.closest('details')) {
    if (!(up.firstElementChild.contains(holder))) up.open = true;
  }
  if (paints) {
    const here = new Highlight(range);
    here.priority = 1;
    CSS.highlights.set('tt-here', here);
  }
  return holder;
}

// What was found is said in the bar, and so is anything else, for a moment.
function report() {
  if (!finding) status.textContent = input.value && search ? status.textContent : '';
  else status.textContent = finding.total ? counted(finding) : 'no match';
  // Those that chips leave no space for.
  if (finding?.hidden) status.textContent += `, ${finding.hidden.toLocaleString('en')} hidden`;
  if (!input.value) status.textContent = '';
}
// `3 of 45`, or how many there are where nobody has gone to one yet. Of a great many only so many are told.
function counted({ at, stood = -1, total, more }) {
  const place = at < 0 ? stood : at;
  const all = (more ? 'more than ' : '') + total.toLocaleString('en');
  return place < 0 ? `${all} found` : `${(place + 1).toLocaleString('en')} of ${all}`;
}
let silence;
function say(text) {
  status.textContent = text;
  clearTimeout(silence);
  silence = setTimeout(() => { if (status.textContent === text) report(); }, 2500);
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
    const row = current?.isConnected ? current : start(true);
    if (row) (row.matches('details') ? row.firstElementChild : row).focus({ preventScroll: true });
    else input.blur();
  }
});
