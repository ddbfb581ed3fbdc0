/** Parallel regions of OpenMP are counted, and what they cost is in the estimated slowdown. */
import { buildModel } from '../../../ts-frontend/src/model/index.js';
import { openProfile } from '../../../ts-frontend/src/reader/profile.js';
import { needing } from '../../support/capabilities.js';
import { sampler, start, temporaryFile } from '../../support/record.js';
import { program } from './helpers.js';

const rounds = program('openmp_rounds');

needing(`file:${rounds}`)('parallel regions, and barriers in them: how many, and their cost', async (t) => {
  const file = temporaryFile('profile.quartz');
  const { status, stdout } = await start(sampler, ['record', '-q', '-o', file, '--', rounds]).ended;
  t.is(status, 0);
  const raw = openProfile(file);
  t.is(raw.cpuLimits.rounds[0], Number(stdout));
  const { regionsNs, regionsLeastNs } = buildModel(raw).slowdown;
  t.true(regionsLeastNs > 0 && regionsNs >= regionsLeastNs, `${regionsLeastNs} to ${regionsNs}`);
});
