// In the panel: a click or Enter goes to the code, the space bar shows it and stays here, arrows go along the derivations.

const host = acquireVsCodeApi();
const boxes = [...document.querySelectorAll('[data-index]')];

function go(box, focus) {
  host.postMessage({ index: Number(box.dataset.index), focus });
}

function along(box, key) {
  const linked = (names) => boxes[Number(names.split(' ')[0])];
  const beside = boxes.indexOf(box);
  const targets = {
    ArrowDown: box.dataset.next === '' ? undefined : linked(box.dataset.next),
    ArrowUp: box.dataset.previous === '' ? undefined : linked(box.dataset.previous),
    ArrowRight: boxes[beside + 1],
    ArrowLeft: boxes[beside - 1],
  };
  return targets[key];
}

for (const box of boxes) {
  box.addEventListener('click', () => go(box, true));
  box.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' || event.key === ' ') {
      go(box, event.key === 'Enter');
      event.preventDefault();
    } else if (event.key.startsWith('Arrow')) {
      const next = along(box, event.key);
      if (next !== undefined) {
        next.focus();
        next.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      }
      event.preventDefault();
    }
  });
}
