/** The names of all export formats. Separate from their implementations, which are loaded only when used. */
export const formatNames = [
  'pprof',
  'speedscope',
  'folded',
  'callgrind',
  'firefox',
  'trace-event',
  'perfetto',
] as const;
export type FormatName = (typeof formatNames)[number];
