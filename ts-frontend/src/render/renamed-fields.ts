/** Fields that the JSON also contains under the names of quartz-report-2, until the next version of the schema. */
import type { Experiment, Facts, Model } from '../model/index.js';

export function factFields(facts: Facts): object {
  if (facts.form === 'serial') return { ...facts, turns: facts.oneAtATime };
  if (facts.form === 'wake-ups') return { ...facts, savesNs: facts.leastNs };
  if (facts.form === 'openmp') return { ...facts, excludes: facts.use === 'exclusion' };
  if (facts.form === 'optimize') return { ...facts, savesNs: facts.mostNs };
  return facts.form === 'oversubscription' ? { ...facts, crowdedNs: facts.oversubscribedNs } : facts;
}

export const slowdownFields = (slowdown: Model['slowdown']): object => ({ ...slowdown, turnsNs: slowdown.timerNs });

export const experimentFields = (experiment: Experiment): object =>
  experiment.recording
    ? { ...experiment, recording: { ...experiment.recording, told: experiment.recording.estimated } }
    : experiment;
