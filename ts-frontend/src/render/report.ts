/** A whole report as text: the head and one view, or the reason why there is none. */
import type { Focus, Model, ViewRow } from '../model/index.js';
import { focusView } from './focus.js';
import { head, type HeadSize } from './parts/head.js';
import { locks, objectRows } from './locks.js';
import type { RenderOptions, View } from './format/options.js';
import { procedures } from './procedures.js';
import { wrap } from './format/text.js';
import { threads } from './threads.js';
import { viewTable, type ViewQuery } from './views/view.js';

const renderers: Record<View, (model: Model, options: RenderOptions) => string[]> = { procedures, locks, threads };

function nothing(model: Model, view: View): string {
  switch (view) {
    case 'procedures':
      return model.head.publisher === 'pthread'
        ? 'No procedure was seen at work; let the program run longer.'
        : 'No procedure was seen: the program was compiled without hooks; compile it with the flags that "quartz ' +
            'cflags" prints.';
    case 'threads':
      return 'No thread was seen running; let the program run longer, or raise --rate.';
    case 'locks':
      return objectRows(model).length === 0
        ? 'The program used no synchronization object that Quartz sees while it was recorded; "quartz report" shows ' +
            'its procedures.'
        : 'Nobody waited for a synchronization object, so none limits the program; "quartz report" shows what does.';
  }
}

const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;

export function report(model: Model, view: View, options: RenderOptions, size: HeadSize = 'whole'): string {
  const body = renderers[view](model, options);
  return text([
    ...head(model, options, size),
    ...(body.length > 0 || model.samples === 0 ? body : wrap(nothing(model, view), options.width, 0, options)),
  ]);
}

export const focusReport = (model: Model, focus: Focus, options: RenderOptions, size: HeadSize = 'whole'): string =>
  text([...head(model, options, size), ...focusView(model, focus, options)]);

/** A line about the run, followed by one of the views of calling contexts. */
export const contextReport = (model: Model, root: ViewRow, query: ViewQuery, options: RenderOptions): string =>
  text([...head(model, options, 'short'), ...(model.samples > 0 ? viewTable(model, root, query, options) : [])]);
