// The theme, before the first paint, and the small helpers that everything uses.
const root = document.documentElement;
const byId = (id) => document.getElementById(id);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const on = (id, act) => byId(id)?.addEventListener('click', act);
// Some browsers keep nothing for files, and say so by throwing.
const saved = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const save = (key, value) => { try { localStorage.setItem(key, value); } catch { /* not kept */ } };
// Places for rows that a script brings may be as high as those.
root.dataset.script = '';
const THEMES = ['auto', 'light', 'dark'];

const setTheme = (theme) => {
  if (theme === 'auto') delete root.dataset.theme; else root.dataset.theme = theme;
  const box = byId('tt-' + theme);
  if (box) box.checked = true;
};
const theme = saved('tt-theme');
if (THEMES.includes(theme)) setTheme(theme);
