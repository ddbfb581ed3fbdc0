/** The first section of a page: findings, key figures of the run, and notices. Pure functions. */
import type { Model } from '../../model/index.js';
import { findingSentences } from '../../render/findings/index.js';
import { percent, time, count, figure } from '../../render/format/units.js';
import { beforeFindings, facts, processorsText } from '../../render/parts/head.js';
import { noticeLine } from '../../render/notices/index.js';
import { kernelUsageText } from '../../render/wording/kernel-usage.js';
import { escape, escapeProse } from '../drawing/escape.js';

const letters = { ascii: false };

export function headFigures(model: Model): string {
  const { balance } = model;
  const total = balance.usefulNs + balance.overheadNs + balance.spinningNs + balance.idleNs;
  const boxes: [string, string][] = [
    ['elapsed', time(model.elapsedNs)],
    ['processors', count(model.processors)],
    ['busy on average', figure(balance.meanBusy)],
    ['useful', percent(balance.usefulNs, total)],
    ['spinning', percent(balance.spinningNs, total)],
    ['idle', percent(balance.idleNs, total)],
    ['snapshots', count(model.samples)],
  ];
  const rows = boxes.map(([name, value]) => `<div><dt>${name}</dt><dd>${escape(value)}</dd></div>`);
  return `<dl class="boxes">${rows.join('')}</dl>`;
}

export function findings(model: Model): string {
  const items = model.findings.map((finding) => {
    const { text, remedy } = findingSentences(model, finding, letters);
    return `<li><p>${escapeProse(text)}</p><p class="remedy">${escapeProse(remedy)}</p></li>`;
  });
  if (items.length === 0) return '<p>Nothing stands out; the notices say why.</p>';
  const before = beforeFindings(model, letters);
  return `${before === '' ? '' : `<p>${escapeProse(before)}</p>`}<ol class="findings">${items.join('')}</ol>`;
}

export function aboutRun(model: Model): string {
  const texts = [facts(model, letters), processorsText(model, letters), kernelUsageText(model, letters)];
  const notices = model.notices.map((one) => `<li>${escapeProse(noticeLine(model, one, letters))}</li>`);
  return (
    texts
      .filter((text) => text !== '')
      .map((text) => `<p>${escapeProse(text)}</p>`)
      .join('') + (notices.length > 0 ? `<ul class="notices">${notices.join('')}</ul>` : '')
  );
}
