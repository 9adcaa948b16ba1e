// Sets the theme before the first paint; and small helpers for all parts.
const root = document.documentElement;
const byId = (id) => document.getElementById(id);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const on = (id, act) => byId(id)?.addEventListener('click', act);
// Some browsers have no storage for pages from files, and throw.
const saved = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const save = (key, value) => { try { localStorage.setItem(key, value); } catch { /* not kept */ } };
// With a script, sections that are not loaded take about the height of their rows.
root.dataset.script = '';
const THEMES = ['auto', 'light', 'dark'];

const setTheme = (theme) => {
  if (theme === 'auto') delete root.dataset.theme; else root.dataset.theme = theme;
  const box = byId('tt-' + theme);
  if (box) box.checked = true;
};
const theme = saved('tt-theme');
if (THEMES.includes(theme)) setTheme(theme);
