// ---- The map beside the scroll bar --------------------------------------------------------------------------------
// The whole session from top to foot: prompts, problems, subagents, and what is in sight. The outline says the same to those who do not see it.
const map = byId('tt-map');
const COLORS = { p: '--link', f: '--error', s: '--control', c: '--muted' };
let picture = null;
let drawing = null;

function paintMap() {
  const [width, height] = [map.clientWidth, map.clientHeight];
  if (!width || !height) return null;
  const scale = devicePixelRatio || 1;
  const canvas = Object.assign(document.createElement('canvas'), { width: width * scale, height: height * scale });
  const on = canvas.getContext('2d');
  on.scale(scale, scale);
  const style = getComputedStyle(map);
  const color = (name) => { map.style.color = `var(${name})`; const value = style.color; map.style.color = ''; return value; };
  const colors = Object.fromEntries(Object.entries(COLORS).map(([kind, name]) => [kind, color(name)]));
  const whole = rows.getBoundingClientRect();
  if (!whole.height) return canvas;
  const spots = [];
  for (const place of all(':scope > .rows', rows)) {
    if (place.hidden) continue;
    const box = place.getBoundingClientRect();
    if (!place.dataset.m) {
      // A section of a very long session is a few pixels high: whether it has any is enough.
      const has = counts(place);
      const middle = (box.top - whole.top + box.height / 2) / whole.height * height;
      if (has.has('p')) spots.push(['p', middle]);
      if (has.has('f')) spots.push(['f', middle]);
      continue;
    }
    const count = Math.max(1, Number(place.dataset.c));
    // Rows that are here have a place of their own; of others it is estimated.
    const own = place.matches(AWAY) ? [] : all(':scope > .row', place);
    for (const [, kind, row] of place.dataset.m.matchAll(/([a-z])(\d+)/g)) {
      const element = own[row];
      if (element && !element.checkVisibility()) continue;
      const top = element ? element.getBoundingClientRect().top : box.top + box.height * row / count;
      spots.push([kind, (top - whole.top) / whole.height * height]);
    }
  }
  // Problems last: nothing lies over them.
  for (const wanted of ['s', 'c', 'p', 'f']) {
    on.fillStyle = colors[wanted];
    for (const [kind, y] of spots) {
      if (kind !== wanted) continue;
      if (kind === 'p') on.fillRect(1, Math.round(y), width - 2, 2);
      else if (kind === 'f') on.fillRect(width / 2, Math.round(y) - 1, width / 2 - 1, 3);
      else if (kind === 's') for (let x = 1; x < width / 2; x += 3) on.fillRect(x, Math.round(y) - 1, 1.5, 4);
      else on.fillRect(1, Math.round(y), width - 2, 1);
    }
  }
  return canvas;
}

function drawMap() {
  drawing = null;
  const [width, height] = [map.clientWidth, map.clientHeight];
  if (!width || !height) return;
  picture ??= paintMap();
  if (!picture) return;
  Object.assign(map, { width: picture.width, height: picture.height });
  const on = map.getContext('2d');
  on.drawImage(picture, 0, 0);
  const scale = picture.width / width;
  on.scale(scale, scale);
  const whole = rows.getBoundingClientRect();
  const top = Math.max(0, bar.getBoundingClientRect().bottom - whole.top) / whole.height * height;
  const foot = Math.min(1, (innerHeight - whole.top) / whole.height) * height;
  on.strokeStyle = getComputedStyle(map).color;
  on.globalAlpha = 0.12;
  on.fillStyle = on.strokeStyle;
  on.fillRect(0.5, top, width - 1, Math.max(6, foot - top));
  on.globalAlpha = 0.7;
  on.strokeRect(0.5, Math.round(top) + 0.5, width - 1, Math.max(6, Math.round(foot - top) - 1));
}
const redraw = (anew) => { if (anew) picture = null; drawing ??= requestAnimationFrame(drawMap); };
addEventListener('scroll', () => redraw(false), { passive: true });
new ResizeObserver(() => redraw(true)).observe(rows);
new ResizeObserver(() => redraw(true)).observe(map);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => redraw(true));
new MutationObserver(() => redraw(true)).observe(root, { attributes: true, attributeFilter: ['data-theme'] });

function jump(event) {
  const box = map.getBoundingClientRect();
  const whole = rows.getBoundingClientRect();
  putting++;
  scrollTo({ top: scrollY + whole.top + (event.clientY - box.top) / box.height * whole.height - innerHeight / 2, behavior: 'instant' });
}
map.addEventListener('pointerdown', (event) => {
  if (event.button) return;
  event.preventDefault();
  jump(event);
  // A pointer that is gone already cannot be captured, and need not be.
  try { map.setPointerCapture(event.pointerId); } catch { /* nothing to drag */ }
});
map.addEventListener('pointermove', (event) => { if (map.hasPointerCapture(event.pointerId)) jump(event); });
