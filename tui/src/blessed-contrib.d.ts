/** One widget, by its own path; the package's types know only its index, which loads every widget. */
declare module 'blessed-contrib/lib/widget/charts/line.js' {
  const line: (options: object) => unknown;
  export default line;
}
