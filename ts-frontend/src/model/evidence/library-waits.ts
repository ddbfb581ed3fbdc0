/**
 * What threads wait for inside a library, which the sampler sees from outside alone (kind futex): told by the name of
 * what the program called there, `GOMP_barrier at solve.c:17`. Pure.
 */
import type { Entity } from '../result/types.js';

export type Inside = 'lock' | 'barrier' | 'data' | undefined;

/** The end of a parallel region is a barrier too. */
const regions = /^GOMP_parallel|^__kmpc_fork_call/;
/** Nobody goes on before all have come. */
const barriers = new RegExp(`barrier|^std::latch::|^GOMP_(loop_end|sections_end)|${regions.source}`, 'i');
const locks =
  /mutex|rw_?lock|lock_contended|lock_slow|critical|atomic_start|set_(nest_)?lock|spin_?lock|^(malloc|calloc|realloc|free|operator (new|delete))\b/i;
/** Of streams, which the C library locks for each call. */
const streams =
  /^_*(IO_)?(v?f?printf|v?f?wprintf|(f|w)?puts|f?putw?c|putw?char|f?getw?c|getw?char|fgetw?s|getline|getdelim|fread|fwrite|fflush|fseeko?|setvbuf|perror)\b/;
const data = /condvar|channel|semaphore|::(recv|send)\b|std::atomic\S*::wait|sem_wait|cond_(timed)?wait/i;

/** What C++'s library implements in its headers, where none of the program's own code is on the path. */
const placeless = /^std::(latch|barrier|counting_semaphore|atomic\S*)::/;

const known = new WeakMap<object, Inside>();

export function insideKind(entity: Pick<Entity, 'rawKind' | 'name'>): Inside {
  // it tries one: the sampler saw the exchange
  if (entity.rawKind === 'loop' && entity.name.startsWith('spin lock at ')) return 'lock';
  if (entity.rawKind !== 'futex') return undefined;
  if (known.has(entity)) return known.get(entity);
  const called = entity.name.replace(/ at \S+$/, '');
  const kind =
    called === entity.name && !placeless.test(called)
      ? undefined
      : barriers.test(called)
        ? 'barrier'
        : data.test(called)
          ? 'data'
          : locks.test(called) || streams.test(called)
            ? 'lock'
            : undefined;
  known.set(entity, kind);
  return kind;
}

/** The end of a parallel region: what its threads wait for there is a part of it. */
export const isRegionEnd = (entity: Entity): boolean =>
  isBarrier(entity) && entity.rawKind === 'futex' && regions.test(entity.name);
export const isBarrier = (entity: Entity): boolean => entity.rawKind === 'barrier' || insideKind(entity) === 'barrier';
/** Threads come there again and again, as far as can be seen: of a loop or a futex nobody counts the waits. */
export const isUncounted = ({ rawKind }: Entity): boolean => rawKind === 'futex' || rawKind === 'loop';
