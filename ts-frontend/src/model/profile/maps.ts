/** Adds `value` to the sum of that key. */
export function addTo<Key>(map: Map<Key, number>, key: Key, value: number): void {
  map.set(key, (map.get(key) ?? 0) + value);
}

export const total = (of: ReadonlyMap<number, number>): number => [...of.values()].reduce((sum, ns) => sum + ns, 0);
