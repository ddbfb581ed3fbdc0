/**
 * The rest of the tenth batch: programs of Debian, and a library of Python.
 */
import { heredoc, sh, text } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-24, tenth batch';
const env = { RESTIC_PASSWORD: 'x' };
const fill =
  'rm -rf db; exec db_bench --db=db --benchmarks=fillrandom --num=80000 --value_size=100 --threads=2 ' +
  '--compression_type=none';
const encrypt = 'gpg --homedir home --batch --yes --passphrase x --pinentry-mode loopback';
const contract = `"""Overlaps of orbitals: a contraction of two matrices, written with indices; with 1, with @."""
import sys
import numpy as np

def overlaps(coefficients, density, products):
    if products:
        return coefficients @ density @ coefficients.T
    return np.einsum('ia,ab,jb->ij', coefficients, density, coefficients, optimize=False)

def main():
    generator = np.random.default_rng(7)
    total = 0.0
    for step in range(4):
        coefficients = generator.random((130, 160))
        density = generator.random((160, 160))
        total += float(np.trace(overlaps(coefficients, density, sys.argv[1] == '1')))
    print(f'{total:.6e}')

main()
`;
const records = `import random
random.seed(3)
out = []
for k in range(9):
    out.append(f'''
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Record{k} {{ pub name: String, pub values: Vec<f64>,
    pub tags: std::collections::BTreeMap<String, u{[8,16,32,64][k%4]}> }}
impl Record{k} {{
    pub fn total(&self) -> f64 {{ self.values.iter().map(|v| v * {k}.5).filter(|v| *v > {k % 7}.0).sum() }}
    pub fn best(records: &[Record{k}]) -> Option<String> {{
        let mut sorted: Vec<&Record{k}> = records.iter().collect();
        sorted.sort_by(|a, b| a.total().partial_cmp(&b.total()).unwrap());
        sorted.last().map(|r| format!("{{}}-{{}}-{{:?}}", r.name, r.values.len(), r.tags))
    }}
}}''')
open('records.rs', 'w').write('\\n'.join(out) + '\\n')
`;

export const tenthBatchDebian: readonly Program[] = [
  {
    name: 'numpy-contraction-by-indices',
    language: 'Python',
    kind: 'numerics',
    needs: ['python3'],
    packages: ['python3-numpy'],
    prepare: heredoc('contract.py', contract),
    run: sh('/usr/bin/python3 contract.py 0'),
    fixed: sh('/usr/bin/python3 contract.py 1'),
    registered: {
      on,
      cause: 'einsum of three operands without optimize runs over all four indices, in one thread',
      kinds: ['optimize', 'serial', 'starvation'],
      subject: /einsum|sum_of_products|_multiarray|numpy/i,
      fix: 'two products of matrices',
    },
  },
  {
    name: 'rustc-one-codegen-unit',
    language: 'Rust, C++',
    kind: 'compiler',
    needs: ['rustc', 'python3'],
    packages: ['rustc', 'python3'],
    prepare: `${heredoc('records.py', records)}python3 records.py`,
    run: sh('rustc -O --crate-type rlib -C codegen-units=1 records.rs'),
    fixed: sh('rustc -O --crate-type rlib -C codegen-units=8 records.rs'),
    registered: {
      on,
      cause: 'the crate is one unit, which one thread of LLVM optimizes',
      kinds: ['serial', 'starvation', 'optimize'],
      subject: /llvm|LLVM|rustc|opt|codegen|thread/i,
      fix: 'eight units',
      spreads: true,
    },
  },
  {
    name: 'rocksdb-small-write-buffer',
    language: 'C++',
    kind: 'store',
    needs: ['db_bench'],
    packages: ['rocksdb-tools'],
    prepare: '',
    run: {
      argv: ['sh', '-c', `${fill} --write_buffer_size=65536`],
    },
    fixed: {
      argv: ['sh', '-c', fill],
    },
    registered: {
      on,
      cause: 'memory for new entries is 64 kB: many small files are written and merged, writers are stopped meanwhile',
      kinds: ['io', 'kernel', 'dependency', 'optimize', 'serial', 'pipeline', 'lock-contention'],
      subject: /flush|compact|WriteController|Delay|stall|write|merge|rocksdb|sync/i,
      fix: '64 MB, as by default',
    },
  },
  {
    name: 'mksquashfs-xz',
    language: 'C',
    kind: 'archiver',
    needs: ['mksquashfs'],
    packages: ['squashfs-tools'],
    prepare: `${text}; head -c 20000000 text | split -b 500000 - part-; mkdir tree; mv part-* tree; rm text`,
    run: sh('mksquashfs tree out.squash -noappend -quiet -no-progress -comp xz'),
    fixed: sh('mksquashfs tree out.squash -noappend -quiet -no-progress -comp zstd -Xcompression-level 3'),
    registered: {
      on,
      cause: 'liblzma keeps both CPUs busy',
      kinds: ['optimize'],
      subject: /lzma/i,
      fix: 'zstd, level 3',
    },
  },
  {
    name: 'restic-maximal-compression',
    language: 'Go',
    kind: 'backup',
    needs: ['restic'],
    packages: ['restic'],
    prepare: `${text}; head -c 40000000 text | split -b 2000000 - part-; mkdir tree; mv part-* tree; rm text
for k in slow fast; do RESTIC_PASSWORD=x restic -q init -r $k; cp -a $k $k.empty; done`,
    run: {
      argv: [
        'sh',
        '-c',
        'rm -rf slow; cp -a slow.empty slow; exec restic -q --no-cache -r slow backup --compression max tree',
      ],
      env,
    },
    fixed: {
      argv: [
        'sh',
        '-c',
        'rm -rf fast; cp -a fast.empty fast; exec restic -q --no-cache -r fast backup --compression auto tree',
      ],
      env,
    },
    registered: {
      on,
      cause: 'the encoder of zstd for maximal compression takes nearly all of the time',
      kinds: ['optimize', 'serial'],
      subject: /zstd|encode|compress/i,
      fix: 'the default level',
    },
  },
  {
    name: 'gpg-compresses',
    language: 'C',
    kind: 'encryption',
    needs: ['gpg'],
    packages: ['gpg'],
    prepare: `${text}; cat text text > plain; rm text; mkdir -m 700 home`,
    run: sh(`${encrypt} -c -o out.gpg plain`),
    fixed: sh(`${encrypt} --compress-algo none -c -o out.gpg plain`),
    registered: {
      on,
      cause: 'one thread compresses before it encrypts',
      kinds: ['serial', 'optimize', 'starvation'],
      subject: /deflate|libz|compress|longest_match/i,
      fix: 'not compressed',
    },
  },
];
