/**
 * Slack: how much longer threads could have taken without delaying the threads that wait for them
 * (docs/reference/path.md). Pure.
 */
import { f64, u32 } from '../profile/columns.js';
import type { Model } from '../result/types.js';

/**
 * Threads that are waited for at one place (a sync, a join): how much shorter they are than the longest chain there.
 */
export interface Slack {
  site: number; // return address of the call; 0: places beyond the first 63
  caller: number; // entity of the procedure that waits, 0: not known
  line: number; // line of the call, in the caller's file; 0: not known
  merges: number; // number of waits
  threads: number; // number of threads waited for
  lost: number; // number of these that were not the longest
  slackNs: number; // sum over the threads that were not the longest
  meanSlackNs: number;
  leastSlackNs: number;
}

/** Most slack first. */
export function slackOf({ raw }: Model): Slack[] {
  const { sites } = raw;
  const rows = Array.from(sites.site, (site, k): Slack => {
    const lost = f64(sites.lost, k);
    return {
      site,
      caller: u32(sites.caller, k),
      line: u32(sites.line, k),
      merges: f64(sites.merges, k),
      threads: f64(sites.merged, k),
      lost,
      slackNs: f64(sites.slackNs, k),
      meanSlackNs: lost > 0 ? f64(sites.slackNs, k) / lost : 0,
      leastSlackNs: f64(sites.leastSlackNs, k),
    };
  });
  return rows.filter(({ merges }) => merges > 0).sort((a, b) => b.slackNs - a.slackNs || a.site - b.site);
}
