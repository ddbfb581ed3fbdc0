/** The formats that there are. Apart from what writes them, which is loaded when it is asked for. */
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
