/**
 * Measures trials: contenders run alternately, and one that fails stops neither the others nor the rows that follow.
 */
import type { Bench, Contender, Plan, Readings, RowPlan, Target, Trial } from './bench.js';
import type { ContenderResult, RowResult, TargetResult } from './result.js';
import { Late } from './execute.js';
import { estimate, geometricMean, pairedRatio, type Estimate } from './statistics.js';

export interface Effort {
  rounds: number;
  /** A trial begins no round after this many seconds. */
  seconds: number;
  note: (text: string) => void;
}

type State = { readings: Readings[] } | { missing: string } | { failed: string };

const message = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\s*\n\s*/g, ' ');

/** A failure may be the machine's fault; what took too long would do so again. */
async function twice(contender: Contender): Promise<Readings> {
  try {
    return await contender.take();
  } catch (error) {
    if (error instanceof Late) throw error;
    return contender.take();
  }
}

/** Round by round, each beginning with another contender, so that neither order nor drift favours one. */
async function takeTurns(trial: Trial, effort: Effort): Promise<Map<string, State>> {
  const states = new Map<string, State>(
    trial.contenders.map((one) => [one.name, one.missing === undefined ? { readings: [] } : { missing: one.missing }]),
  );
  const end = Date.now() + effort.seconds * 1000;
  const rounds = Math.min(effort.rounds, trial.mostRounds ?? Infinity);
  for (let round = 0; round < rounds && (round === 0 || Date.now() < end); round++) {
    for (let k = 0; k < trial.contenders.length; k++) {
      const contender: Contender = trial.contenders[(k + round) % trial.contenders.length]!;
      const state = states.get(contender.name)!;
      if (!('readings' in state)) continue;
      try {
        state.readings.push(await twice(contender));
      } catch (error) {
        states.set(contender.name, { failed: message(error) });
        effort.note(`${contender.name}: ${message(error)}`);
      }
    }
  }
  return states;
}

/** Values round by round, of the contenders that have them. */
function valuesOf(row: RowPlan, states: ReadonlyMap<string, State>): Map<string, number[]> {
  const reading = row.reading ?? 'ns';
  const values = new Map<string, number[]>();
  for (const [name, state] of states) {
    if (!('readings' in state)) continue;
    const own = state.readings.map((_, round) => {
      const of = (contender: string): number => {
        const other = states.get(contender);
        return other !== undefined && 'readings' in other ? (other.readings[round]?.[reading] ?? NaN) : NaN;
      };
      return row.value ? row.value(of, name) : of(name);
    });
    if (own.length > 0 && own.every((value) => Number.isFinite(value))) values.set(name, own);
  }
  return values;
}

function verdict(ratio: Estimate, target: Target): TargetResult['verdict'] {
  const good = (value: number): boolean => (target.ahead ? value < target.most : value <= target.most);
  if (good(ratio.value)) return good(ratio.high) ? 'met' : 'met within noise';
  return good(ratio.low) ? 'missed within noise' : 'missed';
}

/** Compares a target with the values of a row; or says what is missing on either side. */
function evaluate(
  target: Target,
  values: ReadonlyMap<string, readonly number[]>,
  peers: readonly string[],
): TargetResult {
  const ours = values.get(target.ours);
  const base = { ours: target.ours, most: target.most, ahead: target.ahead ?? false };
  if (target.against === undefined) {
    if (!ours) return { ...base, verdict: 'not measured' };
    const value = estimate(ours);
    return { ...base, ratio: value, verdict: verdict(value, target) };
  }
  const candidates = (target.against === 'best peer' ? peers : [target.against]).filter((name) => values.has(name));
  const against = candidates.sort((a, b) => estimate(values.get(a)!).value - estimate(values.get(b)!).value)[0];
  if (!ours || against === undefined) return { ...base, against: target.against, verdict: 'not measured' };
  const ratio = pairedRatio(ours, values.get(against)!);
  return { ...base, against, best: target.against === 'best peer', ratio, verdict: verdict(ratio, target) };
}

function resultOf(
  bench: Bench,
  { id, what, unit, targets }: RowPlan,
  contenders: ContenderResult[],
  values: ReadonlyMap<string, number[]>,
  competing: readonly { name: string; peer: boolean }[],
): RowResult {
  const peers = competing.filter((one) => one.peer).map((one) => one.name);
  return {
    id,
    bench: bench.name,
    what,
    unit,
    contenders,
    targets: targets.map((target) => evaluate(target, values, peers)),
  };
}

function rowResult(bench: Bench, row: RowPlan, trial: Trial, states: ReadonlyMap<string, State>): RowResult {
  const values = valuesOf(row, states);
  const shown = trial.contenders.filter((one) => row.shown === undefined || row.shown.includes(one.name));
  const contenders = shown.map(({ name, peer }): ContenderResult => {
    const state = states.get(name)!;
    const samples = values.get(name);
    if ('missing' in state) return { name, peer, missing: state.missing };
    if ('failed' in state) return { name, peer, failed: state.failed };
    if (!samples) return { name, peer, failed: 'gave no such number' };
    const beside = (row.beside ?? []).flatMap(([reading, called]) => {
      const read = state.readings.map((one) => one[reading] ?? NaN).filter(Number.isFinite);
      return read.length > 0 ? [[called, estimate(read).value] as const] : [];
    });
    return {
      name,
      peer,
      samples,
      ...estimate(samples),
      ...(beside.length > 0 ? { beside: Object.fromEntries(beside) } : {}),
    };
  });
  return resultOf(bench, row, contenders, values, trial.contenders);
}

/** The row of geometric means of other rows: over the contenders and rounds that all of them have. */
function combine(bench: Bench, row: RowPlan, parts: readonly RowResult[]): RowResult | undefined {
  const names =
    parts[0]?.contenders.filter((one) =>
      parts.every((part) => part.contenders.some((other) => other.name === one.name && 'samples' in other)),
    ) ?? [];
  if (names.length === 0) return undefined;
  const values = new Map(
    names.map(({ name }) => {
      const samples = parts
        .map((part) => part.contenders.find((one) => one.name === name)!)
        .map((one) => ('samples' in one ? one.samples : []));
      const rounds = Math.min(...samples.map((one) => one.length));
      return [name, Array.from({ length: rounds }, (_, k) => geometricMean(samples.map((one) => one[k]!)))] as const;
    }),
  );
  const contenders = names.map(({ name, peer }): ContenderResult => ({
    name,
    peer,
    samples: values.get(name)!,
    ...estimate(values.get(name)!),
  }));
  return resultOf(bench, row, contenders, values, names);
}

/**
 * All rows of a benchmark. If it cannot even be planned (nothing to run, a build that fails), the one line that says
 * why.
 */
export async function measure(bench: Bench, effort: Effort): Promise<{ rows: RowResult[]; failed?: string }> {
  const rows: RowResult[] = [];
  try {
    const plan: Plan = await bench.plan();
    for (const trial of plan.trials) {
      const states = await takeTurns(trial, effort);
      rows.push(...trial.rows.map((row) => rowResult(bench, row, trial, states)));
    }
    for (const { row, of } of plan.combined ?? []) {
      const result = combine(
        bench,
        row,
        rows.filter((one) => of.includes(one.id)),
      );
      if (result) rows.push(result);
    }
    return { rows };
  } catch (error) {
    return { rows, failed: message(error) };
  }
}
