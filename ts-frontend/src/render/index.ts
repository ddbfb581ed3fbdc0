/** Rendering: pure functions from the model and options to text. */
export { briefJson, briefSchema } from './brief.js';
export { comparisonMarkdown, markdown } from './markdown.js';
export { notes, sarif } from './notes.js';
export { comparisonCsv, comparisonJson, comparisonReport, comparisonSchema } from './compare.js';
export { focusCsv, locksCsv, proceduresCsv, threadsCsv } from './csv.js';
export { experimentTexts } from './parts/experiment.js';
export { flameReport } from './views/flame.js';
export { gateLine, gatesJson, gateSchema } from './gate.js';
export { reportJson, schemaName } from './json.js';
export { contextViews, views, type ContextView, type RenderOptions, type View } from './format/options.js';
export { contextReport, focusReport, report } from './report.js';
export type { HeadSize } from './parts/head.js';
export { disassemblyJson, disassemblyReport, noInstructionsText } from './views/disassembly.js';
export { sourceCsv, sourceJson, sourceReport, sourceSchema, type SourceText } from './views/source.js';
export { viewCsv, viewJson, type ViewQuery } from './views/view.js';
export { noWorkSpanText, workSpanReport } from './path/work-span.js';
export { pathCsv, pathTables, spanTables, workSpanCsv } from './path/path-csv.js';
export { noPathText, pathJson, pathReport, pathSchema } from './path/path.js';
