/** Findings for editors and code hosts: in the form of compiler messages, and as SARIF 2.1.0 (OASIS, 2020). */
import { item, type Finding, type Model } from '../model/index.js';
import { findingSentences } from './findings/index.js';
import type { RenderOptions } from './format/options.js';
import { clean } from './format/text.js';

interface Place {
  file: string;
  line: number;
}

/**
 * The source location of a finding: that of its entity or else of the first related entity with a known one. Files
 * below `base`, an absolute path, are written relative to it.
 */
function placeOf(model: Model, { entity, related }: Finding, base: string): Place | null {
  for (const id of [entity, ...related]) {
    const { file, line } = item(model.entities, id);
    if (id === 0 || file === '' || line <= 0) continue;
    const below = base.endsWith('/') ? base : `${base}/`;
    return { file: file.startsWith(below) ? file.slice(below.length) : file, line };
  }
  return null;
}

/** "FILE:LINE: note: ..." for each finding; the program's name if no location is known. */
export function notes(model: Model, base: string, options: RenderOptions): string {
  return model.findings
    .map((finding) => {
      const place = placeOf(model, finding, base);
      const { text, remedy } = findingSentences(model, finding, options);
      const where = place === null ? model.program : `${place.file}:${place.line}`;
      return `${clean(`${where}: note: ${text} ${remedy}`, options)}\n`;
    })
    .join('');
}

/** The URI of a path, which may contain any character. Relative paths are relative to the root of the sources. */
function uriOf(file: string): string {
  const path = file.split('/').map(encodeURIComponent).join('/');
  return file.startsWith('/') ? `file://${path}` : path;
}

export function sarif(model: Model, base: string, quartzVersion: string): string {
  const kinds = [...new Set(model.findings.map(({ kind }) => kind))];
  const results = model.findings.map((finding) => {
    const place = placeOf(model, finding, base);
    const { text, remedy } = findingSentences(model, finding, { ascii: false });
    return {
      ruleId: finding.kind,
      ruleIndex: kinds.indexOf(finding.kind),
      level: 'note',
      message: { text: clean(`${text} ${remedy}`, { ascii: false }) },
      locations:
        place === null
          ? []
          : [
              {
                physicalLocation: {
                  artifactLocation: { uri: uriOf(place.file) },
                  region: { startLine: place.line },
                },
              },
            ],
      properties: { entity: finding.name, costNs: finding.costNs, savingNs: finding.savingNs, change: finding.change },
    };
  });
  return `${JSON.stringify(
    {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [
        {
          tool: {
            driver: {
              name: 'Quartz',
              version: quartzVersion,
              rules: kinds.map((id) => ({ id, shortDescription: { text: `what limits the program: ${id}` } })),
            },
          },
          columnKind: 'unicodeCodePoints',
          results,
        },
      ],
    },
    null,
    1,
  )}\n`;
}
