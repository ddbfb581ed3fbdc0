/** Least k for which a Binomial(n, p) is at most k with a probability of more than `certainty`. */
export function binomialBound(n: number, p: number, certainty: number): number {
  let term = (1 - p) ** n;
  let sum = term;
  let k = 0;
  while (sum <= certainty && k < n) {
    term *= ((n - k) / (k + 1)) * (p / (1 - p));
    sum += term;
    k++;
  }
  return k;
}
