/**
 * Notices about what could not be observed on this machine or with this build of the program: samples, hooks, names,
 * lines. Pure.
 */
import { addTo } from '../profile/maps.js';
import type { ForbiddenNotice, Notice, UnnamedNotice } from '../result/notices.js';
import type { Entity, Model } from '../result/types.js';

/** The least share of the work in procedures with missing names or places that is reported. */
const leastWork = 0.1;

export function unseen(model: Model): Notice[] {
  const work = model.balance.usefulNs + model.balance.overheadNs;
  const procedures = model.entities.filter(({ kind, id, group }) => kind === 'procedure' && id !== 0 && group === 0);
  const starts = new Set(model.entities.filter(({ kind }) => kind === 'thread').map(({ address }) => address));
  const hasHooks = model.head.publisher !== 'threadlib' || !procedures.every(({ address }) => starts.has(address));
  return [
    ...(model.head.outside
      ? [
          {
            form: 'outside',
            holders: !model.head.paths.noMemory && !model.head.paths.noCalls,
            attached: model.head.attached,
          } as const,
        ]
      : []),
    ...forbidden(model).map((what) => ({ form: 'forbidden', what }) as const),
    ...(work > 0 && !hasHooks ? [{ form: 'no-hooks' } as const] : []),
    ...unnamed(procedures, work),
  ];
}

function forbidden({ head: { paths, publisher, outside } }: Model): ForbiddenNotice['what'][] {
  const hooked = publisher === 'threadlib' || paths.hooks;
  const isPthread = publisher === 'pthread';
  const list: [ForbiddenNotice['what'], boolean][] = [
    ['samples', isPthread && paths.noSamples && !paths.hooks],
    ['signal-samples', isPthread && paths.signals],
    ['some-samples', isPthread && paths.fewSamples],
    ['rare-samples', isPthread && paths.rare],
    ['memory', isPthread && paths.noMemory && !outside],
    ['calls', isPthread && paths.noCalls && !outside],
    // both need the same permission
    ['memory-outside', outside && paths.noMemory && !paths.noCalls],
    ['calls-outside', outside && paths.noCalls],
    ['samples-beside-hooks', paths.noSamples && hooked],
  ];
  return list.filter(([, is]) => is).map(([what]) => what);
}

function unnamed(procedures: readonly Entity[], work: number): UnnamedNotice[] {
  const without = new Map<string, { missing: Entity['missing']; ns: number; modules: Map<string, number> }>();
  for (const { detail, missing, module, processorTimeSelfNs } of procedures) {
    if (missing === 'nothing' || missing === 'system') continue;
    const its = without.get(detail) ?? { missing, ns: 0, modules: new Map<string, number>() };
    its.ns += processorTimeSelfNs;
    addTo(its.modules, module, processorTimeSelfNs);
    without.set(detail, its);
  }
  return [...without]
    .filter(([, { ns }]) => ns > leastWork * work)
    .map(([detail, { missing, ns, modules }]) => ({
      form: 'unnamed',
      share: ns / work,
      missing: missing === 'place' ? 'places' : 'names',
      stripped: missing === 'stripped',
      detail,
      module: [...modules].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '',
    }));
}
