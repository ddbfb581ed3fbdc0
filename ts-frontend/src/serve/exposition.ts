/**
 * Prometheus' text exposition format, version 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/).
 * Pure functions.
 */
export interface Metric {
  name: string;
  help: string;
  type: 'counter' | 'gauge';
  samples: readonly { labels?: Readonly<Record<string, string>>; value: number }[];
}

export const contentType = 'text/plain; version=0.0.4; charset=utf-8';

const inHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const inLabel = (text: string): string => inHelp(text).replaceAll('"', '\\"');

export function exposition(metrics: readonly Metric[]): string {
  return metrics
    .flatMap(({ name, help, type, samples }) => [
      `# HELP ${name} ${inHelp(help)}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(({ labels = {}, value }) => {
        const pairs = Object.entries(labels).map(([label, text]) => `${label}="${inLabel(text)}"`);
        return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
      }),
    ])
    .map((line) => `${line}\n`)
    .join('');
}
