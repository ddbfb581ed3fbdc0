/** Sums. */
export const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
