/**
 * Programs of random loops with counted work, in four languages. Each step depends on the one before and takes as long
 * as any other, so a loop's share of the time is its share of the steps. Pure functions of a seed.
 */

export type Language = 'c' | 'c++' | 'fortran' | 'rust';

export interface CountedLoop {
  /** Lines of the source from its head to its end. */
  first: number;
  last: number;
  /** Index of the loop around it in the same procedure; -1: none. */
  outer: number;
  /** Its part of all steps of the program, in it and in what it calls. */
  part: number;
}
export interface LoopProgram {
  text: string;
  loops: CountedLoop[];
}

interface Loop {
  index: number;
  times: number;
  form: number; // which statement it is made with
  body: Part[];
}
type Part = { kind: 'loop'; loop: Loop } | { kind: 'call'; procedure: number };

/** Numbers from 0 to below `count`, the same for one seed (Numerical Recipes' generator). */
function draws(seed: number): (count: number) => number {
  let state = (seed * 2654435761) >>> 0;
  return (count) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
}

const procedureCount = 4;
const depthMost = 3;
/** The maximum number of loops of a program. */
const loopsMost = 60;
/** Steps of a loop that has no other loop in it, in each of its runs. */
const innerLeast = 300;

/** A procedure is one to two loops one after another; those within may call procedures that come before it. */
function procedures(draw: (count: number) => number): { procedures: Part[][]; loops: Loop[] } {
  const loops: Loop[] = [];
  const part = (depth: number, procedure: number): Part => {
    if (depth > 1 && procedure > 0 && draw(4) === 0) return { kind: 'call', procedure: draw(procedure) };
    const loop: Loop = { index: loops.length, times: 0, form: draw(3), body: [] };
    loops.push(loop);
    const inner = depth < depthMost && draw(3) > 0 ? 1 + draw(2) : 0;
    loop.times = inner === 0 ? innerLeast * (1 + draw(8)) : 2 + draw(4);
    for (let k = 0; k < inner; k++) loop.body.push(part(depth + 1, procedure));
    return { kind: 'loop', loop };
  };
  const all = Array.from({ length: procedureCount }, (_, procedure) =>
    Array.from({ length: 1 + draw(2) }, () => part(1, procedure)),
  );
  return { procedures: all, loops };
}

/** Steps of one run of these parts; adds them to `steps` of each loop around, `runs` times. */
function count(parts: readonly Part[], all: readonly Part[][], runs: number, steps: number[]): number {
  let sum = 0;
  for (const part of parts) {
    if (part.kind === 'call') {
      sum += count(all[part.procedure] ?? [], all, runs, steps);
      continue;
    }
    const { index, times, body } = part.loop;
    const its = body.length === 0 ? times * runs : count(body, all, runs * times, steps);
    steps[index] = (steps[index] ?? 0) + its;
    sum += its;
  }
  return sum;
}

class Writer {
  readonly lines: string[] = [];
  readonly spans: { first: number; last: number; outer: number }[] = [];
  #outer = -1;
  constructor(private readonly language: Writing) {}

  add(depth: number, text: string): void {
    for (const line of text.split('\n')) this.lines.push('  '.repeat(depth) + line);
  }
  parts(parts: readonly Part[], depth: number): void {
    for (const part of parts)
      if (part.kind === 'call') this.add(depth, this.language.call(part.procedure));
      else this.loop(part.loop, depth);
  }
  private loop({ index, form, body }: Loop, depth: number): void {
    const [head, end] = this.language.forms[form % this.language.forms.length]?.(index) ?? ['', ''];
    const outer = this.#outer;
    const first = this.lines.length + 1;
    this.add(depth, head);
    this.#outer = index;
    if (body.length === 0) this.add(depth + 1, this.language.step);
    else this.parts(body, depth + 1);
    this.#outer = outer;
    this.add(depth, end);
    this.spans[index] = { first, last: this.lines.length, outer };
  }
}

/** How a language writes a program; `times` are read where nothing knows them when the program is compiled. */
interface Writing {
  begin: (times: readonly number[], turns: number) => string;
  procedure: (index: number, inlined: boolean) => string;
  /** Head and end of a loop that runs times[index] times. */
  forms: ((index: number) => [string, string])[];
  step: string;
  call: (procedure: number) => string;
  returns: string;
  end: (procedure: number) => string;
}

const cForms: Writing['forms'] = [
  (k) => [`for (long i${k} = 0, n${k} = times[${k}]; i${k} < n${k}; i${k}++) {`, '}'],
  (k) => [`long n${k} = times[${k}];\nwhile (n${k}-- > 0) {`, '}'],
  (k) => [`long n${k} = times[${k}];\ndo {`, `} while (--n${k} > 0);`],
];
const factor = '6364136223846793005';
const c: Writing = {
  begin: (times, turns) => `typedef unsigned long word;
static volatile long times[] = {${times.join(', ')}};
static volatile long turns = ${turns};
static inline __attribute__((always_inline)) word step(word v) {
  v = v * ${factor}u + 1442695040888963407u;
  __asm__ volatile("" : "+r"(v));
  return v;
}`,
  procedure: (k, inlined) =>
    inlined
      ? `static inline __attribute__((always_inline)) word p${k}(word v) {`
      : `__attribute__((noinline)) static word p${k}(word v) {`,
  forms: cForms,
  step: 'v = step(v);',
  call: (k) => `v = p${k}(v);`,
  returns: 'return v;\n}',
  end: (k) => `int main(void) {
  word v = 1;
  for (long t = 0; t < turns; t++) v = p${k}(v);
  return v == 0;
}`,
};
const cxx: Writing = {
  ...c,
  begin: (times, turns) => `${c.begin(times, turns)}
struct range {
  long count;
  struct at {
    long k;
    bool operator!=(at o) const { return k != o.k; }
    void operator++() { ++k; }
    long operator*() const { return k; }
  };
  at begin() const { return {0}; }
  at end() const { return {count}; }
};`,
  forms: [...cForms, (k) => [`for (long i${k} : range{times[${k}]}) {\n  (void)i${k};`, '}']],
  end: (k) => c.end(k).replace('main(void)', 'main()'),
};
const fortran: Writing = {
  begin: (times, turns) => `module counted
  use iso_c_binding
  implicit none
  integer(8), volatile :: times(0:${times.length - 1}) = (/ ${times.map((n) => `${n}_8`).join(', &\n    ')} /)
  integer(8), volatile :: turns = ${turns}_8
contains`,
  procedure: (k) => `subroutine p${k}(v)
  integer(8), intent(inout) :: v
  integer(8) :: ${Array.from({ length: loopsMost }, (_, j) => `i${j}`).join(', &\n    ')}`,
  forms: [
    (k) => [`do i${k} = 1, times(${k})`, 'end do'],
    (k) => [`i${k} = times(${k})\ndo while (i${k} > 0)\n  i${k} = i${k} - 1`, 'end do'],
    (k) => [`i${k} = times(${k})\ndo`, `  i${k} = i${k} - 1\n  if (i${k} <= 0) exit\nend do`],
  ],
  step: `v = ieor(v, ishft(v, -29)) * ${factor}_8`,
  call: (k) => `call p${k}(v)`,
  returns: 'end subroutine',
  end: (k) => `end module
program main
  use counted
  implicit none
  integer(8) :: v = 1, t
  do t = 1, turns
    call p${k}(v)
  end do
  if (v == 0) stop 1
end program`,
};
const rust: Writing = {
  begin: (times, turns) => `use std::hint::black_box;
static TIMES: [u64; ${times.length}] = [${times.join(', ')}];
#[inline(always)]
fn times(k: usize) -> u64 { black_box(TIMES[k]) }
#[inline(always)]
fn step(v: u64) -> u64 { (v ^ (v >> 29)).wrapping_mul(${factor}) }
const TURNS: u64 = ${turns};`,
  procedure: (k, inlined) => `#[inline(${inlined ? 'always' : 'never'})]\nfn p${k}(mut v: u64) -> u64 {`,
  forms: [
    (k) => [`for _ in 0..times(${k}) {`, '}'],
    (k) => [`let mut n${k} = times(${k});\nwhile n${k} > 0 {\n  n${k} -= 1;`, '}'],
    (k) => [`let mut n${k} = times(${k});\nloop {`, `  n${k} -= 1;\n  if n${k} == 0 { break; }\n}`],
  ],
  step: 'v = step(v);',
  call: (k) => `v = p${k}(v);`,
  returns: 'v\n}',
  end: (k) => `fn main() {
  let mut v = black_box(1u64);
  for _ in 0..black_box(TURNS) { v = p${k}(v); }
  if v == 0 { std::process::exit(1); }
}`,
};
const writings: Record<Language, Writing> = { c, 'c++': cxx, fortran, rust };

/** `steps`: about as many are done in all. */
export function loopProgram(seed: number, language: Language, steps: number): LoopProgram {
  const draw = draws(seed);
  const { procedures: all, loops } = procedures(draw);
  // The last procedure calls all others, so that each is run.
  const last = all.length;
  all.push(Array.from({ length: last }, (_, procedure) => ({ kind: 'call', procedure }) as const));
  const counts: number[] = [];
  const sum = count(all[last] ?? [], all, 1, counts);
  const writing = writings[language];
  const writer = new Writer(writing);
  writer.add(
    0,
    writing.begin(
      loops.map(({ times }) => times),
      Math.max(1, Math.round(steps / sum)),
    ),
  );
  all.forEach((parts, procedure) => {
    writer.add(0, writing.procedure(procedure, procedure < last && draw(3) === 0));
    writer.parts(parts, 1);
    writer.add(0, writing.returns);
  });
  writer.add(0, writing.end(last));
  return {
    text: `${writer.lines.join('\n')}\n`,
    loops: loops.map(({ index }) => {
      const { first, last: end, outer } = writer.spans[index] ?? { first: 0, last: 0, outer: -1 };
      return { first, last: end, outer, part: (counts[index] ?? 0) / sum };
    }),
  };
}
