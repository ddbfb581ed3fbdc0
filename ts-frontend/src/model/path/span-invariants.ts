/** Invariants of work and span (docs/reference/metrics.md, section 5); returns one line for each violation. Pure. */
import { whatIfKinds } from '../profile/abi.js';
import { independentOnSpan, shareInterval } from '../metrics/confidence.js';
import { f64, item, u32 } from '../profile/columns.js';
import type { RawProfile } from '../profile/raw-profile.js';

/** The time in ns that each spawn on the chain adds to the burdened span (docs/reference/path.md). */
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
  // The first and last snapshot are not exactly at the beginning and end of the recording; on a busy machine the
  // program may run on for long after the last snapshot. The kernel's count of the run time is exact.
  const ranNs = Math.max(head.elapsedNs, head.usageNs);
  // all skipped snapshots may have been at the beginning or end
  const skippedNs = head.rateHz > 0 ? (head.skippedTicks * 1e9) / head.rateHz : 0;
  const slack = 5e6 + 0.01 * ranNs + skippedNs;
  atMost('span and elapsed time', head.spanNs, ranNs, slack);
  atMost('work and what the processors can do', head.workNs, head.processors * ranNs, slack * head.processors);
  if (head.typicalSpanNs > 0) {
    const burdenNs = spawnBurdenNs * sum(sites.count);
    atMost('burdened span and elapsed time with all spawns', head.burdenedSpanNs, ranNs + burdenNs, slack);
  }
  const asleepNs = asleepOf(raw);
  if (asleepNs !== null)
    atMost('span and work, with all sleep', head.spanNs, head.workNs + asleepNs, head.strands + head.processors);
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
  return [
    ...broken,
    ...checkMerges(raw),
    ...checkWhatIf(raw),
    ...checkOnSpan(raw),
    ...(asleepNs === null ? [] : [...checkLevels(raw, asleepNs), ...checkForks(raw, asleepNs)]),
  ];
}

/** At each length below the span, the chain itself is at work or asleep: a level without sleep is full of work. */
function checkLevels({ head, levels }: RawProfile, asleepNs: number): string[] {
  if (head.typicalSpanNs <= 0) return []; // a program that continued: levels and span are of different moments
  const broken: string[] = [];
  let leftNs = asleepNs;
  levels.ns.forEach((workNs, k) => {
    const widthNs = Math.min(head.levelNs, head.spanNs - k * head.levelNs);
    const lackNs = widthNs - 2 - k - workNs;
    if (lackNs <= 0) return;
    if (lackNs > leftNs) broken.push(`10. level ${k}: ${workNs} of work, and ${widthNs} of the span`);
    leftNs = Math.max(0, leftNs - lackNs);
  });
  return broken;
}

/** If threads wait for nothing but the end of others, the span of a call is part of its work and sleep. */
function checkForks({ head, entities, objects, sites }: RawProfile, asleepNs: number): string[] {
  const waits = objects.some((row) => item(entities, row.entity).kind !== 'join' && row.acquisitions > 0);
  if (waits || head.publisher !== 'threadlib' || head.attached) return [];
  const broken: string[] = [];
  sites.site.forEach((_, k) => {
    const [spanNs, workNs] = [f64(sites.topSpanNs, k), f64(sites.topWorkNs, k)];
    if (spanNs > workNs + asleepNs + f64(sites.topCount, k) + head.processors)
      broken.push(`10. spawn site ${k}: span of its top calls ${spanNs}, work ${workNs}`);
  });
  return broken;
}

/**
 * What takes no time makes the span no shorter than by its part of it. That part is sampled: allowed are twice the
 * interval of 95 %.
 */
function checkOnSpan(raw: RawProfile): string[] {
  const { head, onSpan, stacks, whatIf } = raw;
  if (head.typicalSpanNs <= 0 || head.attached) return [];
  const broken: string[] = [];
  whatIf.forEach(({ kind, entity, factor, spanNs }, k) => {
    if (kind !== whatIfKinds.procedure || entity === 0 || factor >= 1) return;
    let ns = 0,
      crumbs = 0;
    onSpan.ns.forEach((its, row) => {
      crumbs += f64(onSpan.count, row);
      let node = u32(onSpan.stack, row);
      while (node !== 0 && u32(stacks.entity, node) !== entity) node = u32(stacks.parent, node);
      if (node !== 0 || u32(onSpan.stack, row) === 0) ns += its; // what was not seen may be part of it
    });
    const share = ns / head.spanNs;
    const most = share + 2 * (shareInterval(share, independentOnSpan(head, crumbs)).high - share);
    if (spanNs < head.spanNs * (1 - (1 - factor) * most) - 1 - head.strands)
      broken.push(`10. what if ${k}: span ${spanNs} of ${head.spanNs}, where ${share} of it is on the span`);
  });
  return broken;
}

/** The first format that has the time by which all chains grew without work. */
const formatWithSleep = 38;

/** That time, which a chain may contain in addition to work; null: unknown. */
const asleepOf = ({ head, cpuLimits }: RawProfile): number | null =>
  head.version < formatWithSleep && head.publisher !== 'pthread' ? null : (cpuLimits.asleepNs[0] ?? 0);

/**
 * Whether the lock's holding time was measured as processor time of the holders, and only one thread can hold it at a
 * time (plain pthread programs).
 */
function isMeasured({ head, entities }: RawProfile, entity: number): boolean {
  if (head.publisher !== 'pthread' || head.exactHold) return false;
  const { kind } = item(entities, entity);
  return kind === 'mutex' || kind === 'spinlock';
}

/** Checks the threads that were waited for. */
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

/** Every strand is scaled by its factor or by 1, so every sum of strands, and the longest sum, is between these. */
function checkWhatIf({ head, whatIf }: RawProfile): string[] {
  const broken: string[] = [];
  const isWhole = head.typicalSpanNs > 0; // after a kill, the two values are of different moments
  const slackNs = 1 + head.strands; // each strand was rounded down
  whatIf.forEach(({ kind, factor, spanNs, workNs }, k) => {
    const isLock = kind === whatIfKinds.lock; // waiting less for a lock makes no strand shorter
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
