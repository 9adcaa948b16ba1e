// What comes later on pages with lists: how far reading is, how much was found, how tests went. Without it all of this is there too,
// when the page is asked for again.
document.addEventListener('DOMContentLoaded', () => {
  'use strict';
  const ask = async (address) => (await fetch(address)).json();

  // Reading goes on: say how far it is, and show everything when it is done.
  const progress = document.getElementById('tt-progress');
  const poll = async () => {
    let told;
    try { told = await ask(progress.dataset.from); } catch { return setTimeout(poll, 2000); }
    if (told.done) return location.reload();
    progress.querySelector('span').textContent = told.say;
    progress.querySelector('progress').value = told.share;
    setTimeout(poll, 300);
  };
  if (progress) setTimeout(poll, 300);

  // How much there is in all.
  for (const place of document.querySelectorAll('[data-count]')) {
    ask(place.dataset.count).then((told) => {
      place.textContent = told.say;
      if (told.all) place.parentElement.querySelector('[data-unless-all]')?.remove();
    }, () => {});
  }

  // Verdicts on sessions that took too long to work out. A session has several cells.
  const untold = [...document.querySelectorAll('[data-tests]')];
  const fill = async () => {
    const some = untold.splice(0, 60);
    if (!some.length) return;
    const ids = new Set(some.map((cell) => cell.dataset.tests));
    const query = [...ids].map((id) => 's=' + encodeURIComponent(id)).join('&');
    const told = await ask(some[0].closest('[data-tests-from]').dataset.testsFrom + '?' + query);
    for (const cell of some) {
      const one = told[cell.dataset.tests]?.[cell.dataset.part];
      cell.textContent = one?.say ?? '';
      if (one) { cell.className = one.class; cell.title = one.title; }
    }
    return fill();
  };
  fill().catch(() => {});
});
