/** The code of procedures, from the binaries that a profile names, through the addon. */
import { sampledIn, type CodePiece, type Model } from '../model/index.js';
import { machineCode } from './profile.js';

/** The pieces of code of a procedure in which samples found threads, in the order of their addresses. */
export function codeOf(model: Model, procedure: number): CodePiece[] {
  const addresses = [...sampledIn(model, procedure).keys()].sort((a, b) => a - b);
  const modules = model.raw.modules.filter(({ start, end }) => addresses.some((at) => at >= start && at < end));
  return machineCode(modules, addresses);
}
