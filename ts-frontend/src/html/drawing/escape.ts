import { unitPattern } from '../../render/format/units.js';

/**
 * Escapes text for HTML and SVG, and data for a script element. Names come from untrusted files: whatever they contain,
 * they must only be displayed.
 */
const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Control and bidirectional formatting characters, which could hide or reorder adjacent text. */
const unseen =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]|\p{Cs}/gu;

/** Escapes for element content and for quoted attributes. */
export const escape = (text: string): string =>
  text.replace(unseen, '?').replace(/[&<>"']/g, (char) => entities[char] ?? '');

const numberWithUnit = new RegExp(String.raw`(\d) (?=${unitPattern})`, 'gu');
/** Escapes sentences; a line does not break between a number and its unit. */
export const escapeProse = (text: string): string => escape(text.replace(numberWithUnit, '$1\u00a0'));

/** JSON for a script element, without sequences that could end the element or begin a comment. */
export const embeddedJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
