/** Loads the model of a profile that the user named, or of the most recent one; explains why one cannot be read. */
import { statSync } from 'node:fs';
import { buildModel, type Model, type ProfileFault } from '../model/index.js';
import { faultOf, isProfileError, openProfile } from '../reader/profile.js';
import { isSetName } from '../sets/set-file.js';
import { Failure } from './failure.js';
import { missing, newestProfile } from './files.js';

/** What the user can do about a file that cannot be read as a profile. */
export const faultRemedies: Record<ProfileFault, string> = {
  none: '',
  foreign: 'name a file that quartz record made',
  version: 'read it with the Quartz that recorded it, or record again',
  denied: 'only its owner may read it: ask for a copy',
  'too-large': 'record with a smaller --max-size, or read it on a larger machine',
  damaged: 'copy it again from where it was recorded, or record again',
  system: 'copy it again from where it was recorded, or record again',
};

/** The model of the profile; if no name is given, of the most recent profile in the current directory. */
export function loadModel(name: string | undefined, options: { raw: boolean }): Model {
  const path = name ?? newestProfile();
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status)
    throw new Failure(`${path} does not exist`, 'name a profile, or make one with: quartz record -- PROGRAM');
  if (status.isDirectory() && isSetName(path))
    throw new Failure(
      `${path} is a set of profiles`,
      'ask it with quartz query, or make a page of it with quartz html',
    );
  if (status.isDirectory())
    throw new Failure(
      `${path} is a directory`,
      'name a profile in it; directories of runs are for quartz merge, and for quartz compare with --fail-if',
    );
  if (!status.isFile()) throw new Failure(`${path} is not a file`, 'name a profile');
  try {
    return buildModel(openProfile(path, { byStack: true }), { compensate: !options.raw });
  } catch (error) {
    if (isProfileError(error)) throw new Failure(`${path}: ${error.why}`, faultRemedies[faultOf(error)]);
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND')
      throw missing('the reader of profiles');
    throw error;
  }
}
