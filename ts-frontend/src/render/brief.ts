/**
 * The report in at most 8 KB of JSON, for readers with a limited context such as language models: all findings, then as
 * many procedures as fit.
 */
import { item, type Model } from '../model/index.js';
import { findingSentences } from './findings/index.js';
import { clean } from './format/text.js';
import { noticeLine } from './notices/index.js';
import { procedureRows } from './procedures.js';
import { shortName } from './wording/short-names.js';

export const briefSchema = 'quartz-brief-1';
/** The maximum size of the text in bytes. */
export const mostBytes = 8192;
const mostName = 100;
const mostText = 900;
const letters = { ascii: false };

const short = (text: string, most: number): string =>
  text.length <= most ? clean(text, letters) : `${clean(text.slice(0, most - 1), letters)}…`;

export function briefJson(model: Model, quartzVersion: string): string {
  const { balance } = model;
  const nameOf = (name: string): string => short(shortName(model, name, mostName, letters), mostName);
  const placeOf = ({ file, line }: { file: string; line: number }): string =>
    file === '' ? '' : short(`${file.slice(-80)}:${line}`, mostName);
  const report = {
    schema: briefSchema,
    quartz: quartzVersion,
    program: short(model.program, mostName),
    elapsedNs: Math.round(model.elapsedNs),
    processors: model.processors,
    samples: model.samples,
    meanBusy: Number(balance.meanBusy.toFixed(3)),
    usefulNs: Math.round(balance.usefulNs),
    spinningNs: Math.round(balance.spinningNs),
    idleNs: Math.round(balance.idleNs),
    findings: model.findings.map((finding) => {
      const { text, remedy } = findingSentences(model, finding, letters);
      return {
        kind: finding.kind,
        change: finding.change,
        name: nameOf(finding.name),
        place: placeOf(item(model.entities, finding.entity)),
        text: short(text, mostText),
        remedy: short(remedy, mostText),
        costNs: Math.round(finding.costNs),
        savingNs: Math.round(finding.savingNs),
      };
    }),
    notices: model.notices.slice(0, 3).map((one) => short(noticeLine(model, one, letters), 300)),
    complete: true, // whether the list contains all procedures that ran
    procedures: [] as object[],
  };
  const rows = procedureRows(model).filter(({ nptNs }) => nptNs > 0);
  let bytes = Buffer.byteLength(JSON.stringify(report)) + 16;
  for (const entity of rows) {
    const row = {
      kind: entity.kind,
      name: nameOf(entity.name),
      place: placeOf(entity),
      nptNs: Math.round(entity.nptNs),
      nptSelfNs: Math.round(entity.nptSelfNs),
      busy: Number(entity.parallelism.toFixed(2)),
      waitNs: Math.round(entity.object?.waitNs ?? 0),
    };
    bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
    if (bytes > mostBytes) break;
    report.procedures.push(row);
  }
  report.complete = report.procedures.length === rows.length;
  return `${JSON.stringify(report)}\n`;
}
