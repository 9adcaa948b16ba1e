// Between time and pixels. Gaps that are folded are as wide as a label, whatever their length, so the way is a line with steps in it.
const [LEFT, RIGHT, BREAK] = [8, 96, 56];

function makeScale(gaps, end, width) {
  const count = gaps.length;
  const starts = Float64Array.from(gaps, ([start]) => start);
  const before = new Float64Array(count + 1);
  gaps.forEach(([, length], at) => { before[at + 1] = before[at] + length; });
  const space = Math.max(60, width - LEFT - RIGHT);
  // Where there are many breaks they are narrow, until somebody comes nearer.
  const least = count ? Math.min(BREAK, Math.max(1, space * 0.45 / count)) : 0;
  const time = Math.max(1, end - before[count]);
  const fit = Math.max(space - least * count, 30) / time;
  return { gaps, starts, before, end, width, least, fit, at: fit, left: -LEFT, wide: least };
}

// Sets how many pixels a millisecond has.
function magnify(scale, at) {
  scale.at = Math.min(Math.max(at, scale.fit), Math.max(scale.fit, 8));
  scale.wide = Math.min(BREAK, scale.least * scale.at / scale.fit);
}
// Where a moment is, in pixels from the first.
function where(scale, time) {
  const at = after(scale.starts, time);
  if (at > 0) {
    const [start, length] = scale.gaps[at - 1];
    if (time < start + length) return (start - scale.before[at - 1]) * scale.at + (at - 1 + (time - start) / length) * scale.wide;
  }
  return (time - scale.before[at]) * scale.at + at * scale.wide;
}
// Which moment is there.
function when(scale, pixels) {
  let [low, high] = [0, scale.gaps.length];
  const begin = (at) => (scale.starts[at] - scale.before[at]) * scale.at + at * scale.wide;
  while (low < high) { const middle = (low + high) >> 1; if (begin(middle) <= pixels) low = middle + 1; else high = middle; }
  if (low > 0) {
    const into = pixels - begin(low - 1);
    const [start, length] = scale.gaps[low - 1];
    if (into < scale.wide) return start + length * into / scale.wide;
  }
  return (pixels - low * scale.wide) / scale.at + scale.before[low];
}
const whole = (scale) => where(scale, scale.end);
// Nobody gets lost beyond the ends.
function keepIn(scale) {
  const most = whole(scale) + RIGHT - scale.width;
  scale.left = Math.max(-LEFT, Math.min(scale.left, most));
}
function showAll(scale) {
  magnify(scale, scale.fit);
  scale.left = -LEFT;
}
const isAll = (scale) => scale.at <= scale.fit * 1.0001;
// The moments at both edges, and the way back: what is shown between them is exactly that.
const edges = (scale) => [when(scale, scale.left), when(scale, scale.left + scale.width)];
function showFrom(scale, from, to) {
  // Breaks have a width that depends on the rest: a few steps come near enough.
  for (let round = 0; round < 6; round++) {
    const now = where(scale, to) - where(scale, from);
    magnify(scale, scale.at * scale.width / Math.max(now, 0.001));
  }
  scale.left = where(scale, from);
  keepIn(scale);
}
function zoomAt(scale, factor, pixel) {
  const time = when(scale, scale.left + pixel);
  magnify(scale, scale.at * factor);
  scale.left = where(scale, time) - pixel;
  keepIn(scale);
}

// Moments to be written on the axis: [time, text, whether a day begins].
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5, 864e5];
function ticks(scale) {
  const wanted = 84 / scale.at;
  const step = STEPS.find((step) => step >= wanted) ?? Math.ceil(wanted / 864e5) * 864e5;
  const zone = -new Date(told.first).getTimezoneOffset() * 60_000;
  const [from, to] = [when(scale, scale.left), when(scale, scale.left + scale.width)];
  const found = [];
  const align = (time) => Math.ceil((told.first + zone + time) / step) * step - told.first - zone;
  let last = -Infinity;
  for (let time = align(Math.max(0, from)); time <= to && found.length < 200; time += step) {
    const at = after(scale.starts, time);
    const gap = at > 0 && scale.gaps[at - 1];
    // Behind a break it goes on.
    if (gap && time < gap[0] + gap[1]) { time = align(gap[0] + gap[1]) - step; continue; }
    const place = where(scale, time);
    if (place - last < 70) continue;
    found.push([time, step >= 864e5 ? day(time) : clock(time, step >= 6e4 ? 'minute' : step >= 1e3 ? 'second' : 'milli')]);
    last = place;
  }
  return found;
}
