/** Holds reports in JSON to their schemas. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { root } from './root.js';

function validator(name: string): (text: string) => string {
  const schema = JSON.parse(readFileSync(join(root, `ts-frontend/schema/${name}.schema.json`), 'utf8')) as object;
  const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictRequired: false }).compile(schema);
  return (text) => (validate(JSON.parse(text)) ? '' : JSON.stringify(validate.errors?.slice(0, 5), null, 1));
}

/** What is wrong with a report; empty: nothing. */
export const schemaErrors = validator('report');
/** And with one over a tree of processes. */
export const treeSchemaErrors = validator('tree');
/** And with what limits a job of several ranks. */
export const jobSchemaErrors = validator('job');
