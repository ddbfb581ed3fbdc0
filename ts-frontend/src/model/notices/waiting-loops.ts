/**
 * Notices about unmarked loops that were found to do nothing but wait. The loops of OpenMP's library are reported
 * together, and TBB's: these have one for each of their barriers and locks, and threads wait in all of them for the
 * same reasons. Pure.
 */
import { leastShare } from '../evidence/context.js';
import { Purpose } from '../profile/abi.js';
import { isFor } from '../evidence/purposes.js';
import { isLock } from '../evidence/wait-kinds.js';
import type { WaitingLoopNotice, WaitingTeamsNotice } from '../result/notices.js';
import { unopposed } from '../evidence/advice.js';
import type { Entity, Finding, Model } from '../result/types.js';

const waitedNs = ({ states }: Entity): number => states.spinning.ns + states.ready.ns;

export function waitingLoops(
  { entities, elapsedNs, balance, processors }: Model,
  findings: readonly Finding[],
): (WaitingLoopNotice | WaitingTeamsNotice)[] {
  // only these: statistics of other objects are not computed
  const loops = entities.filter((one) => one.rawKind === 'loop' && one.group === 0 && one.object?.counted === false);
  const ofTeams = loops.filter(({ origin }) => origin === 'openmp');
  const isOfTbb = (one: Entity): boolean => isFor(one, Purpose.tbbLibrary | Purpose.tbbCode);
  const teams = (['OpenMP', 'TBB'] as const).flatMap((library): WaitingTeamsNotice[] => {
    const its = ofTeams.filter((one) => isOfTbb(one) === (library === 'TBB'));
    const ns = its.reduce((sum, one) => sum + waitedNs(one), 0);
    if (ns < leastShare * elapsedNs) return [];
    const threads = balance.meanRunnable > processors ? 'fewer' : null;
    const advice = unopposed({ pieces: 'larger', threads }, findings);
    return [{ form: 'waiting-teams', library, entities: its.map(({ id }) => id), ns, advice }];
  });
  const others = loops.filter((one) => !ofTeams.includes(one) && waitedNs(one) >= leastShare * elapsedNs);
  return [
    ...teams,
    ...others.map((one) => ({ form: 'waiting-loop', entity: one.id, ns: waitedNs(one), lock: isLock(one) }) as const),
  ];
}
