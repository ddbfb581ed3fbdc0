#!/usr/bin/env node
/**
 * Writes what TypeScript knows of profiles (ts-frontend/src/model/profile/abi.ts): values and bounds as abi/*.h define
 * them, the fields of the head as the addon gives them, and a mark by which an addon of another build is noticed.
 *
 *     node scripts/abi-table.js           writes the file
 *     node scripts/abi-table.js --check   exits with 1 where it differs from what it is made from
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const read = (path) => readFileSync(join(root, path), 'utf8');
const headers = [
  'hash',
  'origin',
  'purpose_bits',
  'session',
  'chains',
  'profile',
  'profile_rows',
  'profile_path',
  'profile_fault',
  'mpi_log',
]
  .map((name) => read(`abi/${name}.h`))
  .join('\n');
const code = headers.replace(/\/\*[\s\S]*?\*\//g, '');

/** Values of an enumeration by name: QZ_END_DISK_FULL = 4 as ['DISK_FULL', 4]. Left out: how many there are. */
function valuesOf(name, prefix) {
  const body = new RegExp(`enum ${name} \\{([^}]*)\\}`).exec(code)?.[1];
  if (body === undefined) throw new Error(`abi/ has no enum ${name}`);
  return [...body.matchAll(/(\w+)\s*=\s*(\d+)/g)]
    .map(([, value, number]) => [value.slice(prefix.length), Number(number)])
    .filter(([value]) => value !== 'COUNT');
}
const bound = (name) => Number(new RegExp(`#define ${name}\\s+(\\d+)`).exec(code)?.[1]);
const bits = (prefix) =>
  [...code.matchAll(new RegExp(`#define ${prefix}(\\w+)\\s+(\\d+)u`, 'g'))].map(([, name, bit]) => [name, Number(bit)]);

const lockKinds = [.../int qz_kind_is_lock\([^)]*\) \{([^}]*)\}/.exec(code)[1].matchAll(/QZ_KIND_(\w+)/g)].map(
  ([, name]) => name,
);

const kebab = (name) => `'${name.toLowerCase().replaceAll('_', '-')}'`;
const camel = (name) => name.toLowerCase().replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
/** An object from names to values, and a type of the names. */
const table = (comment, name, type, values, form = kebab) =>
  `/** ${comment} */\nexport const ${name} = ` +
  `{ ${values.map(([key, value]) => `${form(key)}: ${value}`).join(', ')} } as const;\n` +
  (type === '' ? '' : `export type ${type} = keyof typeof ${name};\n`);

/** Fields that the addon sets on the head, by how it sets them. */
const addon = read('ts-frontend/addon/head.cc');
const fields = (pattern) => [...new Set([...addon.matchAll(pattern)].map(([, name]) => name))];
const numbers = [...fields(/\bnumber\("(\w+)"/g), ...fields(/\{"(\w+)", head\./g)];
const texts = fields(/\btext\("(\w+)"/g);
const flags = fields(/\bflag\("(\w+)"/g);
/** What both sides must agree on beside the values below: names of columns and fields, and what the addon can do. */
const given = ['head.cc', 'column_fields.h', 'columns.cc', 'addon.cc'].flatMap((name) =>
  [...read(`ts-frontend/addon/${name}`).matchAll(/\b(?:FIELD|Set|number|text|flag|value)\("\w+"|\{"\w+"/g)].map(
    ([its]) => its,
  ),
);
const typed = (names, type) => names.map((name) => `  ${name}: ${type};`).join('\n');

const text = `/**
 * Values and bounds of profiles, as abi/*.h define them and the addon gives them; what each means is said there.
 * Made by scripts/abi-table.js; change the headers, or ts-frontend/addon/head.cc.
 */
${table('enum qz_state, in tuples.state.', 'State', '', valuesOf('qz_state', 'QZ_STATE_'), camel)}
${table('enum qz_waiting, in tuples.waiting.', 'Waiting', '', valuesOf('qz_waiting', 'QZ_WAITING_'), camel)}
${table(
  'enum qz_arrival, in segments.came and .arrival, onPath.arrival.',
  'Arrival',
  '',
  valuesOf('qz_arrival', 'QZ_ARRIVAL_'),
  camel,
)}
${table('enum qz_kernel, in tuples.kernel.', 'KernelWork', '', valuesOf('qz_kernel', 'QZ_KERNEL_'), camel)}
${table(
  'enum qz_kind.',
  'objectKinds',
  'ObjectKind',
  valuesOf('qz_kind', 'QZ_KIND_').filter(([, value]) => value > 0),
)}
${table(
  'enum qz_entity_kind: what else time is charged to.',
  'otherKinds',
  'OtherKind',
  valuesOf('qz_entity_kind', 'QZ_ENTITY_'),
)}
${table('enum qz_origin: where code comes from.', 'origins', 'Origin', valuesOf('qz_origin', 'QZ_ORIGIN_'))}
${table('QZ_PURPOSE_...: bits of entities.purposes.', 'Purpose', '', bits('QZ_PURPOSE_'), camel)}
${table('enum qz_naming_style.', 'namingStyles', 'NamingStyle', valuesOf('qz_naming_style', 'QZ_NAMING_STYLE_'))}
${table('enum qz_library_wait.', 'libraryWaits', 'LibraryWait', valuesOf('qz_library_wait', 'QZ_LIBRARY_WAIT_'))}
${table('enum qz_library_lock.', 'libraryLocks', 'LibraryLock', valuesOf('qz_library_lock', 'QZ_LIBRARY_LOCK_'))}
${table('enum qz_naming.', 'namings', 'Naming', valuesOf('qz_naming', 'QZ_NAMING_'))}
${table('enum qz_missing.', 'missings', 'Missing', valuesOf('qz_missing', 'QZ_MISSING_'))}
${table(
  'enum qz_cut: why a walk ended before the beginning of the thread.',
  'cuts',
  'CutReason',
  valuesOf('qz_cut', 'QZ_CUT_').filter(([, value]) => value > 0),
)}
${table('enum qz_unwound_by.', 'unwoundWays', 'UnwoundBy', valuesOf('qz_unwound_by', 'QZ_UNWOUND_BY_'))}
${table('enum qz_profile_status.', 'statuses', 'ProfileStatus', valuesOf('qz_profile_status', 'QZ_PROFILE_'))}
${table(
  'enum qz_profile_fault: why a file cannot be read.',
  'profileFaults',
  'ProfileFault',
  valuesOf('qz_profile_fault', 'QZ_FAULT_'),
)}
${table('enum qz_end_reason.', 'endReasons', 'EndReason', valuesOf('qz_end_reason', 'QZ_END_'))}
${table('enum qz_publisher.', 'publishers', 'Publisher', valuesOf('qz_publisher', 'QZ_PUBLISHER_'))}
${table(
  'enum qz_what_if_kind.',
  'whatIfKinds',
  'WhatIfKind',
  valuesOf('qz_what_if_kind', 'QZ_WHAT_IF_').filter(([name]) => name !== 'KINDS'),
)}
${table(
  'enum qz_counter, in counted.counter.',
  'counterKinds',
  'CounterName',
  valuesOf('qz_counter', 'QZ_COUNTER_'),
  camel,
)}
${table(
  'enum qz_mpi_event_kind, in messages.kind.',
  'MessageKind',
  '',
  valuesOf('qz_mpi_event_kind', 'QZ_MPI_'),
  camel,
)}
${table('QZ_LOCKED_...: bits of sharedLines.by.locked.', 'lockedAccess', '', bits('QZ_LOCKED_'), camel)}
${table('QZ_PATHS_...: bits of head.paths.', 'pathBits', 'PathBit', bits('QZ_PATHS_'), camel)}
/** Runnable threads are counted exactly below \`exact\`, then in \`parts\` buckets for each power of two. */
export const runnableBuckets = { exact: ${bound('QZ_RUNNABLE_EXACT')}, parts: ${bound('QZ_RUNNABLE_PARTS')} } as const;
/** Queue lengths likewise, in so many buckets. */
export const queueBuckets = {
  exact: ${bound('QZ_QUEUE_EXACT')},
  parts: ${bound('QZ_QUEUE_PARTS')},
  count: ${bound('QZ_QUEUE_BUCKETS')},
} as const;
/** Processor times of threads may deviate by this part of their sum from what the kernel counts. */
export const accountPart = 1 / ${bound('QZ_ACCOUNT_PART')};
/** Factor of hashes of 32 bits. */
export const hashFactor = ${/#define QZ_HASH_FACTOR_32 (\w+)/.exec(code)?.[1]};
/** Kinds of locks: qz_kind_is_lock. */
export const lockKinds = [${lockKinds.map(kebab).join(', ')}] as const;
/** Times: bucket k holds [2^k, 2^(k+1)) ns, the first also 0. */
export const timeBuckets = { count: ${bound('QZ_TIME_BUCKETS')} } as const;

/** The head of a profile as the addon gives it: struct qz_profile, with values of enumerations as numbers. */
export interface HeadFields {
${typed(numbers, 'number')}
${typed(texts, 'string')}
${typed(flags, 'boolean')}
}
`;

const mark = createHash('sha256')
  .update(text + given.join())
  .digest('hex')
  .slice(0, 16);
const marked = `${text}
/** Of all that the addon and the front end must agree on; the addon has the same (addon/CMakeLists.txt). */
export const addonMark = '${mark}';
`;

const file = join(root, 'ts-frontend/src/model/profile/abi.ts');
const formatted = await format(marked, { ...(await resolveConfig(file)), parser: 'typescript' });
if (!existsSync(file) || readFileSync(file, 'utf8') !== formatted) {
  if (process.argv.includes('--check')) {
    process.stderr.write(`${file} differs from abi/*.h, or the addon; run: node scripts/abi-table.js\n`);
    process.exitCode = 1;
  } else {
    writeFileSync(file, formatted);
  }
}
