// In the panel: a click or Enter goes to the code, the space bar shows it and stays here, arrows go along the derivations. Told of a
// step of a trace, it marks and shows the boxes of its line.

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

for (const button of document.querySelectorAll('[data-whole]')) {
  button.addEventListener('click', () => host.postMessage({ whole: button.dataset.whole === 'true' }));
}

window.addEventListener('message', ({ data: { uri, line } }) => {
  const here = boxes.filter((box) => Number(box.dataset.line) === line && box.dataset.uri === uri);
  for (const box of boxes) {
    box.classList.toggle('step', here.includes(box));
  }
  const shown = here.find((box) => box.classList.contains('error')) ?? here[0];
  shown?.scrollIntoView({ block: 'center', inline: 'center' });
});

// what the picture leads to is at its end
(
  boxes.filter((box) => box.classList.contains('error') && !box.classList.contains('unlikely')).at(-1) ?? boxes.at(-1)
)?.scrollIntoView({
  block: 'center',
  inline: 'center',
});
