/** What findings and notices of a model say, as facts, for tests. */
import type { Facts, Finding, FindingKind, Model, Notice, WaitingAt } from '../../ts-frontend/src/model/index.js';

/** The facts of a finding, which must be of that form. */
export function factsOf<Form extends Facts['form']>(
  finding: Finding | undefined,
  form: Form,
): Extract<Facts, { form: Form }> {
  if (finding?.facts.form !== form) throw new Error(`facts of form ${finding?.facts.form ?? 'none'}, not ${form}`);
  return finding.facts as Extract<Facts, { form: Form }>;
}

/** The first finding of that kind. */
export const findingOf = ({ findings }: Model, kind: FindingKind): Finding | undefined =>
  findings.find((finding) => finding.kind === kind);

/** All notices of that form. */
export const noticesOf = <Form extends Notice['form']>(
  { notices }: Model,
  form: Form,
): Extract<Notice, { form: Form }>[] =>
  notices.filter((notice): notice is Extract<Notice, { form: Form }> => notice.form === form);

export const nameOf = (model: Model, id: number | null): string | null =>
  id === null ? null : (model.entities[id]?.name ?? null);
export const namesOf = (model: Model, ids: readonly number[]): (string | null)[] => ids.map((id) => nameOf(model, id));
/** "2 at room" */
export const waitingIn = (model: Model, waiting: readonly (WaitingAt | null)[]): string[] =>
  waiting.flatMap((one) =>
    one === null ? [] : [`${Number(one.threads.toFixed(2))} at ${nameOf(model, one.entity)!}`],
  );
/** Whole milliseconds. */
export const ms = (ns: number): number => Math.round(ns / 1e6);
