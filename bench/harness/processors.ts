/**
 * How many processors the benchmarks try: from the CPUs that there are. Tests may say that there are others, for the
 * choice alone.
 */
import { machine } from './machine.js';

/** CPUs that sizes are chosen by: QUARTZ_BENCH_CPUS, or those of the machine. */
export const cpusToUse = (): number => {
  const asked = Number(process.env['QUARTZ_BENCH_CPUS']);
  return Number.isInteger(asked) && asked >= 1 && asked <= 1024 ? asked : machine().cpus;
};

/** 1, 2, 4, ... up to `cpus`, that included. */
export function doublings(cpus: number): number[] {
  const counts: number[] = [];
  for (let count = 1; count < cpus; count *= 2) counts.push(count);
  return [...counts, cpus];
}

/** "4 processors", with how many CPUs there are where they are fewer. */
export function processorsText(count: number): string {
  const { cpus } = machine();
  return `${count} processor${count > 1 ? 's' : ''}${count > cpus ? ` on ${cpus} CPU${cpus > 1 ? 's' : ''}` : ''}`;
}
