/**
 * The work that findings about code to be made faster are about, while at least three quarters of the processors are
 * busy. Several searches of one report ask for the same work, which is summed once. Pure functions.
 */
import { f64, item, u16, u32, u8 } from '../../profile/columns.js';
import { addTo } from '../../profile/maps.js';
import { State, Waiting } from '../../profile/raw-profile.js';
import { shownId, type FindingContext } from '../context.js';
import { ownPath } from './own-path.js';

/** Which work is examined. */
export interface WorkScope {
  /** The subjects of other findings: threads among them are left out. */
  named: ReadonlyMap<number, number>;
  /** Kinds of kernel work that have a finding of their own. */
  kernelWork: ReadonlySet<number>;
}

export interface HotCode {
  npt: number;
  busy: number;
  spinning: number;
  mainNs: number;
  called: Map<number, number>;
  byThread: Map<number, number>;
}

export const noCode = (): HotCode => ({
  npt: 0,
  busy: 0,
  spinning: 0,
  mainNs: 0,
  called: new Map(),
  byThread: new Map(),
});

/** What the model sums of code, without the threads that run it. */
type CodeSums = Pick<HotCode, 'npt' | 'busy' | 'spinning'>;
const addSums = (sums: CodeSums, { npt, busy, spinning }: CodeSums): void => {
  sums.npt += npt;
  sums.busy += busy;
  sums.spinning += spinning;
};

/** The sums of one scope, each computed at first use. */
class HotWork {
  /** By tuple: 1 if it is such work. */
  readonly isAt: Uint8Array;
  readonly #byOwner = new Map<number, ReadonlyMap<number, HotCode>>();
  #called: { rows: ReadonlyMap<number, CodeSums>; npt: number } | undefined;
  constructor(
    private readonly context: FindingContext,
    scope: WorkScope,
  ) {
    const { tuples } = context.model.raw;
    const isAt = (this.isAt = new Uint8Array(context.tables.weights.length));
    for (let k = 0; k < isAt.length; k++)
      if (isBusyTime(context, k) && isWork(context, scope, k) && !scope.named.has(u32(tuples.thread, k))) isAt[k] = 1;
  }

  /** By procedure: its own work, with that of run-time libraries that it calls. */
  byOwner(main: number): ReadonlyMap<number, HotCode> {
    let known = this.#byOwner.get(main);
    if (known === undefined) this.#byOwner.set(main, (known = this.#measure(main)));
    return known;
  }

  /** By procedure, including callees; without start routines of threads and of the program. */
  called(): { rows: ReadonlyMap<number, CodeSums>; npt: number } {
    return (this.#called ??= this.#measureCalled());
  }

  #measure(main: number): Map<number, HotCode> {
    const { model, tables, own } = this.context;
    const { stacks, weights } = tables;
    const { tuples } = model.raw;
    const { shareOf } = this.context.unseen;
    const byEntity = new Map<number, HotCode>();
    for (let k = 0; k < weights.length; k++) {
      if (this.isAt[k] === 0) continue;
      const node = u32(tuples.stack, k),
        ns = f64(weights, k) * shareOf(k);
      const id = workOwner(this.context, node);
      let row = byEntity.get(id);
      if (row === undefined) byEntity.set(id, (row = noCode()));
      const npt = ns / u16(tuples.busy, k);
      row.npt += npt;
      row.busy += npt * u16(tuples.busy, k);
      row.spinning += npt * u16(tuples.spinning, k);
      addTo(row.byThread, u32(tuples.thread, k), ns);
      if (main !== 0 && tuples.thread[k] === main) row.mainNs += ns;
      if (u8(own.hidden, node)) addTo(row.called, u32(stacks.entity, node), npt);
    }
    return byEntity;
  }

  /** First by stack, of which there are far fewer than tuples. */
  #measureCalled(): { rows: Map<number, CodeSums>; npt: number } {
    const { model, tables } = this.context;
    const { tuples } = model.raw;
    const { count } = tables.stacks;
    const sums = { npt: new Float64Array(count), busy: new Float64Array(count), spinning: new Float64Array(count) };
    let all = 0;
    for (let k = 0; k < tables.weights.length; k++) {
      if (this.isAt[k] === 0) continue;
      const busy = u16(tuples.busy, k),
        npt = f64(tables.weights, k) / busy,
        node = u32(tuples.stack, k);
      all += npt;
      sums.npt[node] = f64(sums.npt, node) + npt;
      sums.busy[node] = f64(sums.busy, node) + npt * busy;
      sums.spinning[node] = f64(sums.spinning, node) + npt * u16(tuples.spinning, k);
    }
    const rows = new Map<number, CodeSums>();
    for (let node = 0; node < count; node++) {
      if (sums.npt[node] === 0) continue;
      const its = { npt: f64(sums.npt, node), busy: f64(sums.busy, node), spinning: f64(sums.spinning, node) };
      for (const id of new Set(ownPath(this.context, node).slice(0, -1))) {
        const row = rows.get(id);
        if (row) addSums(row, its);
        else rows.set(id, { ...its });
      }
    }
    return { rows, npt: all };
  }
}

export const isBusyTime = ({ model, background }: FindingContext, k: number): boolean =>
  background.busyOf(k) >= Math.max(1, 0.75 * model.processors);

/** Whether it is such work, however many processors are busy. */
export function isWork({ model, covered }: FindingContext, { kernelWork }: WorkScope, k: number): boolean {
  const { tuples } = model.raw;
  return (
    tuples.state[k] === State.useful &&
    tuples.stack[k] !== 0 &&
    covered[k] === 0 &&
    tuples.waiting[k] !== Waiting.woken &&
    !kernelWork.has(u8(tuples.kernel, k))
  );
}

const owners = new WeakMap<FindingContext, Uint32Array>();

/** The procedure whose work it is; for code of a library without names, the exported procedure that it runs for. */
export function workOwner(context: FindingContext, node: number): number {
  let known = owners.get(context);
  if (known === undefined) {
    const { model, tables, own } = context;
    known = new Uint32Array(tables.stacks.count);
    const byEntity = new Map<number, number>();
    for (let n = 0; n < known.length; n++) {
      const id = u32(own.owner, n);
      let shown = byEntity.get(id);
      if (shown === undefined) byEntity.set(id, (shown = shownId(model, item(model.entities, id).runsFor || id)));
      known[n] = shown;
    }
    owners.set(context, known);
  }
  return u32(known, node);
}

const works = new WeakMap<FindingContext, Map<string, HotWork>>();

/** To be called when all work is covered that findings about one kind of work are about. */
export function hotWorkOf(context: FindingContext, scope: WorkScope): HotWork {
  const threads = [...scope.named.keys()].filter((id) => context.model.entities[id]?.kind === 'thread');
  const key = [...threads, '', ...scope.kernelWork].join(' ');
  let known = works.get(context);
  if (known === undefined) works.set(context, (known = new Map<string, HotWork>()));
  let work = known.get(key);
  if (work === undefined) known.set(key, (work = new HotWork(context, scope)));
  return work;
}
