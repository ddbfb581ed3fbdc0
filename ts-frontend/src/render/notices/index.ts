/** Converts notices to sentences. Each kind has one function; no other code edits its sentences. */
import type { Model, Notice } from '../../model/index.js';
import type { RenderOptions } from '../format/options.js';
import { phrases, type Phrases } from '../wording/phrases.js';
import { callPaths, forbidden, loss, noHooks, outside, skipped, unmeasured, unnamed } from './recording.js';
import {
  childProcesses,
  closeFindings,
  cpuWait,
  manyThreads,
  fewSnapshots,
  leftProcesses,
  relatedProcesses,
  lockChurn,
  noProcedure,
  noSnapshot,
  pace,
  nothingRan,
  nothingStandsOut,
  unexplained,
  waitingLoop,
  waitingTeams,
  waitsAgain,
} from './run.js';
import type { NoticeSentences } from './sentences.js';

function sentencesOf(notice: Notice, say: Phrases): NoticeSentences {
  switch (notice.form) {
    case 'no-snapshot':
      return noSnapshot();
    case 'few-snapshots':
      return fewSnapshots(notice, say);
    case 'close-findings':
      return closeFindings(notice, say);
    case 'cpu-wait':
      return cpuWait(notice, say);
    case 'many-threads':
      return manyThreads(notice, say);
    case 'pace':
      return pace(notice, say);
    case 'child-processes':
      return childProcesses(notice, say);
    case 'left-processes':
      return leftProcesses(notice, say);
    case 'related-processes':
      return relatedProcesses(notice);
    case 'waiting-loop':
      return waitingLoop(notice, say);
    case 'waiting-teams':
      return waitingTeams(notice, say);
    case 'lock-churn':
      return lockChurn(notice, say);
    case 'waits-again':
      return waitsAgain(notice, say);
    case 'no-procedure':
      return noProcedure(notice);
    case 'nothing-ran':
      return nothingRan(notice, say);
    case 'nothing-stands-out':
      return nothingStandsOut(notice, say);
    case 'unexplained':
      return unexplained(notice, say);
    case 'loss':
      return loss(notice);
    case 'skipped-snapshots':
      return skipped(notice);
    case 'unmeasured':
      return unmeasured(notice);
    case 'forbidden':
      return forbidden(notice);
    case 'outside':
      return outside(notice);
    case 'call-paths':
      return callPaths(notice);
    case 'no-hooks':
      return noHooks();
    case 'unnamed':
      return unnamed(notice);
  }
}

export const noticeSentences = (model: Model, notice: Notice, options: Pick<RenderOptions, 'ascii'>): NoticeSentences =>
  sentencesOf(notice, phrases(model, options));

/** The notice in one line: "statement; advice". */
export function noticeLine(model: Model, notice: Notice, options: Pick<RenderOptions, 'ascii'>): string {
  const { reason, remedy } = noticeSentences(model, notice, options);
  return remedy === '' ? reason : `${reason}; ${remedy}`;
}
