/**
 * The components that generated programs consist of (their code: programs/): what is drawn of each, which changes it
 * has, and which findings name it. Pure.
 */
import { change, handOverUs, locks, spread, times, type Component } from './component.js';
import { delays, memory, moreOfOpenmp, pools } from './components-more.js';

const loops: readonly Component[] = [
  {
    kind: 'serial',
    names: /\b(parse_record|load_catalog|load_part|run_serial)\b/,
    changes: [spread('spread over two threads', 'serial', 'starvation')],
    draw: ({ scale }, ms) => {
      const a = scale(20, 2000);
      return { n: times(ms, a), a };
    },
  },
  {
    kind: 'even',
    names: /\b(hash_block|hash_part|run_even)\b/,
    changes: [change('half of the work', 'optimize')],
    draw: ({ of, scale }, ms) => {
      const a = scale(20, 2000);
      return { t: of([2, 2, 4, 8]), n: times(2 * ms, a), a };
    },
  },
  {
    kind: 'uneven',
    names: /\b(shade_row|shade_part|run_uneven)\b/,
    changes: [change('a row in turn', 'imbalance', 'starvation')],
    draw: ({ of, scale }, ms) => {
      const a = scale(20, 1000);
      return { t: of([2, 2, 3, 4]), n: times(1.4 * ms, a), a };
    },
  },
  {
    kind: 'barrier',
    names: /\b(relax_cells|relax_part|run_barrier|round_barrier)\b/,
    changes: [
      change('rounds are divided evenly', 'imbalance', 'dependency'),
      { fix: 2, what: 'sixteen times fewer rounds', kinds: ['overhead', 'imbalance', 'dependency'] },
    ],
    draw: ({ of, scale, between, part }, ms) => {
      const isFine = part() < 0.5;
      const a = isFine ? scale(2, 20) : scale(100, 1000);
      const b = isFine ? 0.2 * a : a * between(0.3, 2);
      const t = of([2, 2, 3, 4]);
      return { t, n: times(ms, (t / 2) * a + b + handOverUs), a, b };
    },
  },
  {
    kind: 'jitter',
    names: /\b(grow_field|grow_part|run_jitter|season_barrier)\b/,
    changes: [change('sixteen times fewer rounds', 'imbalance', 'overhead', 'dependency')],
    draw: ({ of, scale }, ms) => {
      const a = scale(20, 2000),
        t = of([2, 2, 3, 4]);
      return { t, n: 16 * times(ms / 16, (t / 2) * a * 1.4 + handOverUs), a };
    },
  },
  {
    kind: 'spinbarrier',
    names: /\b(sweep_grid|await_sweep|sweep_part|run_spinbarrier|sweep_round|sweep_come)\b/,
    changes: [change('two threads', 'oversubscription', 'spinning')],
    draw: ({ of, scale }, ms) => {
      const t = of([3, 4, 6]),
        a = scale(20, 500);
      return { t, n: Math.max(10, Math.round(ms / (1.5 * (t - 2) + (a * t) / 2000))), a };
    },
  },
  {
    kind: 'threads',
    names: /\b(answer_request|one_request|serve_requests|half_of_requests|run_threads)\b/,
    changes: [change('two threads for all requests', 'overhead')],
    draw: ({ scale }, ms) => {
      const a = scale(10, 300);
      return { n: 2 * times(ms / 2, a + 60), a };
    },
  },
];

const exclusion: readonly Component[] = [
  {
    kind: 'lock',
    names: /\b(ledger_lock|price_entry|book_entry|post_entry|clerk|run_lock)\b/,
    changes: [change('a lock for each thread', ...locks)],
    draw: ({ of, scale }, ms) => {
      const b = scale(0.05, 200),
        a = b * scale(0.2, 10);
      return { t: of([2, 3, 4, 8]), n: times(ms, Math.max(b, (a + b) / 2) + (b < 10 ? 1.5 : 0)), a, b };
    },
  },
  {
    kind: 'rwlock',
    names: /\b(index_lock|rank_match|find_match|insert_match|search_index|searcher|run_rwlock)\b/,
    changes: [change('an index for each thread', ...locks)],
    draw: ({ of, scale }, ms) => {
      const b = scale(0.05, 20),
        a = b * scale(0.2, 10);
      return { t: of([2, 3, 4, 8]), n: times(ms, (a + b) / 2 + 0.5), a, b, c: of([2, 10, 100, 1000]) };
    },
  },
  {
    kind: 'share',
    names: /\b(count_words|word_counts|counter|run_share)\b/,
    changes: [change('counters in lines of their own', 'sharing')],
    draw: ({ of }, ms) => {
      const c = of([1, 2, 4, 8, 16]);
      return { t: of([2, 2, 3, 4]), n: Math.round((1e6 * ms) / (2 + 1.5 * c)), a: 0, c };
    },
  },
];

const waits: readonly Component[] = [
  {
    kind: 'queue',
    names: /\b(frames|decode_frame|encode_frame|put_frames|take_frames|decoder|encoder|run_queue)\b/,
    changes: [
      change('passed on 64 at a time', 'overhead', 'dependency', 'starvation'),
      { fix: 2, what: 'stages take as long as each other', kinds: ['pipeline', 'serial', 'imbalance'] },
    ],
    draw: ({ of, scale }, ms) => {
      const a = scale(1, 300),
        b = a * scale(0.3, 3);
      return { n: 64 * times(ms / 64, Math.max(a, b) + (a < 30 ? handOverUs : 0)), a, b, c: of([1, 2, 8, 64]) };
    },
  },
  {
    kind: 'stages',
    names: /\b(cut_parts?|milled_parts|mill_part|pack_part|put_part|take_part|part_worker|cut_or_pack|run_stages)\b/,
    changes: [
      change('passed on 64 at a time', 'overhead', 'dependency', 'starvation'),
      { fix: 2, what: 'two threads mill', kinds: ['pipeline', 'serial', 'imbalance', 'starvation'] },
    ],
    draw: ({ of, scale, between }, ms) => {
      const b = scale(2, 500),
        a = b * between(0.3, 0.8);
      return { n: 128 * times(ms / 128, b + (b < 30 ? handOverUs : 0)), a, b, c: of([1, 4, 16, 64]) };
    },
  },
  {
    kind: 'herd',
    names: /\b(jobs|make_job|do_job|post_job|next_job|jobber|run_herd)\b/,
    changes: [change('one thread is woken', 'overhead', 'lock-contention', 'dependency')],
    draw: ({ of, scale, between }, ms) => {
      const t = of([2, 3, 5, 7]),
        b = scale(5, 200),
        a = b * between(0.3, 1.5);
      return { t, n: times(ms, Math.max(b, (a + b) / 2) + 2 * t), a, b };
    },
  },
  {
    kind: 'poll',
    names: /\b(tiles_filled|tiles_ready|fill_tile|await_tiles|filler|run_poll)\b/,
    changes: [change('the third thread sleeps', 'spinning', 'oversubscription')],
    draw: ({ scale }, ms) => {
      const a = scale(20, 1000);
      return { n: times(1.4 * ms, a), a, c: Math.round(scale(2, 100)) };
    },
  },
];

const systems: readonly Component[] = [
  {
    kind: 'sleep',
    names: /\b(take_reading|watch_sensor|watcher|run_sleep)\b/,
    changes: [change('no sleep', 'io')],
    draw: ({ of, scale }, ms) => {
      const t = of([1, 1, 2, 4]),
        a = scale(20, 3000),
        b = scale(50, 3000);
      return { t, n: times(ms, Math.max((a + b + 60) / t, a / Math.min(2, t))), a, b };
    },
  },
  {
    kind: 'calls',
    names: /\b(check_bytes|copy_log|copier|run_calls|memory_file)\b/,
    changes: [change('64 KiB at a time', 'kernel')],
    draw: ({ of, between }, ms) => {
      const t = of([2, 2, 4]),
        c = of([1, 8, 16, 64, 256, 1024, 4096]),
        a = between(0.2, 3);
      return { t, n: c * times(2 * ms, (a * c) / 1000 + 1), a, c };
    },
  },
  {
    kind: 'pipe',
    names: /\b(build_message|read_message|correspondent|pass|send_bytes|receive_bytes|run_pipe)\b/,
    changes: [change('64 messages at a time', 'overhead', 'kernel', 'io', 'dependency')],
    draw: ({ of, scale }, ms) => {
      const a = scale(0.5, 50),
        b = scale(0.5, 50);
      return { n: 64 * times(ms / 64, a + b + 12), a, b, c: of([1, 64, 512]) };
    },
  },
  {
    kind: 'churn',
    names: /\b(draw_page|render_pages|renderer|run_churn)\b/,
    changes: [change('one page for each thread', 'kernel')],
    draw: ({ of, scale }, ms) => {
      const c = of([160, 512, 2048, 8192]),
        a = 0.1 * c * scale(0.3, 10);
      return { t: 2, n: times(2 * ms, a + 0.12 * c), a, c };
    },
  },
];

const ofOpenmp: readonly Component[] = [
  {
    kind: 'omp-uneven',
    names: /\btrace_rows?\b/,
    changes: [change('a row in turn', 'imbalance', 'starvation')],
    draw: ({ scale }, ms) => {
      const a = scale(20, 1000);
      return { t: 2, n: times(1.4 * ms, a), a };
    },
  },
  {
    kind: 'omp-fine',
    names: /\bage_cells?\b/,
    changes: [change('divided in advance', 'overhead')],
    draw: ({ scale }, ms) => {
      const a = scale(0.01, 2);
      return { t: 2, n: times(2 * ms, a + 0.1), a };
    },
  },
  {
    kind: 'omp-regions',
    names: /\bstep_bod(y|ies)\b/,
    changes: [change('each region by one thread', 'overhead')],
    draw: ({ scale }, ms) => {
      const a = scale(0.5, 20);
      return { t: 2, n: times(ms, a / 2 + 4), a };
    },
  },
  {
    kind: 'omp-critical',
    names: /\b(draw_samples?|add_sample)\b/,
    changes: [change('no critical section', ...locks)],
    draw: ({ of, scale }, ms) => {
      const b = scale(0.1, 50),
        a = b * scale(0.2, 10);
      return { t: of([2, 2, 4]), n: times(ms, Math.max(b, (a + b) / 2) + 1), a, b };
    },
  },
  {
    kind: 'omp-serial',
    names: /\b(move_particles?|sort_particles?)\b/,
    changes: [spread('by all threads', 'serial', 'starvation')],
    draw: ({ scale }, ms) => {
      const a = scale(50, 3000),
        b = a * scale(0.1, 3);
      return { t: 2, n: times(ms, a / 2 + b), a, b };
    },
  },
];
const openmp: readonly Component[] = [...ofOpenmp, ...moreOfOpenmp].map((one) => ({ ...one, openmp: true }));

export const components: readonly Component[] = [
  ...loops,
  ...exclusion,
  ...waits,
  ...systems,
  ...pools,
  ...memory,
  ...delays,
  ...openmp,
];
