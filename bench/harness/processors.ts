/**
 * The numbers of processors that the benchmarks use: derived from the number of CPUs. Tests may claim another number of
 * CPUs, for the choice alone.
 */
import { machine } from './machine.js';

/** The number of CPUs that sizes are derived from: QUARTZ_BENCH_CPUS, or that of the machine. */
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

/** "4 processors", with the number of CPUs if there are fewer. */
export function processorsText(count: number): string {
  const { cpus } = machine();
  return `${count} processor${count > 1 ? 's' : ''}${count > cpus ? ` on ${cpus} CPU${cpus > 1 ? 's' : ''}` : ''}`;
}
