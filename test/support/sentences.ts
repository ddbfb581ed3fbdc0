/** Models whose findings also have their sentences, for tests that look at both. */
import {
  buildModel as build,
  compare as compareModels,
  type Finding as Facts,
  type Model as PlainModel,
  type ModelOptions,
  type RawProfile,
} from '../../ts-frontend/src/model/index.js';
import { findingSentences, type Sentences } from '../../ts-frontend/src/render/findings/index.js';

export type Finding = Facts & Sentences;
export type Model = Omit<PlainModel, 'findings'> & { findings: Finding[] };

export function buildModel(raw: RawProfile, options?: ModelOptions): Model {
  const model = build(raw, options);
  for (const finding of model.findings) Object.assign(finding, findingSentences(model, finding, { ascii: false }));
  return model as Model;
}
export const compare = compareModels as (
  before: Model,
  after: Model,
) => Omit<ReturnType<typeof compareModels>, 'findings'> & {
  findings: { before: Finding | null; after: Finding | null }[];
};
