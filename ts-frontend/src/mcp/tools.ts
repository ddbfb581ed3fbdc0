/** The tools that coding agents can call: findings, one entity, source locations, a comparison of two profiles. */
import { statSync } from 'node:fs';
import { Failure } from '../cli/failure.js';
import { newestProfile } from '../cli/files.js';
import { find } from '../cli/show/find.js';
import { loadModel } from '../cli/profile.js';
import { compare, focusOn, item, type Entity, type Model } from '../model/index.js';
import { briefJson, comparisonMarkdown } from '../render/index.js';
import type { Server, Tool } from './protocol.js';

const file = {
  description: 'path of the profile (*.quartz); the newest in the current directory where it is left out',
  required: false,
};
const most = 25;
const round = (list: ArrayLike<number>): number[] => Array.from(list, Math.round);

/** The last profile is kept until its file changes, because agents ask several questions about one profile. */
let last: { key: string; model: Model } | undefined;
function modelOf(name: string | undefined): Model {
  const path = name ?? newestProfile();
  const status = statSync(path, { throwIfNoEntry: false });
  const key = `${path} ${status?.ino ?? 0} ${status?.mtimeMs ?? 0} ${status?.size ?? 0}`;
  if (last?.key !== key) last = { key, model: loadModel(path, { raw: false }) };
  return last.model;
}

function entityText(model: Model, name: string): string {
  const entity = item(model.entities, find(model, name));
  const { rows, threads, waits } = focusOn(model, entity.id);
  const nameOf = (id: number): string => item(model.entities, id).name;
  return JSON.stringify({
    kind: entity.kind,
    name: entity.name,
    file: entity.file,
    line: entity.line,
    elapsedNs: Math.round(model.elapsedNs),
    processors: model.processors,
    nptNs: Math.round(entity.nptNs),
    nptCi95: entity.ci95,
    nptSelfNs: Math.round(entity.nptSelfNs),
    processorTimeNs: Math.round(entity.processorTimeNs),
    idlenessNs: Math.round(entity.idlenessNs),
    nptByBusyProcessorsNs: round(entity.byBusyNs),
    calls: entity.callsCounted ? entity.calls : null,
    children: rows.slice(0, most).map((row) => ({
      name: row.self ? 'itself' : row.name,
      kind: row.kind,
      nptNs: Math.round(row.nptNs),
    })),
    threads: threads.slice(0, most).map((row) => ({ name: nameOf(row.entity), nptNs: Math.round(row.nptNs) })),
    waits: waits.slice(0, most).map((row) => ({ ...row, entity: nameOf(row.entity) })),
    waitedNs: entity.object?.waitNs ?? null,
    holders: pathsOf(model, entity.object?.holders ?? []),
    waiters: pathsOf(model, entity.object?.waiters ?? []),
  });
}

const pathsOf = (model: Model, list: readonly { path: readonly number[]; ns: number }[]): object[] =>
  list.slice(0, 5).map(({ path, ns }) => ({
    ns: Math.round(ns),
    path: path.map((id) => item(model.entities, id).name).join(' > '),
  }));

function sourceText(model: Model, part: string): string {
  const located = model.entities.filter(
    ({ id, file: its, line, group, nptNs, kind }: Entity) =>
      id !== 0 && its.includes(part) && its !== '' && line > 0 && group === 0 && kind !== 'thread' && nptNs > 0,
  );
  if (located.length === 0)
    throw new Failure(
      part === ''
        ? 'this profile has no places in source files'
        : `nothing that ran is in a file with "${part}" in its path`,
      part === '' ? 'compile the program with -g' : 'leave path out: that lists the places of all files',
    );
  located.sort((a, b) => b.nptSelfNs - a.nptSelfNs || b.nptNs - a.nptNs);
  return JSON.stringify({
    elapsedNs: Math.round(model.elapsedNs),
    complete: located.length <= 4 * most,
    places: located.slice(0, 4 * most).map((entity) => ({
      place: `${entity.file}:${entity.line}`,
      kind: entity.kind,
      name: entity.name,
      nptNs: Math.round(entity.nptNs),
      nptSelfNs: Math.round(entity.nptSelfNs),
    })),
  });
}

const tools = (version: string): readonly Tool[] => [
  {
    name: 'findings',
    description:
      'What limits a recorded program, and what each change would save: findings in words and numbers, then the ' +
      'procedures and locks with the most elapsed time (NPT, ns). At most 8 KB.',
    arguments: { file },
    call: (args) => briefJson(modelOf(args['file']), version).trimEnd(),
  },
  {
    name: 'entity',
    description:
      'One procedure, lock or thread: its elapsed time (NPT) by number of busy processors, what it calls, which ' +
      'threads ran it, what it waits for, who held a lock and who waited. Times in ns.',
    arguments: { name: { description: 'name, or kind and name ("lock table")', required: true }, file },
    call: (args) => entityText(modelOf(args['file']), args['name'] ?? ''),
  },
  {
    name: 'source',
    description:
      'Places in the source (FILE:LINE of procedures, loops and lines) by elapsed time (NPT), most by itself first.',
    arguments: {
      path: { description: 'part of the path of a source file; all files where it is left out', required: false },
      file,
    },
    call: (args) => sourceText(modelOf(args['file']), args['path'] ?? ''),
  },
  {
    name: 'compare',
    description: 'Two profiles, before and after a change: elapsed time, findings, and what changed most (Markdown).',
    arguments: {
      before: { description: 'path of a profile', required: true },
      after: { description: 'path of a profile', required: true },
    },
    call: (args) => {
      const load = (name: string): Model => loadModel(name, { raw: false });
      const comparison = compare(load(args['before'] ?? ''), load(args['after'] ?? ''));
      return comparisonMarkdown(comparison, { width: 120, colour: false, ascii: false, top: 20 });
    },
  },
];

export const server = (version: string): Server => ({
  name: 'quartz',
  version,
  instructions:
    'Quartz profiles parallel programs. Record one with "quartz record -o FILE.quartz -- PROGRAM ARGS" in a shell, ' +
    'then call findings. NPT (normalized processor time) is elapsed time: processor time divided by the number of ' +
    'processors that were busy at that moment.',
  tools: tools(version),
});
