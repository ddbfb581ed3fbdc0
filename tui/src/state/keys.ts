/** The effect of each key: the one table that both the terminal side and the help use. */
import { tabKey, tabs, type Action } from './types.js';

/** Effects that involve the outside world; the terminal side performs them. */
export type Effect = 'quit' | 'editor' | 'write' | 'redraw' | 'reset';
interface Binding {
  keys: readonly string[];
  shown: string;
  does: string;
  action?: (page: number) => Action;
  effect?: Effect;
}

export const bindings: readonly Binding[] = [
  { keys: ['?', 'f1', 'h'], shown: '?', does: 'this help', action: () => ({ type: 'help' }) },
  {
    keys: ['q', 'f10', 'C-c'],
    shown: 'q',
    does: 'quit; asks before it also ends a program started here',
    effect: 'quit',
  },
  { keys: ['tab'], shown: 'Tab', does: 'next tab', action: () => ({ type: 'next-tab', by: 1 }) },
  { keys: ['S-tab'], shown: 'Shift-Tab', does: 'previous tab', action: () => ({ type: 'next-tab', by: -1 }) },
  ...tabs.map((tab, index): Binding => ({
    keys: [tabKey(index)],
    shown: tabKey(index),
    does: tab,
    action: () => ({ type: 'tab', tab }),
  })),
  { keys: ['up', 'k'], shown: 'Up k', does: 'up a line', action: () => ({ type: 'move', by: -1 }) },
  { keys: ['down', 'j'], shown: 'Down j', does: 'down a line', action: () => ({ type: 'move', by: 1 }) },
  { keys: ['pageup', 'C-b'], shown: 'PgUp', does: 'up a page', action: (page) => ({ type: 'move', by: -page }) },
  { keys: ['pagedown', 'C-f'], shown: 'PgDn', does: 'down a page', action: (page) => ({ type: 'move', by: page }) },
  { keys: ['g', 'home'], shown: 'g', does: 'first line', action: () => ({ type: 'home' }) },
  { keys: ['S-g', 'end'], shown: 'G', does: 'last line', action: () => ({ type: 'end' }) },
  {
    keys: ['enter'],
    shown: 'Enter',
    does:
      'go into the children of the selected one; on the overview, of the finding at the top; in the tree: open; ' +
      'on the path: all of it; in the flame graph: it fills the width',
    action: () => ({ type: 'enter' }),
  },
  { keys: ['backspace'], shown: 'Backspace', does: 'go up again', action: () => ({ type: 'back' }) },
  {
    keys: ['escape'],
    shown: 'Esc',
    does: 'back: help, zoom, children, filter, freeze, mark',
    action: () => ({ type: 'escape' }),
  },
  { keys: ['/'], shown: '/', does: 'filter by name', action: () => ({ type: 'filter' }) },
  {
    keys: ['s', '>', '.'],
    shown: 's >',
    does: 'sort by the next column; flame: the narrower bar beside',
    action: () => ({ type: 'sort', by: 1 }),
  },
  {
    keys: ['<', ','],
    shown: '<',
    does: 'sort by the previous column; flame: the wider bar beside',
    action: () => ({ type: 'sort', by: -1 }),
  },
  { keys: ['r'], shown: 'r', does: 'reverse the order', action: () => ({ type: 'reverse' }) },
  { keys: ['i'], shown: 'i', does: 'rank by inclusive or self time', action: () => ({ type: 'self' }) },
  {
    keys: ['z'],
    shown: 'z',
    does: 'the selected one alone, and back (overview: findings; tree: in the flame graph; flame: all of the program)',
    action: () => ({ type: 'zoom' }),
  },
  { keys: ['b'], shown: 'b', does: 'bottle graph of threads, procedures or locks', action: () => ({ type: 'bottle' }) },
  {
    keys: ['v'],
    shown: 'v',
    does: 'tree: from the top down, by callers, flat; path: its other list',
    action: () => ({ type: 'view' }),
  },
  {
    keys: ['a'],
    shown: 'a',
    does: 'source: the instructions of its hottest lines, and the source again',
    action: () => ({ type: 'disassembly' }),
  },
  { keys: ['f', 'space'], shown: 'f', does: 'freeze, and resume', action: () => ({ type: 'freeze' }) },
  { keys: ['left', '['], shown: 'Left [', does: 'an earlier moment', action: () => ({ type: 'step', by: -1 }) },
  { keys: ['right', ']'], shown: 'Right ]', does: 'a later moment', action: () => ({ type: 'step', by: 1 }) },
  { keys: ['t'], shown: 't', does: 'window: all, last 1 s, 5 s, 30 s, 2 min', action: () => ({ type: 'window' }) },
  { keys: ['S-r'], shown: 'R', does: 'reset: count from now on, and from the start again', effect: 'reset' },
  { keys: ['m'], shown: 'm', does: 'mark this moment and compare with it', action: () => ({ type: 'mark' }) },
  { keys: ['w'], shown: 'w', does: 'write a snapshot profile', effect: 'write' },
  { keys: ['S-o', 'o'], shown: 'O', does: 'open the source in $EDITOR', effect: 'editor' },
  { keys: ['C-l'], shown: 'Ctrl-L', does: 'draw the screen anew', effect: 'redraw' },
];
const byKey = new Map(bindings.flatMap((binding) => binding.keys.map((key) => [key, binding] as const)));
export const bindingOf = (key: string): Binding | undefined => byKey.get(key);

/** The action of a key while the user types a filter, if any. */
export function editing(text: string, char: string | undefined, full: string): Action | null {
  switch (full) {
    case 'enter':
      return { type: 'filter-done' };
    case 'escape':
      return { type: 'escape' };
    case 'backspace':
      return { type: 'filter-text', text: text.slice(0, -1) };
    case 'C-u':
      return { type: 'filter-text', text: '' };
    default:
      return char !== undefined && char.length === 1 && char >= ' ' ? { type: 'filter-text', text: text + char } : null;
  }
}
