/** Draws the whole screen, as a pure function of scene, size and state. */
import { baseName, item } from '../../ts-frontend/src/model/index.js';
import { path } from '../../ts-frontend/src/render/wording/names.js';
import { cpusText } from '../../ts-frontend/src/render/wording/kernel-usage.js';
import { cut } from '../../ts-frontend/src/render/format/text.js';
import { Canvas, Colour } from './draw/canvas.js';
import { plainLetters, type Glyphs } from './draw/glyphs.js';
import { tabKey, tabs, type Scene, type Size, type State } from './state/types.js';
import { isTable, selectedEntity } from './state/state.js';
import { digits, percent, rate, time } from './draw/format.js';
import { overview, settledOverview } from './views/overview.js';
import { table } from './views/table.js';
import { detail } from './views/detail.js';
import { bottle } from './views/bottle.js';
import { contexts } from './views/contexts.js';
import { flame } from './views/flame.js';
import { timePath } from './views/path.js';
import { settledSource, source } from './views/source.js';
import { disassembly, settledDisassembly } from './views/disassembly.js';
import { help } from './views/help.js';

export const smallest: Size = { width: 40, height: 10 };
/** Positions on the screen, also used for the mouse. */
export const bodyTop = 3;

export function frame(scene: Scene, size: Size, state: State, glyphs: Glyphs): Canvas {
  const canvas = new Canvas(size.width, size.height);
  if (size.width < smallest.width || size.height < smallest.height) {
    canvas.text(0, 0, `quartz top needs ${smallest.width}x${smallest.height}`);
    canvas.text(0, 1, 'q quits');
    return canvas;
  }
  header(canvas, scene, state, glyphs);
  tabBar(canvas, state);
  crumbs(canvas, scene, state, glyphs);
  const body = bodyOf(size);
  canvas.blit(0, bodyTop, state.help > 0 ? help(body, state) : viewOf(scene, body, state, glyphs));
  footer(canvas, state);
  if (glyphs.ascii) canvas.replace(plainLetters);
  return canvas;
}

/** The state with the values that depend on the screen size, such as the maximum scroll position, adjusted. */
export function settled(scene: Scene, size: Size, state: State): State {
  if (state.tab === 'overview') return settledOverview(scene.model, bodyOf(size), state);
  if (state.tab !== 'source') return state;
  return (state.disassembly ? settledDisassembly : settledSource)(scene, bodyOf(size), state);
}

/** The area between tab bar and footer. */
export const bodyOf = (size: Size): Size => ({ width: size.width, height: size.height - bodyTop - 1 });

/** The number of table rows shown, which PgUp and PgDn move by. */
export function pageOf(size: Size, state: State): number {
  const body = size.height - bodyTop - 1;
  return Math.max(1, isTable(state.tab) ? tableSize({ width: size.width, height: body }).height - 1 : body - 1);
}
/** The table's part of the body: on the left if the rest fits beside it, else above the rest. */
export function tableSize(body: Size): Size & { beside: boolean } {
  if (body.width >= 132) return { width: Math.floor(body.width * 0.55), height: body.height, beside: true };
  if (body.height < 14) return { width: body.width, height: body.height, beside: false };
  return { width: body.width, height: Math.max(6, Math.floor(body.height * 0.5)), beside: false };
}

function viewOf(scene: Scene, body: Size, state: State, glyphs: Glyphs): Canvas {
  if (state.tab === 'overview') return overview(scene, body, state, glyphs);
  if (state.tab === 'bottle') return bottle(scene, body, state, selectedEntity(state, scene), glyphs);
  if (state.tab === 'tree') return contexts(scene, body, state, glyphs);
  if (state.tab === 'flame') return flame(scene, body, state, glyphs);
  if (state.tab === 'path') return timePath(scene, body, state, glyphs);
  if (state.tab === 'source' && state.disassembly) return disassembly(scene, body, state, glyphs);
  if (state.tab === 'source') return source(scene, body, state, glyphs);
  if (state.zoom) return detail(scene, body, state, glyphs);
  const canvas = new Canvas(body.width, body.height);
  const part = tableSize(body);
  canvas.blit(0, 0, table(scene, part, state, glyphs));
  if (part.beside) {
    canvas.fill(part.width, 0, 1, body.height, glyphs.vertical, { fg: Colour.grey });
    canvas.blit(
      part.width + 2,
      0,
      detail(scene, { width: body.width - part.width - 2, height: body.height }, state, glyphs),
    );
  } else if (part.height < body.height) {
    canvas.fill(0, part.height, body.width, 1, glyphs.horizontal, { fg: Colour.grey });
    canvas.blit(
      0,
      part.height + 1,
      detail(scene, { width: body.width, height: body.height - part.height - 1 }, state, glyphs),
    );
  }
  return canvas;
}

function header(canvas: Canvas, scene: Scene, state: State, glyphs: Glyphs): void {
  const { model, live } = scene;
  const { head, kernelUsage: usage } = model;
  const what = live.ended ?? (live.finished ? 'finished profile' : stateOf(live, state));
  const right = ` ${what} `;
  const all = [
    `pid ${head.pid}`,
    time(live.nowNs),
    `P=${model.processors}`,
    rate(model.rateHz),
    `Quartz ${percent(live.costShare)} of a CPU`,
    model.balance.meanBusy > 0 ? `busy ${digits(model.balance.meanBusy)}` : '',
    ...(usage ? [`CPUs ${cpusText(usage)}`, `system ${time(usage.systemNs)}`] : []),
  ].filter((fact) => fact !== '');
  // drop facts until all fit, rather than cut one off
  while (all.length > 1 && all.join('  ').length + 12 + right.length > canvas.width) all.pop();
  const facts = all.join('  ');
  canvas.fill(0, 0, canvas.width, 1, ' ', { inverse: true });
  const room = canvas.width - right.length;
  const name = cut(baseName(model.program), Math.max(8, Math.min(30, room - facts.length - 4)), glyphs);
  canvas.text(0, 0, ` ${name}  ${facts}`, { inverse: true }, room);
  canvas.textRight(room, 0, right.length, right, { inverse: true, bold: live.ended !== null });
}
/** Of a recording that goes on: what the screen shows of it. */
function stateOf({ shownNs }: Scene['live'], { frozen, refreshSeconds }: State): string {
  if (frozen !== null) return `frozen at ${time(shownNs)}`;
  return refreshSeconds === null ? 'running' : `running, next look in ${refreshSeconds} s`;
}
function tabBar(canvas: Canvas, state: State): void {
  const places = tabPlaces(canvas.width);
  const names = labelsOf(canvas.width).names;
  // The shown tab is drawn last: if space is short, its bracket takes the blank before the next tab.
  for (const { tab, x, width } of [...places].sort(
    (a, b) => Number(a.tab === state.tab) - Number(b.tab === state.tab),
  )) {
    const on = tab === state.tab;
    const index = tabs.indexOf(tab);
    const text = width > 3 ? ` ${tabKey(index)} ${item(names, index)}` : ` ${tabKey(index)}`;
    canvas.text(
      x,
      1,
      on ? `[${text.slice(1)}]` : `${text} `,
      on ? { bold: true, underline: true } : {},
      on ? width + 1 : width,
    );
  }
}
/**
 * The names of tabs, complete or, if space is short, abbreviated, and the columns around each. around 0: only the tabs'
 * numbers fit.
 */
function labelsOf(width: number): { names: string[]; around: number } {
  const whole = tabs.map((tab) => `${item(tab, 0).toUpperCase()}${tab.slice(1)}`);
  const short = whole.map((name) => (name === 'Procedures' ? 'Procs' : name));
  const shorter = short.map((name) => (name === 'Threads' || name === 'Objects' ? name.slice(0, 3) : name));
  for (const [names, around] of [
    [whole, 4],
    [whole, 3],
    [short, 3],
    [shorter, 3],
  ] as const)
    if (names.join('').length + around * tabs.length < width) return { names, around };
  return { names: whole, around: 0 };
}
export function tabPlaces(width: number): { tab: (typeof tabs)[number]; x: number; width: number }[] {
  const { names, around } = labelsOf(width);
  let x = 0;
  return tabs.map((tab, index) => {
    const place = { tab, x, width: around === 0 ? 3 : item(names, index).length + around };
    x += place.width;
    return place;
  });
}
function crumbs(canvas: Canvas, scene: Scene, state: State, glyphs: Glyphs): void {
  const parts = [
    state.windowNs === null ? 'all since the start' : `last ${time(state.windowNs)}`,
    state.inclusive ? '' : 'ranked by self',
    state.filter === '' ? '' : `filter "${state.filter}"`,
    state.mark === null ? '' : `compared with ${time(state.mark)}`,
  ]
    .filter((part) => part !== '')
    .join('; ');
  canvas.textRight(0, 2, canvas.width, parts, { fg: Colour.grey });
  const before = `all${glyphs.crumb}`;
  const room = canvas.width - parts.length - 2 - before.length;
  if (state.focus.length > 0)
    canvas.text(0, 2, before + path(scene.model, state.focus, room, glyphs), { fg: Colour.cyan });
}
function footer(canvas: Canvas, state: State): void {
  const y = canvas.height - 1;
  if (state.editing !== null)
    canvas.text(0, y, `filter: ${state.editing}_   Enter takes it, Esc leaves it`, { bold: true });
  else if (state.message !== '') canvas.text(0, y, state.message, { bold: true });
  else {
    const keys = [
      '? help',
      'q quit',
      'Tab tabs',
      'Enter into',
      'Backspace up',
      '/ filter',
      's sort',
      'i self',
      'z zoom',
      'f freeze',
      't window',
      'm mark',
      'w write',
    ];
    while (keys.join('  ').length > canvas.width) keys.pop();
    canvas.text(0, y, keys.join('  '), { fg: Colour.grey });
  }
}
