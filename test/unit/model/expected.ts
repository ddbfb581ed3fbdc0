/** Checks of the first finding that several tests share. */
import type { ExecutionContext } from 'ava';
import {
  buildModel,
  type Change,
  type Finding,
  type FindingKind,
  type Model,
} from '../../../ts-frontend/src/model/index.js';
import type { ProfileBuilder } from '../../support/profile-builder.js';
import { second } from '../../support/example-profiles.js';

export const close = (t: ExecutionContext, what: string, ns: number, seconds: number): void => {
  t.true(Math.abs(ns / second - seconds) <= 0.005, `${what}: ${ns / second} s, not ${seconds} s`);
};
interface Answer {
  kind: FindingKind;
  entity: string;
  change: Change;
  cost?: number;
  saving?: number;
}
export function first(t: ExecutionContext, builder: ProfileBuilder, answer: Answer): Finding & { model: Model } {
  const model = buildModel(builder.build());
  const finding = model.findings[0];
  if (!finding) throw new Error('no finding');
  t.deepEqual([finding.kind, finding.name, finding.change], [answer.kind, answer.entity, answer.change]);
  t.is(model.entities[finding.entity]!.name, finding.name);
  if (answer.cost !== undefined) close(t, 'cost', finding.costNs, answer.cost);
  if (answer.saving !== undefined) close(t, 'saving', finding.savingNs, answer.saving);
  return { ...finding, model };
}
export const kinds = (model: Model): FindingKind[] => model.findings.map((finding) => finding.kind);
