/**
 * Findings about cache lines that threads on different CPUs write alternately (docs/reference/findings.md, "Shared
 * cache lines"). Pure functions.
 */
import { f64, item, u16, u32, u8 } from '../profile/columns.js';
import type { FindingContext } from '../evidence/context.js';
import { findingOf, processorUseOf, shownId } from '../evidence/context.js';
import { isOwn } from '../evidence/code-origin.js';
import { shareThere, type Sharing, sharingByProcedure } from '../evidence/code/shared-lines.js';
import { isBusy } from '../metrics/sums.js';
import type { Finding, Model } from '../result/types.js';

/** The least share of a procedure's samples at such accesses that is reported. */
const leastOfCode = 0.1;

interface Code {
  sharing: Sharing;
  cost: number; // NPT while two or more processors were busy
  busy: number; // processor time while two or more processors were busy
  all: number; // processor time in all
  spun: number;
}

/** The least share of the waiting for a lock that is in the code. */
const leastThere = 0.5;

/** Whether threads wait for the lock mostly in that procedure, or in what it calls. */
function isTakenIn({ entities }: Model, lock: number, procedure: number): boolean {
  const waiters = item(entities, lock).object?.waiters ?? [];
  const all = waiters.reduce((sum, { ns }) => sum + ns, 0);
  const there = waiters.reduce((sum, { path, ns }) => sum + (path.includes(procedure) ? ns : 0), 0);
  return all > 0 && there >= leastThere * all;
}

/**
 * Where threads exchange a word in code that takes a lock, the word may be that of the lock, which samples cannot tell:
 * taking it less often then saves what both findings promise, which are about different times.
 */
export function nameSharedLocks(model: Model, findings: readonly Finding[]): void {
  for (const { facts, entity } of findings) {
    if (facts.form !== 'sharing' || facts.how === 'words-apart') continue;
    const at = findings.findIndex(
      (one) => (one.facts.form === 'lock' || one.facts.form === 'hand-overs') && isTakenIn(model, one.entity, entity),
    );
    if (at < 0) continue;
    facts.lock = { finding: at, bothNs: Math.min(model.elapsedNs, facts.mostNs + item(findings, at).savingNs) };
  }
}

/** Times of the procedures whose threads write shared lines. */
function measure({ model, tables, own }: FindingContext): Map<number, Code> {
  const { tuples } = model.raw;
  const byProcedure = new Map<number, Code>();
  for (const [procedure, sharing] of sharingByProcedure(model)) {
    if (!isOwn(item(model.entities, procedure))) continue;
    const id = shownId(model, procedure);
    const known = byProcedure.get(id);
    if (known === undefined || known.sharing.samples < sharing.samples)
      byProcedure.set(id, { sharing, cost: 0, busy: 0, all: 0, spun: 0 });
  }
  if (byProcedure.size === 0) return byProcedure;
  for (let k = 0; k < tables.weights.length; k++) {
    if (!isBusy(u8(tuples.state, k))) continue;
    const code = byProcedure.get(shownId(model, u32(own.owner, u32(tuples.stack, k))));
    if (!code) continue;
    const ns = f64(tables.weights, k),
      busy = u16(tuples.busy, k);
    code.all += ns;
    if (busy < 2) continue;
    code.cost += ns / busy;
    code.busy += ns;
    code.spun += (ns / busy) * u16(tuples.spinning, k);
  }
  return byProcedure;
}

export function sharingFindings(context: FindingContext): Finding[] {
  const { model } = context;
  return [...measure(context)].flatMap(([id, { sharing, cost, busy, all, spun }]) => {
    const share = shareThere(model, sharing, all);
    const savesNs = share * cost;
    if (share < leastOfCode || busy === 0) return [];
    const threads = [...sharing.threads].reduce(
      (sum, one) => sum + Math.max(1, item(model.entities, one).instances),
      0,
    );
    return findingOf(model, {
      entity: id,
      kind: 'sharing',
      change: 'separate-data',
      costNs: cost,
      savingNs: savesNs,
      processorUse: processorUseOf(model.processors, busy / cost, spun / cost),
      facts: {
        form: 'sharing',
        how: sharing.how,
        variable: sharing.variable,
        lines: sharing.lines,
        threads: Math.max(2, threads),
        share,
        savesNs,
        mostNs: cost,
        lock: null,
      },
      related: [],
    });
  });
}
