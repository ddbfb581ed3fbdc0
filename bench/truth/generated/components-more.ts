/** Components of generated programs: small pieces and turns, memory, waiting for time, more of OpenMP. Pure. */
import { change, handOverUs, locks, times, type Component } from './component.js';

export const pools: readonly Component[] = [
  {
    kind: 'pool',
    names: /\b(task_list|solve_task|next_tasks|solver|run_pool)\b/,
    changes: [change('64 tasks at a time', ...locks)],
    draw: ({ of, scale }, ms) => {
      const a = scale(0.1, 50);
      return { t: of([2, 2, 3, 4, 8]), n: times(ms, a / 2 + 0.2), a };
    },
  },
  {
    kind: 'tail',
    names: /\b(render_scene|scene_worker|next_scene|run_tail)\b/,
    changes: [change('the longest is first', 'imbalance', 'starvation', 'serial')],
    draw: ({ of, scale, between }, ms) => {
      const a = scale(50, 5000),
        last = ms * between(0.2, 0.6); // ms
      return { t: of([2, 2, 3, 4]), n: times(2 * (ms - last), a), a, b: 1000 * last };
    },
  },
  {
    kind: 'tokens',
    names: /\b(check_order|ship_order|ship_tokens|shipper|run_tokens)\b/,
    changes: [change('a token for each thread', ...locks, 'dependency')],
    draw: ({ of, scale }, ms) => {
      const b = scale(5, 500),
        a = b * scale(0.2, 5);
      return { t: of([2, 3, 4]), n: times(ms, Math.max(b, (a + b) / 2) + 3), a, b };
    },
  },
  {
    kind: 'turns',
    names: /\b(board|make_move|await_turn|end_turn|player|run_turns)\b/,
    changes: [change('each when it likes', 'lock-contention', 'dependency', 'serial', 'overhead')],
    draw: ({ scale }, ms) => {
      const a = scale(2, 500);
      return { n: 2 * times(ms / 2, a + handOverUs), a };
    },
  },
  {
    kind: 'spinlock',
    names: /\b(compute_cell|merge_cell|merge_locks|take_merge_lock|merger|run_spinlock)\b/,
    changes: [change('a lock for each thread', ...locks, 'sharing')],
    draw: ({ of, scale }, ms) => {
      const b = scale(0.05, 20),
        a = b * scale(0.2, 10);
      return { t: of([2, 2, 2, 4]), n: times(ms, Math.max(b, (a + b) / 2) + 0.2), a, b };
    },
  },
  {
    kind: 'atomic',
    names: /\b(count_votes|vote_counts|voter|run_atomic)\b/,
    changes: [change('a counter for each thread', 'sharing')],
    draw: ({ of }, ms) => {
      const c = of([1, 4, 8, 16, 32]);
      return { t: of([2, 2, 3, 4]), n: Math.round((1e6 * ms) / (10 + 0.75 * c)), a: 0, c };
    },
  },
];

export const memory: readonly Component[] = [
  {
    kind: 'memory',
    names: /\b(join_orders|joiner|run_memory|orders)\b/,
    changes: [change('in parts of 128 KiB', 'optimize')],
    draw: (_, ms) => ({ t: 2, n: Math.round((1e6 * ms) / 45), a: 0, c: 65536 }),
  },
  {
    kind: 'nodes',
    names: /\b(balance_tree|build_tree|forester|run_nodes)\b/,
    changes: [change('one block for each tree', 'optimize', 'lock-contention', 'overhead', 'kernel')],
    draw: ({ of, scale }, ms) => {
      const a = scale(0.5, 20),
        c = of([24, 40, 100, 400, 2000]);
      return { t: of([2, 2, 4, 8]), n: times(2 * ms, a + 2 + c / 500), a, c };
    },
  },
  {
    kind: 'stream',
    names: /\b(smooth_samples|smoother|samples|run_stream)\b/,
    changes: [change('all passes over each 64 KiB', 'optimize')],
    draw: ({ of }, ms) => {
      const c = of([32768, 65536, 131072]);
      return { t: 2, n: times(ms, c / 10), a: 0, c };
    },
  },
];

export const delays: readonly Component[] = [
  {
    kind: 'fetch',
    names: /\b(sort_letters?|fetch_letter|sorter|run_fetch)\b/,
    changes: [change('another thread fetches ahead', 'io')],
    draw: ({ scale, between }, ms) => {
      const a = scale(50, 3000),
        b = a * between(0.2, 2);
      return { n: times(ms, a + b + 60), a, b };
    },
  },
  {
    kind: 'guard',
    names: /\b(make_page|send_page|link_lock|page_sender|run_guard)\b/,
    changes: [change('a link for each thread', 'lock-contention', 'io')],
    draw: ({ of, scale, between }, ms) => {
      const a = scale(50, 2000),
        b = a * between(0.2, 2),
        t = of([2, 3, 4]);
      return { t, n: times(ms, Math.max(b + 60, a / 2, (a + b + 60) / t)), a, b };
    },
  },
  {
    kind: 'doze',
    names: /\b(wash_plate|dry_plate|washed_plates|dried_plates|await_plates|kitchen_help|run_doze)\b/,
    changes: [change('who waits is woken', 'io', 'dependency', 'starvation', 'overhead', 'pipeline')],
    draw: ({ of, scale }, ms) => {
      const a = scale(20, 500),
        b = scale(10, 1000);
      return { n: times(ms, a + 0.7 * (b + 60)), a, b, c: of([1, 1, 2, 4]) };
    },
  },
];

export const moreOfOpenmp: readonly Component[] = [
  {
    kind: 'omp-nested',
    names: /\bfold_(cell|blocks?)\b/,
    changes: [change('inner regions by one thread', 'overhead', 'oversubscription', 'spinning')],
    draw: ({ scale }, ms) => {
      const a = scale(20, 1000);
      return { t: 2, n: times(ms, a / 2 + 150), a };
    },
  },
  {
    kind: 'omp-tasks',
    names: /\bvisit_lea(f|ves)\b/,
    changes: [change('64 leaves in a task', 'overhead')],
    draw: ({ scale }, ms) => {
      const a = scale(0.1, 10);
      return { t: 2, n: times(2 * ms, a + 0.4), a };
    },
  },
];
