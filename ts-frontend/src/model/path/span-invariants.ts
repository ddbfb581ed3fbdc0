/** Invariants of work and span (docs/reference/metrics.md, section 5): one line for each that does not hold. Pure. */
import { whatIfKinds } from '../profile/abi.js';
import { f64, item, u8 } from '../profile/columns.js';
import { State, type RawProfile } from '../profile/raw-profile.js';

/** For each spawn on the chain, in the burdened span (docs/reference/path.md). */
const spawnBurdenNs = 5000;

const sum = (times: Float64Array): number => times.reduce((a, b) => a + b, 0);

export function checkSpan(raw: RawProfile): string[] {
  const { head, sites } = raw;
  if (!head.spanRecorded || head.spanNs <= 0) return [];
  const broken: string[] = [];
  const atMost = (what: string, low: number, high: number, slack = 1): void => {
    if (low > high + slack) broken.push(`10. ${what}: ${low} is more than ${high}`);
  };
  const same = (what: string, a: number, b: number): void => {
    atMost(what, a, b);
    atMost(what, b, a);
  };
  same('sum of what is on the span, and its length', sum(raw.onSpan.ns), head.spanNs);
  same('sum of the levels, and the work', sum(raw.levels.ns), head.workNs);
  if (head.typicalSpanNs > 0) {
    atMost('typical span and span', head.typicalSpanNs, head.spanNs);
    atMost('span and burdened span', head.spanNs, head.burdenedSpanNs);
  }
  // The first snapshot, and the last, are not at the very moments at which recording begins and ends; on a busy machine
  // the program runs on for long after the last one. The kernel's count of the run knows.
  const ranNs = Math.max(head.elapsedNs, head.usageNs);
  const skippedNs = head.rateHz > 0 ? (head.skippedTicks * 1e9) / head.rateHz : 0; // perhaps all of them at its ends
  const slack = 5e6 + 0.01 * ranNs + skippedNs;
  atMost('span and elapsed time', head.spanNs, ranNs, slack);
  atMost('work and what the processors can do', head.workNs, head.processors * ranNs, slack * head.processors);
  if (head.typicalSpanNs > 0) {
    const burdenNs = spawnBurdenNs * sum(sites.count);
    atMost('burdened span and elapsed time with all spawns', head.burdenedSpanNs, ranNs + burdenNs, slack);
  }
  const asleepNs = asleepOf(raw);
  atMost('span and work, with all sleep', head.spanNs, head.workNs + asleepNs, asleepNs > 0 ? slack : head.strands);
  for (const { entity, holdNs } of raw.objects)
    if (isMeasured(raw, entity)) atMost(`held time of object ${entity} and elapsed time`, holdNs, 1.1 * ranNs, slack);
  sites.site.forEach((_, k) => {
    const meanSpanNs = f64(sites.topSpanNs, k) / Math.max(1, f64(sites.topCount, k));
    atMost(`spawn site ${k}: mean span of top calls and span of the run`, meanSpanNs, head.spanNs);
    atMost(`spawn site ${k}: top calls and calls`, f64(sites.topCount, k), f64(sites.count, k));
    atMost(`spawn site ${k}: work of top calls and of all`, f64(sites.topWorkNs, k), f64(sites.workNs, k));
    atMost(`spawn site ${k}: span of top calls and of all`, f64(sites.topSpanNs, k), f64(sites.spanNs, k));
    atMost(
      `spawn site ${k}: work of top calls and of the run`,
      f64(sites.topWorkNs, k),
      head.workNs,
      head.workNs / 1000,
    );
  });
  return [...broken, ...checkMerges(raw), ...checkWhatIf(raw)];
}

/** Time that a chain may contain beside work: sleep, input and output. */
function asleepOf({ head, objects, entities, tuples }: RawProfile): number {
  if (head.publisher === 'pthread') return 0; // they are not on the span there
  let ns = 0;
  for (let k = 0; k < tuples.ns.length; k++) if (u8(tuples.state, k) === State.io) ns += f64(tuples.ns, k);
  for (const { entity, waitNs } of objects) if (item(entities, entity).kind === 'sleep') ns += waitNs;
  return ns;
}

/** Locks of plain pthread programs whose holders' processor time was measured: only one thread has it at a time. */
function isMeasured({ head, entities }: RawProfile, entity: number): boolean {
  if (head.publisher !== 'pthread' || head.exactHold) return false;
  const { kind } = item(entities, entity);
  return kind === 'mutex' || kind === 'spinlock';
}

/** Threads that were waited for. */
function checkMerges({ head, sites }: RawProfile): string[] {
  const broken: string[] = [];
  sites.site.forEach((_, k) => {
    const [lost, merged] = [f64(sites.lost, k), f64(sites.merged, k)];
    if (lost > merged) broken.push(`10. wait site ${k}: ${lost} threads of ${merged} were not the longest`);
    const [slackNs, leastNs] = [f64(sites.slackNs, k), lost * f64(sites.leastSlackNs, k)];
    if (leastNs > slackNs + lost + head.processors)
      broken.push(`10. wait site ${k}: its slack is ${slackNs}, ${leastNs} is the least of each`);
  });
  return broken;
}

/** Each strand has its factor, or 1, and so has each sum of strands, and the longest of these. */
function checkWhatIf({ head, whatIf }: RawProfile): string[] {
  const broken: string[] = [];
  const isWhole = head.typicalSpanNs > 0; // killed: the two are of different moments
  const slackNs = 1 + head.strands; // each was rounded down
  whatIf.forEach(({ kind, factor, spanNs, workNs }, k) => {
    const isLock = kind === whatIfKinds.lock; // nothing takes less time
    const least = isLock || !isWhole ? 0 : Math.min(1, factor);
    const most = isLock ? 1 : Math.max(1, factor);
    const check = (what: string, is: number, plain: number): void => {
      const isTooLong = is > most * plain + slackNs && (isWhole || factor <= 1);
      if (isTooLong || is < least * plain - slackNs)
        broken.push(`10. what if ${k}: ${what} with it and without: ${is} and ${plain}, factor ${factor}`);
    };
    check('span', spanNs, head.spanNs);
    check('work', workNs, head.workNs);
  });
  return broken;
}
