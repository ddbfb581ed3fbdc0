/** Rendering: pure functions from the model and options to text. */
export { comparisonCsv, comparisonJson, comparisonReport, comparisonSchema } from './compare.js';
export { focusCsv, locksCsv, proceduresCsv, threadsCsv } from './csv.js';
export { reportJson, schemaName } from './json.js';
export type { RenderOptions } from './options.js';
export { focusReport, report, views, type View } from './report.js';
