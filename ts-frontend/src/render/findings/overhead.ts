/** Work for threads instead of in them: grain too fine. */
import { item } from '../../model/index.js';
import type {
  Finding,
  OpenMpFacts,
  PackageWorkFacts,
  ShortThreadsFacts,
  SmallThreadsFacts,
  WakeUpFacts,
} from '../../model/index.js';
import { placeOf } from '../../model/index.js';
import { count, mean } from '../format/units.js';
import { counted, type Phrases, type Sentences } from '../wording/phrases.js';

export function smallThreads(
  finding: Finding,
  { spawns, workNs, ready, savesNs }: SmallThreadsFacts,
  { title, costs, meanwhile, time }: Phrases,
): Sentences {
  const many = counted(mean(ready), 'thread');
  return {
    text:
      `The threads that ${title(finding.entity)} makes are too small to be worth handing to another processor: ${counted(count(spawns), 'thread')}, ` +
      `${time(workNs)} of work for each. It costs ${costs(finding.costNs)}; meanwhile ${many} ${many === '1 thread' ? 'was' : 'were'} ready, and ${meanwhile(finding.meanwhile)}.`,
    remedy: `Make the grain coarser: with larger pieces the idle processors could take them, which would save up to ${time(savesNs)}.`,
  };
}

export function packageWork(
  finding: Finding,
  { events, savesNs, coarser }: PackageWorkFacts,
  { model, title, costs, meanwhile, time }: Phrases,
): Sentences {
  const { kind } = item(model.entities, finding.entity);
  const was = events?.count === 1 ? 'was' : 'were';
  const happened = !events
    ? ''
    : events.what === 'threads'
      ? `; ${counted(count(events.count), 'thread')} ${was} created, for ${time(events.workNs)} of work each`
      : `; there ${was} ${events.count === 1 ? '1 switch' : `${count(events.count)} switches`} between threads, one for ${time(events.workNs)} of work`;
  const grain =
    kind === 'procedure' || kind === 'thread' || kind === 'join'
      ? 'Make the grain coarser: more work for each thread'
      : `Do more work for each use of ${title(finding.entity)}`;
  return {
    text: `Creating, scheduling and switching threads costs ${costs(finding.costNs)}, most of it for ${title(finding.entity)}${happened}. Meanwhile ${meanwhile(finding.meanwhile)}.`,
    remedy: `${grain}; ${coarser} times coarser would save ${time(savesNs)}.`,
  };
}

export function wakeUps(
  finding: Finding,
  { waits, workNs, objects, again, savesNs }: WakeUpFacts,
  { title, costs, meanwhile, time, share }: Phrases,
): Sentences {
  const back =
    again === null
      ? ''
      : ` Of these at least ${count(again.count)} of ${counted(count(again.waits), 'wait')} at ${title(again.condition)} (${share(again.count / again.waits)}) ` +
        'were of threads that had waited there, and waited again before they let its lock go: they were woken for nothing, or ran out of time.';
  return {
    text:
      `Threads wait, and are woken, very often: ${counted(count(waits), 'time')}, once for ${time(workNs)} of processor time, most often at ${objects.map(title).join(' and ')}. ` +
      `Waking takes ${costs(finding.costNs)}; meanwhile ${meanwhile(finding.meanwhile)}.${back}`,
    remedy:
      again !== null
        ? `Wake only who can go on: signal in place of broadcast, or a condition for each thing that is waited for; ten times fewer wake-ups would save ${time(savesNs)}.`
        : `Pass on more at a time (larger pieces, more room in a queue), or signal only who waits; ten times fewer wake-ups would save ${time(savesNs)}.`,
  };
}

export function shortThreads(
  finding: Finding,
  { spawns, workNs, leastNs, savesNs, coarser }: ShortThreadsFacts,
  { model, costs, time }: Phrases,
): Sentences {
  const entity = item(model.entities, finding.entity);
  const place = placeOf(entity.file, entity.line);
  return {
    text:
      `Threads are made for hardly any work: ${count(spawns)} of them, one for ${time(workNs)} of processor time, most of them ${entity.name}${place === '' ? '' : ` (${place})`}. ` +
      `To make, start and end one takes ${time(leastNs)} or more, so that costs at least ${costs(finding.costNs)}.`,
    remedy: `Make fewer, with more work for each (larger pieces, or a few threads that take one piece after the other); ${coarser} times fewer would save ${time(savesNs)} or more.`,
  };
}

export function openMp(
  finding: Finding,
  { calls, excludes, savesNs, coarser }: OpenMpFacts,
  { title, name, costs, meanwhile, time }: Phrases,
): Sentences {
  return {
    text:
      `OpenMP's library itself takes ${costs(finding.costNs)}${calls.length > 0 ? `, in ${calls.map(name).join(', ')}` : ''}, most of it for ${title(finding.entity)}: ` +
      `${excludes ? 'its locks are taken very often' : 'what is handed to threads there is too small'}. Meanwhile ${meanwhile(finding.meanwhile)}.`,
    remedy: excludes
      ? `Exclude others less often: a reduction, or sums of each thread's own that are added at its end; ${coarser} times less often would save ${time(savesNs)}.`
      : `Make the pieces larger: no tasks below some size, larger chunks of loops, one parallel region around several; ${coarser} times larger would save ${time(savesNs)}.`,
  };
}
