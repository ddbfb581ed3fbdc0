/** Reads the code of procedures from the binaries that a profile names. */
import { sampledIn, type CodePiece, type Model } from '../model/index.js';
import { machineCode } from './profile.js';

/** The pieces of a procedure's code that contain samples, in ascending order of address. */
export function codeOf(model: Model, procedure: number): CodePiece[] {
  const addresses = [...sampledIn(model, procedure).keys()].sort((a, b) => a - b);
  const modules = model.raw.modules.filter(({ start, end }) => addresses.some((at) => at >= start && at < end));
  return machineCode(modules, addresses);
}
