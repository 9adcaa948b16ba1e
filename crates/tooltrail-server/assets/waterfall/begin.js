// The waterfall: when everything was done. The server tells it as columns, the bars are drawn on a canvas, names are rows beside it.
(() => {
  'use strict';
  document.addEventListener('DOMContentLoaded', () => {
const root = document.documentElement;
const byId = (id) => document.getElementById(id);
const on = (id, act) => byId(id)?.addEventListener('click', act);
// For tests: what a browser driver can wait for.
const ready = () => { root.dataset.drawn = 'true'; };
// What happened, for a moment.
let saying = 0;
function say(text) {
  const place = byId('tt-said');
  place.textContent = text;
  clearTimeout(saying);
  saying = setTimeout(() => { place.textContent = ''; }, 2500);
}
