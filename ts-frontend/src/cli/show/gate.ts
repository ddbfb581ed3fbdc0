/** quartz compare --fail-if: evaluates rules over one or several runs of each side. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  GateError,
  gateRule,
  gateValue,
  item,
  evaluateGate,
  leastRuns,
  type Entity,
  type GateResult,
  type GateRule,
  type GateValue,
  type Model,
} from '../../model/index.js';
import { gateLine, gatesJson } from '../../render/index.js';
import type { Arguments } from '../command.js';
import { exitCodes, Failure, usage } from '../failure.js';
import { find } from './find.js';
import { print } from './output.js';
import { loadModel } from '../profile.js';
import { display } from '../terminal.js';

/** A profile stands for itself, a directory for all profiles in it. */
function profilesOf(name: string): string[] {
  if (statSync(name, { throwIfNoEntry: false })?.isDirectory() !== true) return [name];
  const names = readdirSync(name).filter((one) => one.endsWith('.quartz'));
  if (names.length === 0) throw new Failure(`there is no *.quartz file in ${name}`, 'record some there');
  return names.sort().map((one) => join(name, one));
}

function rulesOf(text: string): GateRule[] {
  return text
    .split(';')
    .filter((one) => one.trim() !== '')
    .map((one) => {
      try {
        return gateRule(one);
      } catch (error) {
        if (!(error instanceof GateError)) throw error;
        throw usage(`--fail-if "${one.trim()}": ${error.message}`, "for example: --fail-if 'npt(work) > 5 %'");
      }
    });
}

/** The entity of the same kind and name in another run; if there are several, the one with the most NPT. */
function counterpart(model: Model, { kind, name }: Entity): Entity | null {
  const id = model.ranking.find((one) => {
    const entity = item(model.entities, one);
    return entity.kind === kind && entity.name === name;
  });
  return id === undefined ? null : item(model.entities, id);
}

/** The entity in the newest run that has it; throws if no run has it. */
function entityOf(rule: GateRule, models: readonly Model[]): Entity | null {
  if (rule.metric === 'elapsed') return null;
  let failure: unknown;
  for (const model of [...models].reverse()) {
    try {
      return item(model.entities, find(model, rule.name));
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

function resultOf(rule: GateRule, rules: number, before: readonly Model[], after: readonly Model[]): GateResult {
  if (rule.metric !== 'calls' && Math.min(before.length, after.length) < leastRuns)
    throw usage(
      `${rule.text}: how much runs of one version differ is not known from ${before.length} and ${after.length}`,
      `record ${leastRuns} or more of each into two directories, and compare these`,
    );
  const entity = entityOf(rule, [...before, ...after]);
  const values = (models: readonly Model[]): GateValue[] =>
    models.map((model) => {
      const value = gateValue(model, rule.metric, entity === null ? null : counterpart(model, entity));
      if (value !== null) return value;
      throw usage(
        `${rule.text}: ${rule.metric === 'calls' ? 'calls of it were not counted' : 'nobody waits for it'}`,
        rule.metric === 'calls' ? 'compile it with $(quartz cflags)' : 'name a lock or another object',
      );
    });
  return evaluateGate(rule, values(before), values(after), rules);
}

/** Returns exit code 1 if a rule holds. */
export async function gate(args: Arguments, rules: string, before: string, after: string): Promise<number> {
  const options = display(args);
  const wanted = rulesOf(rules);
  if (wanted.length === 0) throw usage('--fail-if has no rule', "for example: --fail-if 'npt(work) > 5 %'");
  const load = (name: string): Model[] => profilesOf(name).map((file) => loadModel(file, { raw: args.has('raw') }));
  const [old, fresh] = [load(before), load(after)];
  const results = wanted.map((rule) => resultOf(rule, wanted.length, old, fresh));
  await print(
    args.has('json') ? gatesJson(results) : results.map((result) => `${gateLine(result, options)}\n`).join(''),
  );
  return results.some(({ verdict }) => verdict === 'worse') ? exitCodes.gate : exitCodes.ok;
}
