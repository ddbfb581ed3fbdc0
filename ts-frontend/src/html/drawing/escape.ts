/**
 * Text in HTML and SVG, and data in a script element. Names come from untrusted files: whatever is in them, they are
 * shown and do nothing.
 */
const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Control and direction characters, which could hide or reorder what stands beside them. */
const unseen =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]|\p{Cs}/gu;

/** As text, and as an attribute in quotes. */
export const escape = (text: string): string =>
  text.replace(unseen, '?').replace(/[&<>"']/g, (char) => entities[char] ?? '');

/** JSON that a script element may hold: without what could end the element, or begin a comment. */
export const embeddedJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
