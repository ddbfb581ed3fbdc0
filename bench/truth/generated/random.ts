/** Numbers that look random and follow from a seed. Pure. */
export interface Random {
  /** From 0 to below 1. */
  part: () => number;
  between: (low: number, high: number) => number;
  /** Evenly over orders of magnitude. */
  scale: (low: number, high: number) => number;
  of: <One>(choices: readonly One[]) => One;
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const part = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + (high - low) * part();
  return {
    part,
    between,
    scale: (low, high) => Math.exp(between(Math.log(low), Math.log(high))),
    of: (choices) => choices[Math.floor(part() * choices.length)]!,
  };
}
