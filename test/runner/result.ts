/** What became of one test, whoever ran it. */
export interface Result {
  name: string;
  outcome: 'passed' | 'failed' | 'skipped';
  /** Of a skipped test: why. Of a failed one: what its runner said, of several lines. */
  detail: string;
  /** That its runner crashed, hung or failed without a test that did. */
  ofRunner?: true;
}

/** How a test says that this machine cannot show what it is about: a line of its output, or of its log. */
export const skipped = /^\s*skipped: (.+)$/m;
