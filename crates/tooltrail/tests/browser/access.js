// What is wrong with the page for those who cannot see it well, or have no mouse. Gives a list of sentences.
const wrong = [];
const all = (selector) => [...document.querySelectorAll(selector)];
const seen = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true, contentVisibilityAuto: true });
const where = (element) => {
  const id = element.id ? '#' + element.id : '';
  const kind = element.classList?.length ? '.' + [...element.classList].join('.') : '';
  return `<${element.localName}${id}${kind}> "${(element.textContent || '').trim().slice(0, 40)}"`;
};
const say = (element, what) => wrong.push(`${where(element)}: ${what}`);

// ---- Structure.
if (!document.documentElement.lang) wrong.push('the page has no language');
if (!document.title.trim()) wrong.push('the page has no title');
if (all('h1').filter(seen).length !== 1) wrong.push(`${all('h1').filter(seen).length} h1 instead of one`);
if (all('main').length !== 1) wrong.push(`${all('main').length} main instead of one`);
let level = 1;
for (const heading of all('h1, h2, h3, h4, h5, h6').filter(seen)) {
  const own = Number(heading.localName[1]);
  // What a model writes has headings of its own.
  if (!heading.closest('.prose') && own > level + 1) say(heading, `a heading of level ${own} after one of level ${level}`);
  if (!heading.closest('.prose')) level = own;
}
const ids = new Map();
for (const element of all('[id]')) ids.set(element.id, (ids.get(element.id) || 0) + 1);
for (const [id, times] of ids) if (times > 1) wrong.push(`the id ${id} is there ${times} times`);
for (const element of all('[aria-labelledby], [aria-describedby], [aria-controls]')) {
  for (const name of ['aria-labelledby', 'aria-describedby', 'aria-controls']) {
    for (const id of (element.getAttribute(name) || '').split(/\s+/).filter(Boolean)) if (!document.getElementById(id)) say(element, `${name} leads to ${id}, which is not there`);
  }
}
for (const list of all('ul, ol')) for (const child of list.children) if (!['LI', 'SCRIPT', 'TEMPLATE'].includes(child.tagName)) say(list, `holds a ${child.localName}`);
for (const list of all('dl')) for (const child of list.children) if (!['DT', 'DD', 'DIV'].includes(child.tagName)) say(list, `holds a ${child.localName}`);
for (const table of all('table').filter(seen)) if (!table.closest('.prose') && !table.querySelector('th')) say(table, 'a table without headings');
for (const image of all('img')) if (!image.hasAttribute('alt')) say(image, 'a picture without words');

// ---- Names and roles.
const ROLES = new Set(['feed', 'article', 'status', 'note', 'alert', 'group', 'list', 'listitem', 'dialog', 'menu', 'menuitem', 'toolbar', 'tab', 'tablist', 'tabpanel', 'search', 'region', 'presentation', 'none', 'img', 'progressbar', 'separator', 'log', 'tooltip', 'grid', 'row', 'gridcell', 'rowgroup', 'columnheader', 'rowheader', 'tree', 'treeitem']);
for (const element of all('[role]')) if (!ROLES.has(element.getAttribute('role'))) say(element, `the role ${element.getAttribute('role')} is not known`);
const named = (element) => {
  const by = (element.getAttribute('aria-labelledby') || '').split(/\s+/).filter(Boolean).map((id) => document.getElementById(id)?.textContent || '').join(' ');
  const label = element.labels && [...element.labels].map((one) => one.textContent).join(' ');
  const shown = [...element.querySelectorAll('[aria-label], img[alt]')].map((one) => one.getAttribute('aria-label') || one.alt).join(' ');
  const hidden = [...element.querySelectorAll('[aria-hidden="true"]')].map((one) => one.textContent).join('');
  const text = element.textContent.length > hidden.length ? element.textContent : '';
  return [element.getAttribute('aria-label'), by, label, text, shown, element.title, element.value && element.type === 'submit' ? element.value : ''].some((name) => name && name.trim());
};
const CONTROLS = 'a[href], button, input:not([type="hidden"]), select, textarea, summary, [tabindex="0"], [role="button"]';
// A small one is no harm where a circle of 24 pixels around its middle touches no other.
const boxes = all(CONTROLS).filter(seen).map((one) => [one, one.getBoundingClientRect()]);
function crowded(control, { left, right, top, bottom }) {
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  return boxes.some(([other, box]) => other !== control && !other.contains(control) && !control.contains(other)
    && Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom)) < 12);
}
for (const control of all(CONTROLS).filter(seen)) {
  if (!named(control)) say(control, 'a control without a name');
  if (control.closest('[aria-hidden="true"]')) say(control, 'can be reached, but is hidden from who listens');
  if (control.tabIndex > 0) say(control, 'jumps the queue of the Tab key');
  if (control.tabIndex < 0 && !control.disabled) say(control, 'cannot be reached with the Tab key');
  if (control.matches('a[href^="javascript:"]')) say(control, 'a link that is a script');
  const box = control.getBoundingClientRect();
  const inline = getComputedStyle(control).display === 'inline' || control.matches('.vh, .vh *, .skip') || control.closest('.prose, p, td, dd, li, figcaption');
  const label = control.labels?.[0]?.getBoundingClientRect();
  const [width, height] = [Math.max(box.width, label?.width || 0), Math.max(box.height, label?.height || 0)];
  if (!inline && width && (width < 23.5 || height < 23.5) && crowded(control, box)) say(control, `only ${Math.round(width)} by ${Math.round(height)} pixels, and another one close by`);
}

// ---- Contrast, from what is painted.
const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
const colours = new Map();
function rgba(text) {
  if (!colours.has(text)) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    colours.set(text, [r, g, b, a / 255]);
  }
  return colours.get(text);
}
const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
const light = ([r, g, b]) => [r, g, b].map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (one, other) => { const [a, b] = [light(one), light(other)].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05); };
function ground(element) {
  const stack = [];
  for (let up = element; up; up = up.parentElement) {
    const colour = rgba(getComputedStyle(up).backgroundColor);
    if (colour[3] > 0) stack.push(colour);
    if (colour[3] === 1) break;
  }
  const base = matchMedia('(prefers-color-scheme: dark)').matches ? [15, 19, 22, 1] : [255, 255, 255, 1];
  return stack.reverse().reduce((below, colour) => over(colour, below), base);
}
const told = new Set();
for (const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walker.nextNode();) {
  const text = walker.currentNode;
  const element = text.parentElement;
  if (!text.data.trim() || !element || element.closest('.vh, script, style, :disabled, [aria-hidden="true"]') || !seen(element)) continue;
  const style = getComputedStyle(element);
  const below = ground(element);
  const ratio = contrast(over(rgba(style.color), below), below);
  const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
  const key = style.color + below + element.className;
  if (ratio < (large ? 3 : 4.5) - 0.01 && !told.has(key)) { told.add(key); say(element, `contrast ${ratio.toFixed(2)}, ${style.color} on ${below.map(Math.round)}`); }
}

// ---- Nothing goes past the side.
const wide = document.documentElement.scrollWidth - innerWidth;
if (wide > 1) {
  const past = all('body *').filter((element) => seen(element) && element.getBoundingClientRect().right > innerWidth + 1 && getComputedStyle(element).position !== 'fixed').slice(-1)[0];
  wrong.push(`the page is ${wide} pixels wider than the window${past ? ', for one because of ' + where(past) : ''}`);
}
return wrong;
