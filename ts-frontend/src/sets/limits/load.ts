/** Finds what limits the job of a set: adds the costs of the ranks that are compared with the others. */
import { readGroups } from '../parquet.js';
import type { LoadedSet } from '../views.js';
import { jobFindings, planOf } from './find.js';
import { overlapsOf, type Overlap } from './overlap.js';
import type { Job } from './sentences.js';
import type { JobFinding, Sums } from './types.js';

export interface Limits extends Job {
  findings: JobFinding[];
  overlaps: Overlap[];
}

const columns = ['member', 'entity', 'npt_ns', 'npt_self_ns', 'wait_ns', 'blocked_ns'] as const;

/** Sums of costs over some members, by entity. */
async function sumsOf(folder: string, members: readonly number[]): Promise<Map<number, Sums>> {
  const sums = new Map<number, Sums>();
  if (members.length === 0) return sums;
  const wanted = new Set(members);
  const last = members.reduce((a, b) => Math.max(a, b), 0);
  for await (const costs of readGroups(folder, 'costs', columns)) {
    if (Number(costs.member[0]) > last) break; // rows are in the order of members
    for (let k = 0; k < costs.member.length; k++) {
      if (!wanted.has(Number(costs.member[k]))) continue;
      const entity = Number(costs.entity[k]);
      let its = sums.get(entity);
      if (!its) sums.set(entity, (its = { npt: 0, self: 0, wait: 0, blocked: 0 }));
      its.npt += Number(costs.npt_ns[k]);
      its.self += Number(costs.npt_self_ns[k]);
      its.wait += Number(costs.wait_ns[k]);
      its.blocked += Number(costs.blocked_ns[k]);
    }
  }
  return sums;
}

export async function limitsOf(folder: string, set: LoadedSet): Promise<Limits> {
  const plan = planOf(set);
  const { jobNs, count } = plan.basis;
  const findings = jobFindings(plan, await sumsOf(folder, plan.members));
  const waitingNs = set.ranks.reduce((sum, { mpi_ns }) => sum + mpi_ns, 0) / Math.max(1, set.ranks.length);
  return { jobNs, count, findings, overlaps: overlapsOf(findings, waitingNs) };
}
