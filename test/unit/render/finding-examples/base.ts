/** What the examples of findings share: their model, and a finding of which hardly anything is known. */
import { buildModel, type Facts, type Finding, type Model } from '../../../../ts-frontend/src/model/index.js';
import { example } from '../example.js';

export const s = 1e9,
  ms = 1e6,
  us = 1e3;
export const model: Model = { ...buildModel(example()), notices: [] };
export const [setup, work, table, main, worker, join_] = [2, 3, 4, 5, 6, 10];
export const finding = (entity: number, facts: Facts, more: Partial<Finding> = {}): Finding => ({
  entity,
  name: model.entities[entity]!.name,
  kind: 'serial',
  change: 'optimize',
  advice: { pieces: null, threads: null },
  facts,
  costNs: 0.5 * s,
  costCi95: { lowNs: 0.4 * s, highNs: 0.6 * s },
  savingNs: 0.25 * s,
  savingCi95: { lowNs: 0.2 * s, highNs: 0.3 * s },
  processorUse: { busy: 1, spinning: 0, idle: 3 },
  bound: null,
  related: [],
  alternatives: [],
  othersMayCause: false,
  ...more,
});
export const savesNs = 0.25 * s,
  coarser = 10;
export const waiting = { entity: table, threads: 1 };
