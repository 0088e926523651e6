// Draws one function's part of the derivation graph as SVG: a box for each configuration, the facts that the function is entered with
// above, errors marked, and a legend of the signs that there are. All text comes from the program under check, so all of it is escaped.

import { Graph, layout } from '@dagrejs/dagre';
import type { FunctionDerivations } from '../protocol';

const CHARACTER = 7.3; // pixels, of the monospaced font at the size that the style sheet sets
const LINE = 16;
const LONGEST = 44; // characters that are shown of a fact or an effect; the tooltip shows all

interface Box {
  readonly id: string;
  readonly lines: readonly string[];
  readonly kind: 'entry' | 'configuration' | 'error' | 'error unlikely';
  readonly label: string;
  /** The configuration, if it is one. */
  readonly index?: number;
}

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly kind: 'entry' | 'first' | 'again';
}

interface Placed {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The picture, with what it shows and what its signs mean. */
export function drawing(graph: FunctionDerivations): string {
  const boxes = [...entryBoxes(graph), ...configurationBoxes(graph)];
  const arrows = [...entryArrows(graph), ...derivationArrows(graph)];
  const placed = arrange(boxes, arrows);
  const marker =
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>';
  const label = escape(
    `Derivation graph of ${graph.function}: ${graph.configurations.length} configurations, ${graph.derivations.length} derivations`,
  );
  const size = `width="${Math.ceil(placed.width)}" height="${Math.ceil(placed.height)}"`;
  const drawn = [
    ...arrows.map((arrow, number) => drawArrow(arrow, placed.edges[number] ?? [])),
    ...boxes.map((box) => drawBox(box, placed.nodes.get(box.id), graph)),
  ];
  return `${shown(graph)}${legend(boxes, arrows)}<svg ${size} role="group" aria-label="${label}">${marker}${drawn.join('')}</svg>`;
}

/** What part of the function is drawn, with a button for the other. */
function shown(graph: FunctionDerivations): string {
  const count = graph.configurations.length;
  const all = (count + graph.leftOut).toLocaleString('en');
  const end = graph.configurations[graph.leadsTo[0] ?? -1];
  if (end === undefined) {
    const left = graph.leftOut === 0 ? 'All' : `The first ${count} of`;
    const back = '<button type="button" data-whole="false">Show what leads to the cursor</button>';
    return `<p role="note">${left} ${all} configurations of <code>${escape(graph.function)}</code>. ${back}</p>`;
  }
  const line = end.range.start.line + 1;
  const more = '<button type="button" data-whole="true">Show the whole function</button>';
  return `<p role="note">What leads to line ${line}: ${count} of the ${all} configurations of <code>${escape(graph.function)}</code>. ${more}</p>`;
}

/** What the signs mean that are in the picture. */
function legend(boxes: readonly Box[], arrows: readonly Arrow[]): string {
  const of = (kind: Box['kind'] | Arrow['kind']) => [...boxes, ...arrows].some((one) => one.kind === kind);
  const signs: readonly (readonly [boolean, string, string])[] = [
    [of('entry'), 'sign entry', 'what the function is entered with'],
    [of('configuration'), 'sign', 'what holds on some path before this line'],
    [of('error'), 'sign error', 'an error that is reported'],
    [
      of('error unlikely'),
      'sign error unlikely',
      'an error that is not: no path leads to it, or it is reported elsewhere',
    ],
    [of('again'), 'line again', 'was known before'],
  ];
  const items = signs.filter(([isThere]) => isThere).map(([, kind, text]) => `<li><i class="${kind}"></i>${text}</li>`);
  return `<ul class="legend">${items.join('')}</ul>`;
}

export function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Of what the function is entered with, that which leads to something that is drawn. */
function entryBoxes(graph: FunctionDerivations): Box[] {
  const drawn = new Set(graph.configurations.map(({ entry }) => entry));
  const boxes = graph.entries.map((entry, number) => {
    const from = [...(entry.start ? ['the start of the program'] : []), ...entry.callers];
    const summary = entry.summary.length === 0 ? 'does not return' : `returns with ${entry.summary.join(' or ')}`;
    return {
      id: entryId(number),
      kind: 'entry' as const,
      lines: ['entered with', short(entry.fact)],
      label: `Entered with ${entry.fact}, from ${from.join(', ')}; ${summary}`,
    };
  });
  return boxes.filter((_, number) => drawn.has(number));
}

function configurationBoxes(graph: FunctionDerivations): Box[] {
  return graph.configurations.map((configuration, index) => {
    const line = configuration.range.start.line + 1;
    const kind = !configuration.error ? 'configuration' : configuration.reported ? 'error' : 'error unlikely';
    return {
      id: configurationId(index),
      index,
      kind,
      lines: [`line ${line}`, short(configuration.fact)],
      label: `${configuration.error ? 'Error' : 'Configuration'} at location ${configuration.location}, line ${line}: ${configuration.fact}`,
    };
  });
}

/** From each entry to the configuration that it begins with: the first that was found of it. */
function entryArrows(graph: FunctionDerivations): Arrow[] {
  return graph.entries.flatMap((_, number) => {
    const first = graph.configurations.findIndex(({ entry }) => entry === number);
    return first < 0 ? [] : [{ from: entryId(number), to: configurationId(first), text: '', kind: 'entry' as const }];
  });
}

function derivationArrows(graph: FunctionDerivations): Arrow[] {
  return graph.derivations.map(({ source, target, effect, by, again }) => ({
    from: configurationId(source),
    to: configurationId(target),
    text: by.length === 0 ? effect : `${effect} (by the summary of ${by.join(', ')})`,
    kind: again ? 'again' : 'first',
  }));
}

function arrange(boxes: readonly Box[], arrows: readonly Arrow[]) {
  const graph = new Graph({ directed: true, multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 24, ranksep: 34, marginx: 12, marginy: 12 });
  for (const box of boxes) {
    const widest = Math.max(...box.lines.map((text) => text.length));
    graph.setNode(box.id, { width: widest * CHARACTER + 20, height: box.lines.length * LINE + 10 });
  }
  arrows.forEach((arrow, number) => {
    const width = short(arrow.text).length * CHARACTER;
    graph.setEdge(arrow.from, arrow.to, { width, height: arrow.text === '' ? 0 : LINE, labelpos: 'c' }, String(number));
  });
  layout(graph);
  const nodes = new Map(boxes.map(({ id }) => [id, graph.node(id) as Placed]));
  const edges = arrows.map(
    (arrow, number) =>
      (graph.edge(arrow.from, arrow.to, String(number)) as { points: { x: number; y: number }[] }).points,
  );
  const size = graph.graph() as { width?: number; height?: number };
  return { nodes, edges, width: size.width ?? 0, height: size.height ?? 0 };
}

function drawBox(box: Box, placed: Placed | undefined, graph: FunctionDerivations): string {
  if (placed === undefined) {
    return '';
  }
  const { x, y, width, height } = placed;
  const top = y - height / 2;
  const texts = box.lines.map(
    (line, number) => `<text x="${round(x)}" y="${round(top + 5 + LINE * (number + 0.75))}">${escape(line)}</text>`,
  );
  const shape = `<rect x="${round(x - width / 2)}" y="${round(top)}" width="${round(width)}" height="${round(height)}" rx="4"/>`;
  const title = `<title>${escape(box.label)}</title>`;
  if (box.index === undefined) {
    return `<g class="${box.kind}">${title}${shape}${texts.join('')}</g>`;
  }
  const next = graph.derivations.filter(({ source }) => source === box.index).map(({ target }) => target);
  const previous = graph.derivations.filter(({ target }) => target === box.index).map(({ source }) => source);
  const configuration = graph.configurations[box.index];
  const line = `data-line="${configuration?.range.start.line ?? -1}" data-uri="${escape(configuration?.uri ?? '')}"`;
  const links = `data-index="${box.index}" ${line} data-next="${next.join(' ')}" data-previous="${previous.join(' ')}"`;
  return `<g class="${box.kind}" tabindex="0" role="button" aria-label="${escape(box.label)}" ${links}>${title}${shape}${texts.join('')}</g>`;
}

function drawArrow(arrow: Arrow, points: readonly { x: number; y: number }[]): string {
  const path = points.map(({ x, y }, number) => `${number === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('');
  const middle = points[Math.floor(points.length / 2)];
  const text =
    arrow.text === '' || middle === undefined
      ? ''
      : `<text x="${round(middle.x)}" y="${round(middle.y + 4)}">${escape(short(arrow.text))}</text>`;
  return `<g class="arrow ${arrow.kind}"><title>${escape(arrow.text)}</title><path d="${path}" marker-end="url(#tip)"/>${text}</g>`;
}

function short(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}

function round(value: number): string {
  return value.toFixed(1);
}

const entryId = (number: number) => `entry ${number}`;
const configurationId = (number: number) => `configuration ${number}`;
