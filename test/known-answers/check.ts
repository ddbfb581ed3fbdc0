/** Compares a model with the answers of its program; returns every deviation as one line. */
import {
  independentSnapshots,
  isMostlyOthers,
  isNearlyOthers,
  type Entity,
  type Model,
} from '../../ts-frontend/src/model/index.js';
import type { Truth } from './oracle/truth.js';
import {
  halves,
  instant,
  shares,
  exact,
  halfWidth,
  timed,
  missed,
  samplingError,
  disturbance,
  mostDisturbance,
  lateness,
  measure,
  trueValue,
} from './measures.js';
import type { Amount, Answers, Which } from './answers.js';

const text = (which: Which): string =>
  which.kind === 'root' ? 'root' : `${which.kind || 'entity'} ${which.name || `of line ${which.line}`}`;

const matches = (entity: Entity, which: Which): boolean =>
  (which.kind === '' || entity.kind === which.kind) &&
  (which.name !== '' ? entity.name === which.name : entity.line === which.line);

/** The one entity that an answer refers to; a group of entities with the same name stands for its members. */
function find(model: Model, which: Which): Entity | undefined {
  if (which.kind === 'root') return model.root;
  const found = model.entities.filter(
    (entity) => entity.id !== model.root.id && entity.group === 0 && matches(entity, which),
  );
  return found.length === 1 ? found[0] : undefined;
}

function wrong({ relation, value: truth }: Amount, value: number, tolerance: number): boolean {
  switch (relation) {
    case '=':
      return !(Math.abs(value - truth) <= tolerance);
    case '<':
      return !(value < truth);
    case '<=':
      return !(value <= truth);
    case '>':
      return !(value > truth);
    case '>=':
      return !(value >= truth);
  }
}

const shown = (value: number): string => String(Math.round(value * 1e4) / 1e4);

/** Whether the answer is a time that the machine's other work can shift. */
const shifts = ({ metric, value }: Amount): boolean => !exact[metric] && !(metric === 'wait' && value === 0);

export const hasTimes = (answers: Answers): boolean =>
  !answers.untraced &&
  (answers.nothingRan !== undefined || answers.amounts.some(({ amounts }) => amounts.some(shifts)));

type Say = (line: string) => void;
function finder(model: Model, say: Say): (which: Which) => Entity | undefined {
  return (which) => {
    const entity = find(model, which);
    if (!entity) {
      const alike = model.entities.filter((e) => e.name === which.name || which.kind === e.kind);
      say(
        `${text(which)}: not there, or not alone; there is ` +
          (alike.map((e) => `${e.kind} ${e.name} (line ${e.line})`).join(', ') || 'none like it'),
      );
    }
    return entity;
  };
}

/**
 * Times: each estimate must agree with the exact trace of the same run, within its own interval (else it is in
 * `estimates`); and the trace with the program's answer, within the time for which the program had to wait for CPUs,
 * according to the kernel, but no more than a calm machine makes it wait (else it is in `run`, which says something of
 * the program only if the machine was `calm`). The kernel does not count everything that delays a program: a virtual
 * machine's CPU may wake late.
 */
export function timesOff(
  model: Model,
  truth: Truth,
  answers: Answers,
): { estimates: string[]; run: string[]; calm: boolean } {
  const disturbed = disturbance(model),
    allowed = Math.min(disturbed, mostDisturbance);
  const lines = { estimates: [] as string[], run: [] as string[], calm: disturbed <= mostDisturbance };
  const say = (line: string): void => {
    lines.estimates.push(line);
  };
  const need = finder(model, say);
  for (const { which, amounts } of answers.amounts.map((one) => ({ ...one, amounts: one.amounts.filter(shifts) }))) {
    const entity = amounts.length > 0 ? need(which) : undefined;
    for (const amount of entity ? amounts : []) {
      const { metric, value: answer, relation } = amount;
      const value = timed(model, entity!, metric)!;
      const right = trueValue(model, truth, entity!, metric);
      if (!right) {
        say(`${text(which)}: the trace does not know its ${metric}`);
        continue;
      }
      const error = samplingError(model, entity!, metric, right.high);
      if (!(value >= right.low - error - instant && value <= right.high + error + instant)) {
        say(
          `${text(which)}: ${metric} is ${shown(value)}, in the trace ` +
            `${shown(right.low)}${right.high > right.low ? ` to ${shown(right.high)}` : ''}, within ${shown(error)}`,
        );
      }
      const late = lateness(model, metric, answer, allowed);
      const far =
        relation === '='
          ? !(answer >= right.low - late && answer <= right.high + late)
          : wrong(amount, relation.startsWith('>') ? right.high + late : right.low - late, 0);
      if (far) {
        lines.run.push(
          `${text(which)}: in the trace, ${metric} is ${shown(right.low)}, must be ${relation} ${answer} within ` +
            shown(late),
        );
      }
    }
  }
  if (answers.nothingRan !== undefined) {
    const share = model.balance.nothingRanNs / model.elapsedNs;
    const right = truth.byBusyNs[0]! / model.elapsedNs;
    const error = halves * halfWidth(right, 1, independentSnapshots(model.head)) + missed(model);
    if (Math.abs(share - right) > error + instant)
      say(`nothing ran for ${shown(share)}, in the trace ${shown(right)}, within ${shown(error)}`);
    const late = lateness(model, 'blocked', answers.nothingRan, allowed);
    if (Math.abs(right - answers.nothingRan) > late)
      lines.run.push(
        `in the trace, nothing ran for ${shown(right)}, must be ${answers.nothingRan} within ${shown(late)}`,
      );
  }
  return lines;
}

/** Whether the report itself says that its findings, and their order, may be wrong: others had the CPUs. */
const mayBeWrong = ({ cpuWait, elapsedNs }: Model): boolean =>
  isMostlyOthers(cpuWait, elapsedNs) && isNearlyOthers(cpuWait);

/**
 * What other programs cannot change: counts, names, orders, findings, and bounds. If the sampler was kept from running,
 * its intervals may be too wide for an order: then that is in `undecided`, unless the order is clearly wrong.
 */
export function deviations(model: Model, answers: Answers): { wrong: string[]; undecided: string[] } {
  const lines: string[] = [],
    undecided: string[] = [];
  const say = (line: string): void => {
    lines.push(line);
  };
  const need = finder(model, say);
  if (model.processors !== answers.processors) say(`P is ${model.processors}, not ${answers.processors}`);
  for (const { which, amounts } of answers.amounts) {
    const entity = need(which);
    if (!entity) continue;
    for (const amount of amounts.filter((one) => answers.untraced || !shifts(one))) {
      const { value, tolerance } = measure(model, entity, amount.metric, amount.value);
      if (wrong(amount, value, tolerance)) {
        // of a time without a trace nobody knows what the machine's other work made of it
        const open = shifts(amount) && disturbance(model) > mostDisturbance;
        (open ? undecided : lines).push(
          `${text(which)}: ${amount.metric} is ${shown(value)}, must be ${amount.relation} ${amount.value}` +
            (tolerance > 0 && amount.relation === '=' ? ` within ${shown(tolerance)}` : ''),
        );
      }
    }
  }
  for (const amount of answers.head) {
    const value = (model.head as unknown as Record<string, unknown>)[amount.metric];
    if (typeof value !== 'number') throw new Error(`the head has no number ${amount.metric}`);
    if (wrong(amount, value, 0)) say(`head: ${amount.metric} is ${value}, must be ${amount.relation} ${amount.value}`);
  }
  for (const { metric, falling } of answers.orders) {
    for (let k = 1; k < falling.length; k++) {
      const more = need(falling[k - 1]!);
      const less = need(falling[k]!);
      if (!more || !less) continue;
      const of = shares[metric];
      if (!of) throw new Error(`cannot order by ${metric}`);
      const halfOf = (e: Entity): number => (e.ci95.highNs - e.ci95.lowNs) / 2;
      const apart = halfOf(more) + halfOf(less);
      if (!(of(more) - of(less) > apart)) {
        const open = mayBeWrong(model) || (disturbance(model) > mostDisturbance && of(less) - of(more) <= apart);
        (open ? undecided : lines).push(
          `order: ${metric} of ${text(falling[k - 1]!)} (${shown(of(more) / model.elapsedNs)}) is not clearly above ` +
            `that of ${text(falling[k]!)} (${shown(of(less) / model.elapsedNs)})`,
        );
      }
    }
  }
  const findings = model.findings.map((finding) => ({
    kind: finding.kind,
    entity: model.entities[finding.entity]!,
    others: finding.othersMayCause,
  }));
  const certain = findings.filter((one) => !one.others);
  const reported =
    findings.map((one) => `${one.kind} ${one.entity.kind} ${one.entity.name}`).join('; ') || 'no findings';
  for (const { place, kind, entity } of answers.findings) {
    const fits = (one: (typeof findings)[number] | undefined): boolean =>
      one !== undefined && one.kind === kind && (entity === undefined || matches(one.entity, entity));
    // Findings that say that other programs may be the cause do not count against this one.
    const holds =
      place === 'first'
        ? fits(findings[0]) || fits(certain[0]) || (findings.length > 0 && certain.length === 0)
        : place === 'some'
          ? findings.some(fits)
          : !certain.some(fits);
    if (holds) continue;
    // Where others had the CPUs, the time without them may be a thread's in another procedure, or the order another.
    const isThere = findings[0]?.kind === kind || findings.some(fits);
    const open = mayBeWrong(model) || (disturbance(model) > mostDisturbance && place === 'first' && isThere);
    (open ? undecided : lines).push(
      `${place} finding: ${kind}${entity ? ` ${text(entity)}` : ''}; the report has: ${reported}`,
    );
  }
  const procedure = (name: string): Which => ({ kind: 'procedure', name, line: 0 });
  for (const { caller, callee, count } of answers.calls) {
    const from = need(procedure(caller));
    if (!from) continue;
    const counted = from.callees
      .filter((edge) => {
        const to = model.entities[edge.entity]!;
        return to.name === callee && to.kind !== 'thread' && to.members.length === 0;
      })
      .reduce((sum, edge) => sum + edge.count, 0);
    if (counted !== count) say(`calls ${caller} -> ${callee}: ${counted}, not ${count}`);
  }
  for (const { callee, callers } of answers.callers) {
    const to = need(procedure(callee));
    if (!to) continue;
    const names = [
      ...new Set(to.callers.map((edge) => (edge.entity === 0 ? '(unknown)' : model.entities[edge.entity]!.name))),
    ].sort();
    if (names.join() !== callers.join()) say(`callers of ${callee}: ${names.join(', ')}, not ${callers.join(', ')}`);
  }
  for (const { which, procedure: name, share } of answers.holders) {
    const object = need(which)?.object;
    if (!object) continue;
    const all = object.holders.reduce((sum, row) => sum + row.ns, 0);
    const its = object.holders
      .filter((row) => row.path.some((id) => model.entities[id]!.name === name))
      .reduce((sum, row) => sum + row.ns, 0);
    if (!(Math.abs(its / all - share) <= 0.05))
      say(`${name} held ${which.name} for ${(its / all).toFixed(3)} of its waits, not ${share}`);
  }
  for (const name of answers.absent) {
    if (
      model.entities.some((entity) => entity.name === name && entity.kind === 'procedure' && entity.processorTimeNs > 0)
    )
      say(`${name} has samples`);
  }
  return { wrong: lines, undecided };
}
