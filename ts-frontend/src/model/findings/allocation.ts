/**
 * Findings about the memory allocator (malloc, free, operator new, ...): its time is spread over all procedures that
 * use memory, each with a small part, but has one remedy (docs/reference/findings.md, "Allocation"). Pure functions.
 */
import { f64, u16, u32, u8 } from '../profile/columns.js';
import { addTo } from '../profile/maps.js';
import { inAllocator } from '../evidence/code/in-allocator.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf, shownId } from '../evidence/context.js';
import type { Finding, Model } from '../result/types.js';

/** If one procedure has this share of it, the finding about that procedure says the same, and names its loop. */
const mostlyOne = 0.75;
/** The number of procedures that are named, and the least share of each. */
const named = 3,
  leastNamed = 0.05;

/** The allocator's work in busy time, NPT in ns. */
interface Allocation {
  npt: number;
  busy: number; // processor time
  spinning: number;
  mainNs: number; // processor time of the main thread
  callers: Map<number, number>; // by the procedure of the program that calls it
  called: Map<number, number>; // by the procedure of the allocator
}

/** `counts`: which tuples are examined; `main`: the main thread, if only its time lengthens the run, else 0. */
export function allocationOf(context: FindingContext, counts: (tuple: number) => boolean, main: number): Allocation {
  const { model, tables, own } = context;
  const { tuples } = model.raw;
  const inside = inAllocator(context);
  const all: Allocation = { npt: 0, busy: 0, spinning: 0, mainNs: 0, callers: new Map(), called: new Map() };
  for (let k = 0; k < tables.weights.length; k++) {
    const node = u32(tuples.stack, k);
    if (u8(inside, node) === 0 || !counts(k)) continue;
    const npt = f64(tables.weights, k) / Math.max(1, u16(tuples.busy, k));
    all.npt += npt;
    all.busy += f64(tables.weights, k);
    all.spinning += npt * u16(tuples.spinning, k);
    if (main !== 0 && tuples.thread[k] === main) all.mainNs += f64(tables.weights, k);
    addTo(all.callers, shownId(model, u32(own.owner, node)), npt);
    addTo(all.called, shownId(model, u32(tables.stacks.entity, node)), npt);
  }
  return all;
}

/** Whether it takes more than any procedure does outside of it; `byEntity`: the time of procedures with libraries. */
export function isMostOf({ npt, callers }: Allocation, byEntity: ReadonlyMap<number, { npt: number }>): boolean {
  let one = 0;
  for (const ns of callers.values()) one = Math.max(one, ns);
  return (
    npt > 0 && one < mostlyOne * npt && [...byEntity].every(([id, row]) => row.npt - (callers.get(id) ?? 0) <= npt)
  );
}

const largestFirst = (times: ReadonlyMap<number, number>): [number, number][] => [...times].sort((a, b) => b[1] - a[1]);

/** The finding's entity is the procedure of the program that causes most of it. */
export function allocationFinding(model: Model, all: Allocation, mostNs: number): Finding {
  const callers = largestFirst(all.callers);
  const called = largestFirst(all.called).map(([id]) => id);
  return findingOf(model, {
    entity: callers[0]?.[0] ?? 0,
    kind: 'optimize',
    change: 'optimize',
    costNs: all.npt,
    savingNs: mostNs,
    processorUse: processorUseOf(model.processors, all.busy / all.npt, all.spinning / all.npt),
    facts: {
      form: 'allocation',
      callers: callers
        .filter(([, ns]) => ns >= leastNamed * all.npt)
        .slice(0, named)
        .map(([entity, ns]) => ({ entity, ns })),
      procedures: callers.length,
      called: called.slice(0, named),
      kernel: null,
      mostNs,
    },
    related: [...callers.map(([id]) => id), ...called],
  });
}
