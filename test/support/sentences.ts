/** Models whose findings also have their sentences, for tests that look at both. */
import {
  buildModel as build,
  compare as compareModels,
  type Finding as Facts,
  type Model as PlainModel,
  type Notice as NoticeFacts,
  type ModelOptions,
  type RawProfile,
} from '../../ts-frontend/src/model/index.js';
import { findingSentences, type Sentences } from '../../ts-frontend/src/render/findings/index.js';
import { noticeSentences, type NoticeSentences } from '../../ts-frontend/src/render/notices/index.js';

export type Finding = Facts & Sentences;
export type Notice = NoticeFacts & NoticeSentences;
export type Model = Omit<PlainModel, 'findings' | 'notices'> & { findings: Finding[]; notices: Notice[] };

export function buildModel(raw: RawProfile, options?: ModelOptions): Model {
  const model = build(raw, options);
  for (const finding of model.findings) Object.assign(finding, findingSentences(model, finding, { ascii: false }));
  for (const notice of model.notices) Object.assign(notice, noticeSentences(model, notice, { ascii: false }));
  return model as Model;
}
export const compare = compareModels as (
  before: Model,
  after: Model,
) => Omit<ReturnType<typeof compareModels>, 'findings'> & {
  findings: { before: Finding | null; after: Finding | null }[];
};
