/** Holds a report in JSON to its schema. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { root } from './root.js';

const schema = JSON.parse(readFileSync(join(root, 'ts-frontend/schema/report.schema.json'), 'utf8')) as object;
const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictRequired: false }).compile(schema);

/** What is wrong with a report; empty: nothing. */
export function schemaErrors(report: string): string {
  return validate(JSON.parse(report)) ? '' : JSON.stringify(validate.errors?.slice(0, 5), null, 1);
}
