// The page of one call: copying, and keys. Everything it does can be done by its links, too.
"use strict";

const page = () => document.getElementById("main");

// Says for a moment that something was copied.
function done(button, word) {
  const before = button.dataset.word ?? button.textContent;
  button.dataset.word = before;
  button.textContent = word;
  button.classList.add("done");
  setTimeout(() => { button.textContent = before; button.classList.remove("done"); }, 1200);
}

async function copy(button) {
  try {
    const text = button.dataset.fetch ? await (await fetch(button.dataset.fetch)).text() : button.dataset.copy;
    await navigator.clipboard.writeText(text);
    done(button, "Copied");
  } catch {
    done(button, "Cannot copy here");
  }
}

function follow(rel) {
  const link = document.querySelector(`main a[rel=${rel}]`);
  if (link) location.assign(link.href);
}

function press(selector) {
  document.querySelector(selector)?.click();
}

async function link() {
  await navigator.clipboard.writeText(location.href.split("#")[0]);
}

const KEYS = {
  "[": () => follow("prev"), h: () => follow("prev"),
  "]": () => follow("next"), l: () => follow("next"),
  u: () => follow("up"),
  c: () => press("[data-key=c]"), m: () => press("[data-key=m]"), y: link,
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, textarea, select, [contenteditable]")) return;
  const act = KEYS[event.key];
  if (!act || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  act();
});

addEventListener("click", (event) => {
  const button = event.target.closest?.("button.copy");
  if (button) copy(button);
});

addEventListener("DOMContentLoaded", () => { document.documentElement.dataset.ready = "true"; });
