/** What limits a job, in words. Pure functions. */
import { placeOf } from '../../model/index.js';
import type { RenderOptions } from '../../render/format/options.js';
import { clean } from '../../render/format/text.js';
import { count, figure, mean, percent, time } from '../../render/format/units.js';
import type { Overlap } from './overlap.js';
import type { Extra, JobFinding, LateRanks, Place, WaitingCall } from './types.js';

export interface Sentences {
  text: string;
  remedy: string;
}

/** What is printed about the job as a whole. */
export interface Job {
  jobNs: number;
  count: number;
}

interface Say {
  time: (ns: number) => string;
  ofJob: (ns: number) => string; // "1.31 s of 7.24 s (18.1 %)"
  share: (ns: number) => string; // "18.1 %"
  name: (place: Place) => string; // "relax (a.c:31)", "MPI_Allreduce at a.c:40"
  text: (text: string) => string;
}

function sayOf({ jobNs }: Job, options: Pick<RenderOptions, 'ascii'>): Say {
  const text = (of: string): string => clean(of, options);
  return {
    time: (ns) => time(ns, options),
    ofJob: (ns) => `${time(ns, options)} of ${time(jobNs, options)} (${percent(ns, jobNs)})`,
    share: (ns) => percent(ns, jobNs),
    name: ({ name, file, line }) => {
      const place = placeOf(file, line);
      // Calls of libraries, such as "MPI_Allreduce at a.c:40", and objects without a name are named after their place.
      return text(file === '' || name.endsWith(` at ${place}`) ? name : `${name} (${place})`);
    },
    text,
  };
}

/** "in A for 1.2 s, in B for 300 ms, in 2 other calls"; for one call without its time. */
function inCalls(calls: readonly { call: Place; ns: number }[], further: number, say: Say): string {
  const [first] = calls;
  if (calls.length === 1 && further === 0 && first !== undefined) return `in ${say.name(first.call)}`;
  const named = calls.map(({ call, ns }) => `in ${say.name(call)} for ${say.time(ns)}`);
  return [...named, ...(further > 0 ? [`in ${count(further)} other ${further === 1 ? 'call' : 'calls'}`] : [])].join(
    ', ',
  );
}

/** "rank 3", "ranks 0, 2 and 5", "ranks 0, 2, 5, 7 and 12 more" */
function ranksText({ ranks, members, host }: LateRanks, say: Say): string {
  if (host !== null) return `the ${count(members.length)} ranks on ${say.text(host)}`;
  const all = ranks.map(String);
  if (members.length === 1) return `rank ${all[0] ?? ''}`;
  if (members.length > ranks.length) return `ranks ${all.join(', ')} and ${count(members.length - ranks.length)} more`;
  return `ranks ${all.slice(0, -1).join(', ')} and ${all.at(-1) ?? ''}`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const others = (many: boolean): string => (many ? 'the others' : 'the other one');

/** What late ranks do more of. `it`: "it" or "they"; `one`: whether it is a single rank. */
function extraText(extra: Extra, one: boolean, many: boolean, say: Say): string {
  const it = one ? 'It' : 'They';
  const s = one ? 's' : '';
  const whom = others(many);
  const compared = (ns: number, othersNs: number): string => `${say.time(ns)}; ${whom}: ${say.time(othersNs)}`;
  switch (extra.form) {
    case 'work': {
      const where = extra.place === null ? '' : `, in ${say.name(extra.place)}`;
      const numbers = extra.place ?? extra;
      const all =
        extra.factor === null
          ? ''
          : ` All procedures take about ${figure(extra.factor)} times as long there: the CPUs are slower, or there ` +
            'is more of everything to do.';
      const both = compared(numbers.ns, numbers.othersNs);
      return ` ${it} work${s} ${say.time(extra.longerNs)} longer${where} (${both}).${all}`;
    }
    case 'alone':
      return ` Only ${one ? 'this rank runs' : 'these ranks run'} ${say.name(extra.place)}, for ${say.time(extra.ns)}.`;
    case 'cpus':
      return ` ${it} wait${s} for CPUs for longer (${compared(extra.ns, extra.othersNs)}).`;
    case 'waits': {
      const at = extra.place === null ? 'something other than ranks' : say.name(extra.place);
      const numbers = extra.place ?? extra;
      return ` ${it} wait${s} longer for ${at} (${compared(numbers.ns, numbers.othersNs)}).`;
    }
    case 'unknown':
      return ` Samples do not show what ${one ? 'it does' : 'they do'} more of.`;
  }
}

/** Where the late rank comes late to, for messages. */
function messageText({ pattern, until }: WaitingCall, say: Say): string {
  if (until === null) return '';
  return pattern === 'late sender'
    ? `, for what is sent in ${say.name(until)}`
    : pattern === 'late receiver'
      ? `, for what is received in ${say.name(until)}`
      : '';
}

function lateText(finding: LateRanks, job: Job, say: Say): Sentences {
  const { costNs, savingNs, members, waiting, calls, further, indirectNs, sampled, extra } = finding;
  const one = members.length === 1;
  const many = waiting > 1;
  const [first] = calls;
  const message = first !== undefined && first.ns > 0.5 * costNs ? messageText(first, say) : '';
  const indirect =
    indirectNs >= 0.1 * costNs
      ? `, ${say.time(indirectNs)} of it for ranks that themselves wait for ${one ? 'it' : 'them'}`
      : '';
  const text =
    `${capital(ranksText(finding, say))} ${one ? 'is' : 'are'} late: ${others(many)} wait${many ? '' : 's'} for ` +
    `${one ? 'it' : 'them'} ${sampled ? 'at least ' : ''}${many ? 'on average ' : ''}${say.ofJob(costNs)}, ` +
    `${inCalls(calls, further, say)}${message}${indirect}.${extraText(extra, one, many, say)}`;
  return { text, remedy: `${adviceFor(extra, one, job)}: that ${savesText(savingNs, say)}.` };
}

const savesText = (savingNs: number | null, say: Say): string =>
  `saves up to ${say.time(savingNs ?? 0)} (${say.share(savingNs ?? 0)})`;

function adviceFor({ form }: Extra, one: boolean, job: Job): string {
  switch (form) {
    case 'alone':
      return `Divide that over the ${count(job.count)} ranks, or do it while others have work`;
    case 'cpus': {
      const whose = one ? 'Give it CPUs of its own' : 'Give them CPUs of their own';
      return `${whose} (binding, fewer ranks there, no other programs)`;
    }
    case 'waits':
      return 'Divide that over the ranks (parallel input and output), or do it while others have work';
    case 'work':
    case 'unknown':
      return 'Divide the work evenly, by the time that it takes';
  }
}

/** "Findings 1 and 2 may overlap: ..." */
export function overlapSentence(overlap: Overlap, options: Pick<RenderOptions, 'ascii'>): string {
  const { numbers } = overlap;
  const which = `Findings ${numbers.slice(0, -1).join(', ')} and ${numbers.at(-1) ?? ''}`;
  return overlap.form === 'cpus'
    ? `${which} may overlap: a rank that waits for CPUs comes late, too.`
    : `${which} overlap, as threads of a rank wait at the same time: together they are about ` +
        `${time(overlap.savingNs, options)}, but a rank waits ${time(overlap.waitingNs, options)} in MPI on average.`;
}

export function jobSentences(job: Job, finding: JobFinding, options: Pick<RenderOptions, 'ascii'>): Sentences {
  const say = sayOf(job, options);
  switch (finding.kind) {
    case 'late-ranks':
      return lateText(finding, job, say);
    case 'varying': {
      const where = inCalls(finding.calls, finding.further, say);
      const working = `On average ${mean(finding.atWork)} of ${count(job.count)} ranks are at work.`;
      const saves = `at most ${say.time(finding.costNs)} (${say.share(finding.costNs)})`;
      return finding.messages
        ? {
            text:
              `Ranks wait in turn for each other's messages: each waits on average ${say.ofJob(finding.costNs)}, ` +
              `${where}. ${working}`,
            remedy:
              'Send earlier and in smaller parts, so that the next rank can begin, or give ranks other work until ' +
              `the message is there: that saves ${saves}.`,
          }
        : {
            text:
              `Different ranks are late at different times: each waits on average ${say.ofJob(finding.costNs)}, ` +
              `${where}. ${working}`,
            remedy:
              'Meet less often, so that differences cancel out, divide each part of the work evenly, or do other ' +
              `work while waiting (MPI_Iallreduce, then MPI_Wait): that saves ${saves}.`,
          };
    }
    case 'communication':
      return {
        text:
          `Ranks are in calls of MPI on average ${say.ofJob(finding.costNs)}, ` +
          (finding.sampled
            ? 'at least as long as the rank that is there most briefly: '
            : 'though no rank is late there: ') +
          `${inCalls(finding.calls, finding.further, say)}.`,
        remedy:
          'That is the messages themselves: send less, in fewer and larger messages, or work meanwhile (nonblocking ' +
          `calls): that saves at most ${say.time(finding.costNs)}.`,
      };
    case 'cpus':
      return {
        text:
          `Rank ${finding.rank}, which waits least for others, waits for a CPU for ${say.ofJob(finding.costNs)} ` +
          `(all ranks on average: ${say.time(finding.meanNs)}). ` +
          `${count(finding.ranksOnHost)} ${finding.ranksOnHost === 1 ? 'rank is' : 'ranks are'} on ` +
          `${say.text(finding.host)}; this one may use ${count(finding.cpus)} ` +
          `${finding.cpus === 1 ? 'CPU' : 'CPUs'} there.`,
        remedy:
          'Run fewer ranks or threads there, bind them to CPUs of their own, or keep other programs away: that saves ' +
          `at most ${say.time(finding.savingNs ?? 0)}.`,
      };
    case 'start-and-end':
      return {
        text: `Starting and ending the job takes ${say.ofJob(finding.costNs)}: ${inCalls(finding.calls, 0, say)}.`,
        remedy: 'That takes the same time however much there is to do: let each run do more.',
      };
    case 'last-rank':
      return {
        text:
          `Rank ${finding.rank} ends last, after ${say.time(finding.endNs)}, ${say.ofJob(finding.costNs)} later than ` +
          `the others on average.${extraText(finding.extra, true, job.count > 2, say)}`,
        remedy: `Divide the work evenly, by the time that it takes: that ${savesText(finding.savingNs, say)}.`,
      };
    case 'balanced':
      return {
        text: `The ranks are balanced: on average they wait ${say.ofJob(finding.costNs)} for ranks that are late.`,
        remedy: 'What each rank does takes its time: see the next lines.',
      };
    case 'within-rank':
      return {
        text: `Within rank ${finding.rank}: ${finding.says}`,
        remedy: `quartz report ${say.text(finding.file)} says more.`,
      };
    case 'code': {
      const places = finding.places.map(
        ({ place, ns, coreShare }) =>
          `${say.name(place)} itself ${percent(coreShare, 1)} (${say.time(ns)} of a rank on average)`,
      );
      return {
        text: `Code by core time of the job: ${places.join(', ')}.`,
        remedy: `Make it faster: every 10 % less in the first saves at most ${say.time(finding.costNs / 10)}.`,
      };
    }
  }
}
