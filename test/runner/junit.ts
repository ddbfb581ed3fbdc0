/** Results from the XML file that `ctest --output-junit` writes. */
import { skipped, type Result } from './result.js';

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
const plain = (text: string): string => text.replace(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole);

export function junitResults(xml: string): Result[] {
  return [...xml.matchAll(/<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)].map(
    ([, attributes = '', body = '']) => {
      const attribute = (name: string): string => plain(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? '');
      const output = plain(/<system-out>([\s\S]*?)<\/system-out>/.exec(body)?.[1] ?? '').trim();
      const name = attribute('name'),
        status = attribute('status');
      // A program that could not be started has not run, either, and is no skip.
      const message = plain(/<skipped message="([^"]*)"/.exec(body)?.[1] ?? '');
      if (status === 'notrun' && message.startsWith('SKIP_RETURN_CODE'))
        return { name, outcome: 'skipped', detail: skipped.exec(output)?.[1] ?? 'it gave no reason' };
      if (status === 'disabled') return { name, outcome: 'skipped', detail: 'disabled in CMake, which is no reason' };
      return { name, outcome: status === 'run' ? 'passed' : 'failed', detail: output === '' ? message : output };
    },
  );
}
