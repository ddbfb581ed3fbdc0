/** The report on a tree of processes, as text and JSON. */
import type { RenderOptions } from '../render/format/options.js';
import { clean, paint, wrap } from '../render/format/text.js';
import { count, figure, percent, time } from '../render/format/units.js';
import { limited, table } from '../render/parts/table.js';
import { treeSentences, waitPhrase } from './sentences.js';
import { kindName, type TreeModel, type WaitRow } from './tree-model.js';

const title = (text: string, options: RenderOptions): string => paint(text, 'heading', options);

function head({ raw, runNs }: TreeModel, options: RenderOptions): string[] {
  const say = (ns: number): string => time(ns, options);
  const kernelNs = raw.userNs + raw.systemNs;
  const processes = `${count(raw.processCount)} process${raw.processCount === 1 ? '' : 'es'}`;
  const lines = [
    clean(raw.arguments, options),
    `${say(raw.elapsedNs)} elapsed, ${processes}, at most ${raw.aliveMost} at a time; ` +
      `the program may use ${raw.cpus} CPUs, of which ${figure(runNs / raw.elapsedNs)} were busy on average.`,
    `Processor time: ${say(runNs)}; the kernel counted ${say(kernelNs)} for all processes that were waited for ` +
      `(user ${say(raw.userNs)}, system ${say(raw.systemNs)}).`,
  ];
  if (raw.starvedNs > 0.05 * raw.elapsedNs)
    lines.push(
      `Other programs had the CPUs for ${percent(raw.starvedNs, raw.elapsedNs)} of the time: something could have ` +
        'run, and nothing did.',
    );
  if (raw.heldBackNs > 0.05 * raw.elapsedNs)
    lines.push(
      `For ${percent(raw.heldBackNs, raw.elapsedNs)} of the time fewer of the CPUs were busy than threads could have ` +
        'run: other programs had them, or a limit (affinity, a quota) kept the threads from them.',
    );
  if (raw.lost > 0 || raw.odd > 0)
    lines.push(
      `${count(raw.lost)} kernel events were lost, and ${count(raw.odd)} contradict others: times are not exact.`,
    );
  if (raw.status !== 0) lines.push(`The program ended with status ${raw.status}.`);
  return lines.flatMap((line) => wrap(line, options.width, 0, options));
}

function busyLines({ raw }: TreeModel, options: RenderOptions): string[] {
  const longest = Math.max(...raw.byBusy, 1);
  const bar = (ns: number): string => (options.ascii ? '#' : '█').repeat(Math.round((40 * ns) / longest));
  const rows = raw.byBusy.map((ns, busy) => ({ ns, busy })).filter(({ ns }) => ns > 0);
  return table(
    rows,
    [
      { head: 'busy CPUs', text: ({ busy }) => String(busy) },
      { head: 'time', text: ({ ns }) => time(ns, options) },
      { head: '%', text: ({ ns }) => percent(ns, raw.elapsedNs) },
      { head: '', text: ({ ns }) => bar(ns), align: 'left', drop: 1 },
    ],
    options,
  );
}

function kindLines(model: TreeModel, options: RenderOptions): string[] {
  const { rows, more } = limited(
    model.kinds.filter(({ runNs }) => runNs > 0),
    options,
  );
  return [
    ...table(
      rows,
      [
        { head: 'NPT', text: ({ nptNs }) => time(nptNs, options) },
        { head: '%', text: ({ nptNs }) => percent(nptNs, model.raw.elapsedNs) },
        { head: 'processor', text: ({ runNs }) => time(runNs, options), drop: 2 },
        { head: 'par.', text: ({ parallelism }) => figure(parallelism), drop: 3 },
        { head: 'alone', text: ({ aloneNs }) => time(aloneNs, options), drop: 1 },
        { head: 'number', text: ({ processes }) => count(processes), drop: 4 },
        { head: 'process', text: (row) => clean(kindName(row), options), align: 'left', name: true },
      ],
      options,
    ),
    ...more,
  ];
}

/** Merges waits of one kind of process for another; names the process if there is only one. */
function grouped(waits: readonly WaitRow[]): WaitRow[] {
  const groups = new Map<string, WaitRow>();
  for (const row of waits) {
    const key = [row.waiter, row.wait, row.holder].join('\n');
    const group = groups.get(key);
    if (!group) {
      groups.set(key, { ...row });
      continue;
    }
    group.ns += row.ns;
    group.idleNs += row.idleNs;
    if (group.holderPid !== row.holderPid) group.holderPid = null;
  }
  return [...groups.values()].sort((a, b) => b.ns - a.ns);
}

function waitLines({ waits }: TreeModel, options: RenderOptions): string[] {
  const shown = grouped(waits).filter(({ holder, wait }) => holder !== null || !['unknown', 'other'].includes(wait));
  const { rows, more } = limited(shown, { ...options, top: options.top === 0 ? 0 : Math.min(options.top, 10) });
  if (rows.length === 0) return [];
  return [
    '',
    title('Who waits for whom', options),
    ...table(
      rows,
      [
        { head: 'waited', text: ({ ns }) => time(ns, options) },
        { head: 'CPU unused', text: ({ idleNs }) => time(idleNs, options), drop: 1 },
        { head: 'process', text: ({ waiter }) => clean(waiter, options), align: 'left' },
        { head: 'for', text: ({ wait }) => waitPhrase(wait), align: 'left' },
        {
          head: 'of',
          text: ({ holder, holderPid }) =>
            holder === null ? '' : `${clean(holder, options)}${holderPid === null ? '' : ` (${holderPid})`}`,
          align: 'left',
          name: true,
        },
      ],
      options,
    ),
    ...more,
  ];
}

function pathLines({ path, raw }: TreeModel, options: RenderOptions): string[] {
  return [
    '',
    title('Path from the end back to the beginning, by process', options),
    ...table(
      path.slice(0, options.top === 0 ? path.length : Math.min(options.top, 10)),
      [
        { head: 'on path', text: (row) => time(row.ranNs + row.noCpuNs + row.asleepNs, options) },
        { head: '%', text: (row) => percent(row.ranNs + row.noCpuNs + row.asleepNs, raw.elapsedNs) },
        { head: 'ran', text: ({ ranNs }) => time(ranNs, options) },
        { head: 'no CPU', text: ({ noCpuNs }) => time(noCpuNs, options), drop: 2 },
        { head: 'asleep', text: ({ asleepNs }) => time(asleepNs, options), drop: 1 },
        { head: 'process', text: ({ name }) => clean(name, options), align: 'left', name: true },
      ],
      options,
    ),
  ];
}

export function treeText(model: TreeModel, options: RenderOptions): string {
  const findings = model.findings.flatMap((finding, index) => {
    const { text, remedy } = treeSentences(model, finding, options);
    const number = `${index + 1}. `;
    return wrap(`${text} ${remedy}`, options.width, number.length, options).map((line, nth) =>
      nth === 0 ? number + line.trimStart() : line,
    );
  });
  const lines = [
    ...head(model, options),
    '',
    title('What limits it', options),
    ...(findings.length > 0 ? findings : ['  Nothing stands out.']),
    '',
    title('Elapsed time by number of busy CPUs', options),
    ...busyLines(model, options),
    '',
    title('Processes by normalized processor time (NPT)', options),
    ...kindLines(model, options),
    ...waitLines(model, options),
    ...pathLines(model, options),
  ];
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

export function treeJson(model: TreeModel, options: RenderOptions): string {
  const { raw, kinds, waits, gaps, path, findings, runNs, nptNs, nothingNs } = model;
  const { kinds: rawKinds, waits: rawWaits, spans, ...headFields } = raw;
  return `${JSON.stringify(
    {
      schema: 'quartz-tree-1',
      ...headFields,
      runNs,
      nptNs,
      nothingNs,
      kinds: kinds.map((row) => ({ ...rawKinds[row.index], ...row })),
      waits,
      waitRows: rawWaits.length,
      gaps,
      path,
      findings: findings.map((finding) => ({ ...finding, ...treeSentences(model, finding, options) })),
      spans,
    },
    null,
    2,
  )}\n`;
}
