/**
 * The frame of every page: head, style, and a content policy that allows only the page's own script and style. Pure
 * functions.
 */
import { createHash } from 'node:crypto';
import { escape } from './drawing/escape.js';

export interface Section {
  id: string;
  title: string;
  body: string;
}

export interface Page {
  title: string;
  version: string;
  head: string;
  sections: readonly Section[];
  style: string;
  /** `data`: JSON that is safe in a script element. null for a page without a script. */
  script: { code: string; data: string } | null;
}

export function pageOf({ title, version, head, sections, style, script }: Page): string {
  const code = script?.code.replaceAll('</script', '<\\/script') ?? null;
  const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = [
    `default-src 'none'`,
    ...(code === null ? [] : [`script-src ${hash(code)}`]),
    `style-src ${hash(style)}`,
    `base-uri 'none'`,
    `form-action 'none'`,
  ].join('; ');
  const links = sections.map((one) => `<a href="#${one.id}">${one.title}</a>`).join(' ');
  const bodies = sections.map((one) => `<section id="${one.id}"><h2>${one.title}</h2>${one.body}</section>`).join('\n');
  const scripts =
    script === null || code === null
      ? ''
      : `<script type="application/json" id="data">${script.data}</script>\n<script>${code}</script>\n`;
  const theme = script === null ? '' : '<button id="theme" type="button" hidden>Dark</button>\n';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="quartz ${escape(version)}">
<title>${escape(title)}</title>
<style>${style}</style>
</head>
<body>
<header><h1>${escape(title)}</h1>${theme}<nav aria-label="Parts of this page">${links}</nav></header>
<main>
${head}
${bodies}
</main>
${scripts}</body>
</html>
`;
}
