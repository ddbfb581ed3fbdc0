/**
 * An entity of a built model. Its metrics are computed on demand from the sums of the model, because a live screen
 * builds a model of ten thousand entities every second and shows forty of them. Pure.
 */
import { isCode } from '../profile/code-scopes.js';
import { f64, item, u32 } from '../profile/columns.js';
import { excludingOf, type Excluding } from './exclusion.js';
import { isNameless, publicNamesOf } from './public-names.js';
import { Runnable } from './runnable-distribution.js';
import type { Tables } from './tables.js';
import { systemTimesOf } from './kernel-time.js';
import { nptInterval, sampledNptInterval } from './confidence.js';
import { sampledTimeOf, type SampledTime } from './sampled-time.js';
import { baseName, kindOf } from './naming.js';
import type {
  EntityKind,
  LibraryLock,
  LibraryWait,
  Missing,
  NamingStyle,
  Origin,
  RawEntity,
  RawProfile,
  RawThread,
} from '../profile/raw-profile.js';
import { stateCount } from './sums.js';
import type {
  Bucket,
  CallCount,
  Entity,
  Exclusion,
  Interval,
  Kind,
  ObjectStats,
  StateName,
  StateTime,
  ThreadStats,
} from '../result/types.js';
import { stateNames } from '../result/types.js';
import { Objects } from './sync-objects.js';

/** Data that all entities of a model share. */
export class Shared {
  readonly threads: Map<number, RawThread>;
  readonly objects: Objects;
  #runnable: Runnable | undefined;
  #publicNames: ReadonlyMap<number, number> | undefined;
  #excluding: Excluding | undefined;
  #systemTimes: { of: Float64Array | undefined } | undefined;
  #sampled: { of: SampledTime | null } | undefined;
  constructor(
    readonly raw: RawProfile,
    readonly tables: Tables,
    readonly independent: number,
  ) {
    this.threads = new Map(raw.threads.map((thread) => [thread.entity, thread]));
    this.objects = new Objects(raw, tables);
  }
  /** undefined: not known. */
  get systemTimes(): Float64Array | undefined {
    this.#systemTimes ??= { of: systemTimesOf(this.raw, this.tables) };
    return this.#systemTimes.of;
  }
  /** null: the profile has no samples of running threads, or no kernel count of processor time. */
  get sampled(): SampledTime | null {
    return (this.#sampled ??= { of: sampledTimeOf(this.raw, this.tables) }).of;
  }
  get publicNames(): ReadonlyMap<number, number> {
    return (this.#publicNames ??= publicNamesOf(this.raw, this.tables));
  }
  get excluding(): Excluding {
    return (this.#excluding ??= excludingOf(this.tables.measured, this.tables.groupOf));
  }
  get runnable(): Runnable {
    const { stacks, groupOf, weights, entities } = this.tables;
    return (this.#runnable ??= new Runnable(this.raw, stacks, groupOf, weights, entities));
  }
}

export class BuiltEntity implements Entity {
  #byBusy: Float64Array | undefined;
  #byBusySelf: Float64Array | undefined;
  #states: Record<StateName, StateTime> | undefined;
  #object: ObjectStats | null | undefined;

  /** `source`: the profile's record of the entity; for a group, that of its first member. */
  constructor(
    private readonly shared: Shared,
    private readonly source: RawEntity,
    readonly id: number,
    readonly name: string,
    readonly members: number[],
    readonly group: number,
  ) {}

  get rawKind(): EntityKind {
    return this.id === 0 ? 'procedure' : this.source.kind;
  }
  get kind(): Kind {
    return kindOf(this.rawKind);
  }
  get file(): string {
    return this.id === 0 ? '' : this.source.file;
  }
  get line(): number {
    return this.id === 0 ? 0 : this.source.line;
  }
  get address(): number {
    return this.id === 0 ? 0 : this.source.address;
  }
  get detail(): string {
    return this.id === 0 ? '' : this.source.detail;
  }
  get missing(): Missing {
    return this.id === 0 ? 'nothing' : this.source.missing;
  }
  get origin(): Origin {
    return this.id === 0 ? 'own' : this.source.origin;
  }
  get purposes(): number {
    return this.id === 0 ? 0 : this.source.purposes;
  }
  get runsFor(): number {
    return this.kind === 'procedure' && isNameless(this) ? (this.shared.publicNames.get(this.id) ?? 0) : 0;
  }
  get libraryWait(): LibraryWait {
    return this.id === 0 ? 'unknown' : this.source.libraryWait;
  }
  get style(): NamingStyle {
    return this.id === 0 ? 'other' : this.source.style;
  }
  get libraryLock(): LibraryLock {
    return this.id === 0 ? 'none' : this.source.libraryLock;
  }
  get excludes(): Exclusion | null {
    return this.object ? (this.shared.excluding.locks.get(this.id) ?? null) : null;
  }
  get admits(): Exclusion | null {
    return this.object ? (this.shared.excluding.permits.get(this.id) ?? null) : null;
  }
  get saysItsKind(): boolean {
    const { name, naming } = this.source;
    return (
      this.kind === 'procedure' ||
      this.name === this.kind ||
      naming !== 'own' ||
      (name === '' && this.kind !== 'thread')
    );
  }
  get module(): string {
    const { raw } = this.shared;
    return this.id === 0
      ? raw.head.program
      : this.source.module > 0
        ? (raw.modules[this.source.module - 1]?.path ?? '')
        : '';
  }
  get instances(): number {
    const { entities } = this.shared.raw;
    if (this.id === 0) return 1;
    if (this.members.length === 0) return Math.max(1, item(entities, this.id).instances);
    return this.members.reduce((sum, member) => sum + Math.max(1, item(entities, member).instances), 0);
  }

  get inlinedInto(): number[] {
    const { entities } = this.shared.raw,
      all = this.#all.map((id) => (this.rawKind === 'procedure' ? (entities[id]?.record ?? 0) : 0));
    return all.includes(0) ? [] : [...new Set(all)];
  }

  get nptNs(): number {
    return f64(this.#sums.npt, this.id);
  }
  get nptSelfNs(): number {
    return f64(this.#sums.nptSelf, this.id);
  }
  get share(): number {
    return this.#elapsedNs > 0 ? this.nptNs / this.#elapsedNs : 0;
  }
  get processorTimeNs(): number {
    return f64(this.#sums.time, this.id);
  }
  get processorTimeSelfNs(): number {
    return total(this.#terms(this.#sums.byBusySelf));
  }
  get byBusyNs(): Float64Array {
    return (this.#byBusy ??= this.#terms(this.#sums.byBusy).map((ns, k) => ns / (k + 1)));
  }
  get byBusySelfNs(): Float64Array {
    return (this.#byBusySelf ??= this.#terms(this.#sums.byBusySelf).map((ns, k) => ns / (k + 1)));
  }
  get parallelism(): number {
    return this.nptNs > 0 ? this.processorTimeNs / this.nptNs : 0;
  }
  get idlenessNs(): number {
    return f64(this.#sums.idleness, this.id);
  }
  get spinBlameNs(): number {
    return f64(this.#sums.spinBlame, this.id);
  }
  get overheadNs(): number {
    return f64(this.#sums.stateNs, this.id * stateCount + 1);
  }
  get systemNs(): number | null {
    return this.shared.systemTimes?.[this.id] ?? null;
  }
  get optimizeNs(): number {
    return this.nptNs;
  }
  get parallelizeNs(): number {
    return parallelize(this.#terms(this.#sums.byBusy));
  }
  get parallelizeSelfNs(): number {
    return parallelize(this.#terms(this.#sums.byBusySelf));
  }
  get states(): Record<StateName, StateTime> {
    return (this.#states ??= Object.fromEntries(
      stateNames.map((name, k) => [name, new BuiltState(this.shared, this.id, k + 1)]),
    ) as unknown as Record<StateName, StateTime>);
  }
  get calls(): number {
    return f64(this.shared.tables.calls.total, this.id);
  }
  get callsCounted(): boolean {
    const { paths, publisher } = this.shared.raw.head;
    const noHooks = paths.waits || paths.running || (publisher === 'pthread' && !paths.hooks);
    return this.calls > 0 || this.rawKind !== 'procedure' || !noHooks;
  }
  get callers(): CallCount[] {
    return this.shared.tables.calls.callersOf(this.#all);
  }
  get callees(): CallCount[] {
    return this.shared.tables.calls.calleesOf(this.#all);
  }
  get ci95(): Interval {
    const rawNpt = f64(this.#sums.rawNpt, this.id),
      { sampled, independent } = this.shared;
    if (!sampled || !this.#bySamples) return nptInterval(this.nptNs, rawNpt, this.#elapsedNs, independent);
    return sampledNptInterval({
      npt: this.nptNs,
      rawNpt,
      byBusy: this.#terms(this.#sums.byBusy),
      elapsed: this.#elapsedNs,
      snapshots: independent,
      ...sampled,
    });
  }
  get object(): ObjectStats | null {
    if (this.rawKind === 'procedure' || this.rawKind === 'thread' || isCode(this.rawKind)) return null;
    return (this.#object ??= this.shared.objects.statsOf(this.id, this.rawKind, this.#all));
  }
  get thread(): ThreadStats | null {
    const thread = this.shared.threads.get(this.id);
    return thread
      ? { serial: thread.serial, creator: thread.creator, firstNs: thread.firstNs, lastNs: thread.lastNs }
      : null;
  }

  get #all(): readonly number[] {
    return this.members.length > 0 ? this.members : [this.id];
  }
  /** Whether only samples of running threads show where it ran. */
  get #bySamples(): boolean {
    return isCode(this.rawKind) || (this.rawKind === 'procedure' && !this.shared.raw.head.paths.hooks);
  }
  get #sums(): Tables['sums'] {
    return this.shared.tables.sums;
  }
  get #elapsedNs(): number {
    return this.shared.raw.head.elapsedNs;
  }
  #terms(block: Float64Array): Float64Array {
    const { processors, row } = this.#sums;
    return block.subarray(u32(row, this.id) * processors, (u32(row, this.id) + 1) * processors);
  }
}

class BuiltState implements StateTime {
  constructor(
    private readonly shared: Shared,
    private readonly entity: number,
    private readonly state: number,
  ) {}
  get ns(): number {
    return f64(this.shared.tables.sums.stateNs, this.entity * stateCount + this.state - 1);
  }
  get meanRunnable(): number {
    const { ns } = this;
    return ns > 0 ? f64(this.shared.tables.sums.stateRunnableNs, this.entity * stateCount + this.state - 1) / ns : 0;
  }
  get runnable(): Bucket[] {
    return this.shared.runnable.of(this.entity, this.state);
  }
}

export function nameOfRoot(raw: RawProfile): string {
  return baseName(raw.head.program) || 'program';
}
function total(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}
/** Σ T_i (1/i - 1/P), docs/reference/metrics.md section 3. */
function parallelize(byBusy: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < byBusy.length; k++) sum += f64(byBusy, k) * (1 / (k + 1) - 1 / byBusy.length);
  return sum;
}
