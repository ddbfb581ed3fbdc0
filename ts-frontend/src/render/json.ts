/** The report as JSON, as specified by schema/report.schema.json. Numbers are the model's, not rounded. */
import { countedInAll, onPathOf, unwindingOf, workSpanTotalsOf } from '../model/index.js';
import type { Bucket, Entity, Finding, Model, ObjectStats, TimeBucket } from '../model/index.js';
import { experimentTexts } from './parts/experiment.js';
import { findingSentences } from './findings/index.js';
import { noticeSentences } from './notices/index.js';
import { experimentFields, factFields, slowdownFields } from './renamed-fields.js';

export const schemaName = 'quartz-report-3';

const bucket = ({ from, to, ns }: Bucket): object => ({ from, to: Number.isFinite(to) ? to : null, ns });
const timeBucket = ({ from, to, count }: TimeBucket): object => ({ from, to: Number.isFinite(to) ? to : null, count });

function objectJson(object: ObjectStats): object {
  return {
    capacity: object.capacity,
    acquisitions: object.counted ? object.acquisitions : null,
    contended: object.waitsCounted ? object.contended : null,
    waitNs: object.waitNs,
    waitMeanNs: object.waitMeanNs,
    waitMaxNs: object.waitMaxNs,
    spinNs: object.spinNs,
    waitDistribution: object.waitDistribution.map(timeBucket),
    holdNs: object.holdNs,
    holdMeanNs: object.counted ? object.holdMeanNs : null,
    holdMaxNs: object.holdMaxNs,
    holdExact: object.holdExact,
    holdDistribution: object.holdDistribution.map(timeBucket),
    queueLengthMean: object.queueLengthMean,
    queueLength: object.queueLength.map(bucket),
    waiters: object.waiters,
    holders: object.holders,
    waitOverlap: object.waitOverlap,
    meanwhile: object.waitOverlap, // the field's name in schema 2; to be removed with the next version
    criticalByBusyNs: Array.from(object.criticalByBusyNs),
  };
}

/** Time on the critical path in ns; null if no path was recorded. */
function onPathNs(model: Model, entity: number): number | null {
  const onPath = onPathOf(model);
  return onPath && (entity === 0 ? model.head.pathNs : (onPath.get(entity) ?? 0));
}

function entityJson(model: Model, entity: Entity): object {
  return {
    id: entity.id,
    kind: entity.kind,
    rawKind: entity.rawKind,
    name: entity.name,
    file: entity.file,
    line: entity.line,
    address: entity.address,
    module: entity.module,
    detail: entity.detail,
    origin: entity.origin,
    libraryWait: entity.libraryWait,
    instances: entity.instances,
    group: entity.group,
    members: entity.members,
    inlinedInto: entity.inlinedInto,
    nptNs: entity.nptNs,
    nptSelfNs: entity.nptSelfNs,
    share: entity.share,
    processorTimeNs: entity.processorTimeNs,
    processorTimeSelfNs: entity.processorTimeSelfNs,
    byBusyNs: Array.from(entity.byBusyNs),
    byBusySelfNs: Array.from(entity.byBusySelfNs),
    parallelism: entity.parallelism,
    idlenessNs: entity.idlenessNs,
    spinBlameNs: entity.spinBlameNs,
    overheadNs: entity.overheadNs,
    systemNs: entity.systemNs,
    parallelizeNs: entity.parallelizeNs,
    parallelizeSelfNs: entity.parallelizeSelfNs,
    onPathNs: onPathNs(model, entity.id),
    states: Object.fromEntries(
      Object.entries(entity.states).map(([name, state]) => [
        name,
        { ns: state.ns, meanRunnable: state.meanRunnable, runnable: state.runnable.map(bucket) },
      ]),
    ),
    calls: entity.callsCounted ? entity.calls : null,
    callers: entity.callers,
    callees: entity.callees,
    ci95: entity.ci95,
    ...(entity.object ? objectJson(entity.object) : {}),
    ...(entity.thread ? entity.thread : {}),
  };
}

const findingJson = (model: Model, finding: Finding): object => ({
  entity: finding.entity,
  name: finding.name,
  kind: finding.kind,
  change: finding.change,
  ...findingSentences(model, finding, { ascii: false }),
  facts: factFields(finding.facts),
  advice: finding.advice,
  costNs: finding.costNs,
  savingNs: finding.savingNs,
  costCi95: finding.costCi95,
  savingCi95: finding.savingCi95,
  bound: finding.bound,
  ...(finding.whatIf === undefined ? {} : { whatIf: finding.whatIf }),
  alternatives: finding.alternatives,
  processorUse: finding.processorUse,
  meanwhile: finding.processorUse, // the field's name in schema 2; to be removed with the next version
  related: finding.related,
  onPathNs: onPathNs(model, finding.entity),
  othersMayCause: finding.othersMayCause,
  ...(finding.verifications === undefined ? {} : { verifications: finding.verifications }),
});

/** The text of the whole report. Yields one entity at a time, so that a large profile need not be in memory twice. */
export function* reportJson(model: Model, quartzVersion: string): Generator<string> {
  const { head, balance } = model;
  const top = {
    schema: schemaName,
    quartz: quartzVersion,
    program: model.program,
    arguments: head.arguments,
    host: head.host,
    pid: head.pid,
    startedRealtimeNs: head.startedRealtimeNs,
    status: head.status,
    endReason: head.endReason,
    outside: head.outside,
    exitStatus: head.exitStatus,
    elapsedNs: model.elapsedNs,
    processors: model.processors,
    samples: model.samples,
    rateHz: model.rateHz,
    fewer: model.fewer,
    effortNs: model.effortNs,
    effort: model.effort ?? null,
    idlenessPercent: model.idlenessPercent,
    overheadPercent: model.overheadPercent,
    spinPercent: model.spinPercent,
    compensation: model.compensation,
    cpuWait: model.cpuWait,
    cpuLimits: model.cpuLimits,
    kernelUsage: model.kernelUsage ?? null,
    workSpan: workSpanTotalsOf(model),
    children: {
      runNs: head.childrenRunNs,
      started: head.processesStarted > 0 ? head.processesStarted : null,
      profiled: head.childrenApart,
    },
    counters: countedInAll(model.raw),
    slowdown: slowdownFields(model.slowdown),
    sampler: {
      rateAskedHz: head.rateHz,
      cpuNs: head.samplerCpuNs,
      cpu: head.samplerCpu,
      spins: head.samplerSpins,
      threads: head.samplerThreads,
      visits: head.visits,
      skippedTicks: head.skippedTicks,
      tornRetries: head.tornRetries,
      tornAccepted: head.tornAccepted,
      invalid: head.invalid,
    },
    paths: head.paths,
    unwinding: unwindingOf(model.raw),
    losses: {
      stackOverflows: head.stackOverflows,
      callsLost: head.callsLost,
      threadsDropped: head.threadsDropped,
      objectsMerged: head.objectsMerged,
      stringsDropped: head.stringsDropped,
      tuplesMerged: head.tuplesMerged,
      stacksCut: head.stacksCut,
      entitiesMerged: head.entitiesMerged,
    },
    balance: {
      usefulNs: balance.usefulNs,
      overheadNs: balance.overheadNs,
      spinningNs: balance.spinningNs,
      idleNs: balance.idleNs,
      nothingRanNs: balance.nothingRanNs,
      byBusyNs: Array.from(balance.byBusyNs),
      bySpinningNs: Array.from(balance.bySpinningNs),
      meanBusy: balance.meanBusy,
      meanRunnable: balance.meanRunnable,
      runnable: balance.runnable.map(bucket),
    },
    findings: model.findings.map((finding) => findingJson(model, finding)),
    notices: model.notices.map((notice) => ({
      ...noticeSentences(model, notice, { ascii: false }),
      facts: notice,
    })),
    timeline: model.timeline,
    ...(model.experiment === undefined
      ? {}
      : {
          experiment: {
            ...experimentFields(model.experiment),
            sentences: experimentTexts(model.experiment, { ascii: false }),
          },
        }),
  };
  yield `${JSON.stringify(top, null, 1).slice(0, -2)},\n "entities": [`;
  let separator = '\n';
  for (const entity of model.entities) {
    yield `${separator}  ${JSON.stringify(entityJson(model, entity))}`;
    separator = ',\n';
  }
  yield '\n ]\n}\n';
}
