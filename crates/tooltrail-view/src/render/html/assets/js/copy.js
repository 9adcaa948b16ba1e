// Copying: a row's command, change or text, and a link to it.
async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const box = Object.assign(document.createElement('textarea'), { value: text });
    document.body.append(box);
    box.select();
    document.execCommand('copy');
    box.remove();
  }
  say(what + ' copied');
}
// Without the words that only stand there for whoever listens.
function plain(element) {
  const twin = element.cloneNode(true);
  for (const hidden of all('.vh, .tools', twin)) hidden.remove();
  return twin.textContent.replace(/\n$/, '');
}
function change(diff) {
  return all(':scope > span', diff).map((line) => (line.matches('.at') ? '@@ ' : line.matches('.add') ? '+' : line.matches('.rem') ? '-' : ' ') + plain(line)).join('\n');
}
async function copyRow(row) {
  await filled(row);
  const body = row.querySelector(':scope > .body') || row;
  const command = body.querySelector('.term .cmd');
  const diff = body.querySelector('.diff');
  const title = row.querySelector(':scope > summary .title');
  if (command) copy(plain(command), 'command');
  else if (diff) copy(change(diff), 'change');
  else if (title?.textContent) copy(plain(title), 'title');
  else copy(plain(body), 'text');
}
function copyLink(row) {
  const id = row.id || row.closest('[id]')?.id;
  if (id) copy(address(id), 'link');
}
// An open call gets its buttons when it is first seen: before its life, so that they can stand beside that.
function equip(row) {
  const body = row.querySelector(':scope > .body');
  if (!body || body.querySelector(':scope > .tools')) return;
  const tools = document.createElement('div');
  tools.className = 'tools';
  for (const [label, act] of BUTTONS) {
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: label });
    button.addEventListener('click', () => act(row));
    tools.append(button);
  }
  body.insertBefore(tools, body.querySelector(':scope > .life'));
}
rows.addEventListener('toggle', ({ target }) => { if (target.open && target.matches?.('.call')) equip(target); }, true);
