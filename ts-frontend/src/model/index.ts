/**
 * The model: every metric of docs/reference/metrics.md from a profile. Pure: no I/O, no clock, no state between calls.
 */
export type * from './profile/raw-profile.js';
export { Arrival, KernelWork, noPaths, pathsOf, State, Waiting } from './profile/raw-profile.js';
export { noInstructions, noObject, noTimePath } from './profile/empty-columns.js';
export * as abi from './profile/abi.js';
export { addAt, countAt, defined, f64, i32, item, u16, u32, u8 } from './profile/columns.js';
export { addTo } from './profile/maps.js';
export type * from './result/types.js';
export type * from './result/facts.js';
export type * from './result/experiment.js';
export type * from './result/notices.js';
export type * from './result/unwinding.js';
export type * from './result/effort.js';
export { lineMoves } from './findings/lock-churn.js';
export { isMostlyOthers, isNearlyOthers } from './metrics/cpu-wait.js';
export { isBuilt } from './metrics/tables.js';
export { isDisturbed } from './evidence/undisturbed/undisturbed.js';
export { guidanceOf } from './metrics/effort.js';
export { unwindingOf } from './metrics/unwinding.js';
export { sharingByProcedure } from './evidence/code/shared-lines.js';
export { findingKinds } from './result/finding-kinds.js';
export type { Change, FindingKind } from './result/finding-kinds.js';
export { stateNames } from './result/types.js';
export { buildModel } from './build-model.js';
export { findEntities, focusOn } from './queries/focus.js';
export { checkInvariants } from './invariants.js';
export { compare } from './queries/compare.js';
export type { Caution, Comparison, EntityChange, FindingChange } from './queries/compare.js';
export {
  GateError,
  gateMetrics,
  gateRule,
  gateValue,
  evaluateGate,
  leastRuns,
  type GateResult,
  type GateRule,
  type GateValue,
  type Verdict,
} from './queries/gate.js';
export { findSource, hottestLine, mainLine, sourceFiles, type SourceFile, type SourceLine } from './views/source.js';
export { codeProcedures, disassemblyOf, instructionsIn, proceduresOfFile, sampledIn } from './views/disassembly.js';
export type {
  CodeInstruction,
  CodeLoop,
  CodePiece,
  Disassembly,
  InstructionCost,
  InstructionRow,
} from './views/disassembly.js';
export { memberOf, type Member, type MemberProfile } from './queries/member.js';
export { stackWeights, type StackWeights } from './queries/stack-weights.js';
export { isBusy, isWaiting } from './metrics/sums.js';
export { isOfProcesses } from './evidence/wait-kinds.js';
export { isCode } from './profile/code-scopes.js';
export { difference } from './profile/difference.js';
export { fewSnapshots, independentSnapshots, shareInterval } from './metrics/confidence.js';
export { baseName, placeOf } from './metrics/naming.js';

export {
  amountNames,
  costIndex,
  costNames,
  effortOfCosts,
  guidanceOfCosts,
  type AmountName,
  type CostName,
} from './views/costs.js';
export {
  countedInAll,
  countersOf,
  cyclesPerInstruction,
  isMemoryBound,
  needed,
  perThousand,
} from './views/counters.js';
export type { CounterName, ProfileFault } from './profile/abi.js';
export { overheadKinds } from './result/effort.js';
export { columnNames, derivedMetric, MetricError, type DerivedMetric } from './views/derived.js';
export type { ViewRow } from './views/rows.js';
export { aloneness, busyBeside, flameOf, type FlameNode } from './views/flame.js';
export { viewOf, type Detail, type ViewName } from './views/views.js';
export { withoutCodeNs } from './views/without-code.js';
export { contradictions } from './evidence/advice.js';
export { experimentOf, recordedRun, withExperiment } from './experiment/experiment.js';
export type { ExperimentInput, RecordedRun, TriedChange } from './experiment/experiment.js';
export { middleOf } from './experiment/modes.js';
export { orderOf } from './experiment/order.js';
export type { ProgramStart } from './experiment/remedies.js';
export { innermostOf, timePathOf } from './path/time-path.js';
export { recentNs, recentPathOf } from './path/recent-path.js';
export type { RecentPath, RecentPlace, RecentThread } from './path/recent-path.js';
export { tableNotices } from './notices/index.js';
export { onPathOf, pathLength } from './path/on-path.js';
export { isMuchUnseen } from './path/unseen-order.js';
export { isMostlyUnended, sharesWork, workSpanOf, workSpanTotalsOf } from './path/work-span.js';
export { worksOf } from './path/span-rows.js';
export type { LockHold, SpanEntity, SpanSite } from './path/span-rows.js';
export type { WorkSpan, WorkSpanTotals } from './path/work-span.js';
export type { Prediction } from './path/prediction.js';
export type { Scaling } from './path/scaling.js';
export type { Slack } from './path/slack.js';
export type { WhatIf } from './path/what-if.js';
export type { Came, PathEntity, PathLeg, PathSegment, PathState, TimePath } from './path/time-path.js';
