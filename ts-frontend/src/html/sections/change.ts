/** The first section of a comparison: what changed between two profiles. Pure functions. */
import type { Comparison } from '../../model/index.js';
import { cautionText, changeColumns, changedRows, changeText, findingChanges } from '../../render/compare.js';
import { facts } from '../../render/parts/head.js';
import type { RenderOptions } from '../../render/format/options.js';
import { escape } from '../drawing/escape.js';
import { htmlTable } from './table.js';

const options: RenderOptions = { width: 160, colour: false, ascii: false, top: 0 };

export function change(comparison: Comparison): string {
  const { before, after, cautions } = comparison;
  const findings = findingChanges(comparison, options).map((text) => `<li>${escape(text)}</li>`);
  return (
    `<p><strong>${escape(changeText(comparison, options))}</strong></p>` +
    `<p>before: ${escape(facts(before, options))}</p><p>after: ${escape(facts(after, options))}</p>` +
    (cautions.length > 0
      ? `<ul class="notices">${cautions.map((one) => `<li>${escape(cautionText(one))}</li>`).join('')}</ul>`
      : '') +
    (findings.length > 0 ? `<ol class="findings">${findings.join('')}</ol>` : '<p>Nothing stood out in either.</p>') +
    htmlTable(
      'Changes of normalized processor time, the largest first',
      changedRows(comparison),
      changeColumns(comparison, options),
      40,
    )
  );
}
