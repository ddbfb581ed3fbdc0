/** Chrome's Trace Event Format (JSON object form), read by chrome://tracing, Perfetto and others. */
import type { TimeLine } from './counters.js';

const us = (ns: number): number => ns / 1000;

/** The first number for tracks of locks and of the path; the kernel uses no thread IDs this large. */
const firstOther = 2 ** 30;

export function* traceEvent({ process, counters, lives, tracks }: TimeLine): Iterable<string> {
  const pid = process.id;
  const events = [
    { name: 'process_name', ph: 'M', pid, args: { name: process.name } },
    ...counters.flatMap(({ name, unit, points }) =>
      points.map(({ atNs, value }) => ({ name, ph: 'C', pid, ts: us(atNs), args: { [unit]: value } })),
    ),
    ...lives.flatMap(({ id, name, fromNs, toNs }) => [
      { name: 'thread_name', ph: 'M', pid, tid: id, args: { name } },
      { name: 'alive', ph: 'X', pid, tid: id, ts: us(fromNs), dur: us(Math.max(0, toNs - fromNs)) },
    ]),
    ...tracks.flatMap(({ name, thread, slices }, at) => {
      const tid = thread ?? firstOther + at;
      return [
        ...(thread === null ? [{ name: 'thread_name', ph: 'M', pid, tid, args: { name } }] : []),
        ...slices.map(({ atNs, ns, name: what, category, stack }) => ({
          name: what,
          cat: category,
          ph: 'X',
          pid,
          tid,
          ts: us(atNs),
          dur: us(ns),
          args: { state: category, ...(stack === '' ? {} : { stack }) },
        })),
      ];
    }),
  ];
  yield '{"displayTimeUnit":"ms","otherData":{"exporter":"quartz"},"traceEvents":[\n';
  for (const [at, event] of events.entries()) yield `${at === 0 ? '' : ',\n'}${JSON.stringify(event)}`;
  yield '\n]}\n';
}
