/** Whether CPUs that this process, and so what it starts, may use share a core. */
import { readFileSync } from 'node:fs';

/** Numbers of a list as the kernel writes it, such as 0-3,8. */
export const numbersOf = (list: string): number[] =>
  list
    .trim()
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first = NaN, last = first] = part.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, k) => first + k);
    });

/** null: the kernel does not say. */
export function shareCores(read: (file: string) => string = (file) => readFileSync(file, 'utf8')): boolean | null {
  try {
    const allowed = /^Cpus_allowed_list:\s*(\S+)/m.exec(read('/proc/self/status'))?.[1];
    if (allowed === undefined) return null;
    const cpus = new Set(numbersOf(allowed));
    return [...cpus].some((cpu) => {
      const siblings = numbersOf(read(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`));
      return siblings.some((other) => other !== cpu && cpus.has(other));
    });
  } catch {
    return null;
  }
}
