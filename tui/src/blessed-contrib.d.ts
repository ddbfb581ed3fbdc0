/** Type of a single widget by its own path; the package declares only its index, which loads every widget. */
declare module 'blessed-contrib/lib/widget/charts/line.js' {
  const line: (options: object) => unknown;
  export default line;
}
