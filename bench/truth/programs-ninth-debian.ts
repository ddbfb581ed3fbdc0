/**
 * The rest of the ninth batch: programs of Debian, and one in Rust.
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-23, ninth batch';
const plate = `//! Heat in a small plate, by two threads for half of the rows each, which meet at a barrier after
//! each step; with 1, one thread does all rows. Hot spots are written down under a mutex.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

const SIDE: usize = 34;
const STEPS: usize = 100_000;

struct Plate {
    cells: [Vec<AtomicU64>; 2],
}

impl Plate {
    fn new() -> Plate {
        let row = |k: usize| if k < SIDE { 100.0f64 } else { 0.0 };
        let cells = || (0..SIDE * SIDE).map(|k| AtomicU64::new(row(k).to_bits())).collect();
        Plate { cells: [cells(), cells()] }
    }

    fn at(&self, which: usize, row: usize, column: usize) -> f64 {
        f64::from_bits(self.cells[which][row * SIDE + column].load(Ordering::Relaxed))
    }

    fn step(&self, from: usize, rows: std::ops::Range<usize>) -> f64 {
        let mut change = 0.0f64;
        for row in rows {
            for column in 1..SIDE - 1 {
                let old = self.at(from, row, column);
                let new = 0.25
                    * (self.at(from, row - 1, column)
                        + self.at(from, row + 1, column)
                        + self.at(from, row, column - 1)
                        + self.at(from, row, column + 1));
                change = change.max((new - old).abs());
                self.cells[1 - from][row * SIDE + column].store(new.to_bits(), Ordering::Relaxed);
            }
        }
        change
    }
}

struct HotSpots {
    spots: Mutex<Vec<(usize, u64)>>,
}

impl HotSpots {
    fn note(&self, step: usize, plate: &Plate) {
        let warm = (0..SIDE).map(|k| plate.at(0, 1, k) as u64).max().unwrap_or(0);
        self.spots.lock().unwrap().push((step, warm));
    }
}

fn simulate(plate: &Plate, spots: &HotSpots, meet: &Barrier, rows: std::ops::Range<usize>) -> f64 {
    let mut change = 0.0;
    let first = rows.start == 1;
    for step in 0..STEPS {
        change = plate.step(step % 2, rows.clone());
        meet.wait();
        if first && step % 1000 == 0 {
            spots.note(step, plate);
        }
    }
    change
}

fn main() {
    let threads = if std::env::args().nth(1).as_deref() == Some("1") { 1 } else { 2 };
    let plate = Arc::new(Plate::new());
    let spots = Arc::new(HotSpots { spots: Mutex::new(Vec::new()) });
    let meet = Arc::new(Barrier::new(threads));
    let part = (SIDE - 2) / threads;
    let all: Vec<_> = (0..threads)
        .map(|number| {
            let (plate, spots, meet) = (Arc::clone(&plate), Arc::clone(&spots), Arc::clone(&meet));
            let rows = 1 + number * part..1 + (number + 1) * part;
            thread::spawn(move || simulate(&plate, &spots, &meet, rows))
        })
        .collect();
    let changes: Vec<f64> = all.into_iter().map(|one| one.join().unwrap()).collect();
    let hottest = spots.spots.lock().unwrap().iter().map(|spot| spot.1).max();
    println!("{:.3e} {:?}", changes.iter().cloned().fold(0.0, f64::max), hottest);
}
`;
const genome = `import random
random.seed(7)
genome = ''.join(random.choices('ACGT', k=3000000))
open('genome.fa', 'w').write('>chromosome\\n' + genome + '\\n')
with open('reads.fa', 'w') as reads:
    for k in range(25000):
        at = random.randrange(len(genome) - 1200)
        read = list(genome[at:at + random.randrange(300, 1100)])
        for _ in range(len(read) // 40):
            read[random.randrange(len(read))] = random.choice('ACGT')
        reads.write(f'>read{k}\\n{"".join(read)}\\n')
`;
const tables = `create table customer (id int, name text, region int);
create table invoice (id int, customer int, amount numeric(10,2), paid bool);
insert into customer select k, 'customer ' || k, k % 11 from generate_series(1, 3000) k;
insert into invoice select k, k * 7919 % 3000, k % 977, k % 3 = 0 from generate_series(1, 60000) k;
vacuum analyze;
`;
const query = `select c.region, count(*), sum((select max(i.amount) from invoice i where i.customer = c.id\\
    and not i.paid)) \\
from customer c where c.id < 1500 group by c.region
`;
const database = `bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
as=
if [ $(id -u) = 0 ]; then
  as='setpriv --reuid=nobody --regid=nogroup --clear-groups'
  chown nobody:nogroup .
fi
$as $bin/initdb -D plain -A trust --no-sync -U user > initdb.log
$as $bin/postgres --single -D plain postgres < tables.sql > tables.log 2>&1
cp -a plain indexed
echo 'create index on invoice (customer)' | $as $bin/postgres --single -D indexed postgres > index.log 2>&1
echo "exec $as $bin/postgres --single -D \\$1 postgres < query.sql" > ask.sh
`;
const shapes = `import os

os.makedirs('source', exist_ok=True)
os.makedirs('classes', exist_ok=True)
for k in range(20):
    text = f'import java.util.*;\\nimport java.util.stream.*;\\n\\npublic class Shape{k} {{\\n'
    for j in range(6):
        text += f'  private final Map<String, List<Integer>> part{j} = new HashMap<>();\\n'
    for j in range(14):
        text += f'''
  public int total{j}(List<? extends Number> values) {{
    return values.stream().map(value -> value.intValue() + {k}).filter(value -> value % {j + 2} == 0)
        .collect(Collectors.groupingBy(value -> value % 7)).values().stream()
        .mapToInt(List::size).sum() + part{j % 6}.getOrDefault("{j}", List.of()).size();
  }}
'''
    open(f'source/Shape{k}.java', 'w').write(text + '}\\n')
`;

export const ninthBatchDebian: readonly Program[] = [
  {
    name: 'rust-barrier-each-step',
    language: 'Rust',
    kind: 'solver',
    needs: ['rustc'],
    packages: ['rustc'],
    prepare: `${heredoc('plate.rs', plate)}rustc -O -g -o plate plate.rs`,
    run: sh('./plate 0'),
    fixed: sh('./plate 1'),
    registered: {
      on,
      cause: 'two threads meet at a barrier after each step of a few microseconds: waking costs more than the work',
      kinds: ['overhead', 'imbalance', 'dependency', 'lock-contention'],
      subject: /barrier|wak|woken|condition|hand/i,
      fix: 'one thread',
      joins: true,
    },
  },
  {
    name: 'minimap2-small-batches',
    language: 'C',
    kind: 'bioinformatics',
    needs: ['minimap2', 'python3'],
    packages: ['minimap2', 'python3'],
    prepare: `${heredoc('genome.py', genome)}python3 genome.py`,
    run: sh('minimap2 -t 2 -K 2k -x map-ont -a genome.fa reads.fa'),
    fixed: sh('minimap2 -t 2 -x map-ont -a genome.fa reads.fa'),
    registered: {
      on,
      cause: 'reads are passed on in batches of 2,000 bases: threads are created for each of some thousand batches',
      kinds: ['overhead', 'dependency', 'pipeline', 'imbalance'],
      subject: /creat|short|pthread|kt_for|batch|thread/i,
      fix: 'batches of 500 million bases, as by default',
    },
  },
  {
    name: 'gdalwarp-one-thread',
    language: 'C++',
    kind: 'geography',
    needs: ['gdalwarp', 'gdal_create'],
    packages: ['gdal-bin'],
    prepare: 'gdal_create -outsize 4500 4500 -bands 1 -a_srs EPSG:4326 -a_ullr 5 55 15 45 -ot Float32 -burn 1 base.tif',
    run: sh('gdalwarp -overwrite -q -t_srs EPSG:3035 -r lanczos base.tif out.tif'),
    fixed: sh('gdalwarp -overwrite -q -multi -wo NUM_THREADS=2 -t_srs EPSG:3035 -r lanczos base.tif out.tif'),
    registered: {
      on,
      cause: 'one thread warps',
      kinds: ['serial', 'starvation'],
      subject: /gdal|warp|main|GWK|thread/i,
      fix: 'two threads',
      spreads: true,
    },
  },
  {
    name: 'parallel-short-jobs',
    language: 'Perl',
    kind: 'build tool',
    needs: ['parallel'],
    packages: ['parallel'],
    prepare: 'seq 1 300 > numbers',
    run: {
      argv: ['sh', '-c', "exec parallel -j2 'expr {} \\* 2' :::: numbers"],
    },
    fixed: {
      argv: ['sh', '-c', "exec parallel -j2 -m 'for k in {}; do echo $((k * 2)); done' :::: numbers"],
    },
    registered: {
      on,
      cause: 'a shell and a process are started for each of 300 numbers, which is the work of parallel itself, in Perl',
      kinds: ['overhead', 'kernel', 'serial', 'io', 'processes'],
      subject: /fork|child|process|exec|perl/i,
      fix: 'two shells for 150 numbers each',
    },
  },
  {
    name: 'postgres-no-index',
    language: 'C',
    kind: 'database',
    needs: ['psql', 'setpriv'],
    packages: ['postgresql', 'util-linux'],
    prepare: `${heredoc('tables.sql', tables)}${heredoc('query.sql', query)}
${heredoc('database.sh', database)}bash -e database.sh`,
    run: sh('sh ask.sh plain'),
    fixed: sh('sh ask.sh indexed'),
    registered: {
      on,
      cause: 'a subquery reads a table of 60,000 rows from its beginning for each of 1,500 rows: one thread',
      kinds: ['optimize', 'serial', 'starvation'],
      subject: /scan|heap|ExecSubPlan|ExecInterpExpr|postgres/i,
      fix: 'an index',
    },
  },
  {
    name: 'javac-optimizing-compiler',
    language: 'Java',
    kind: 'compiler',
    needs: ['javac', 'python3'],
    packages: ['default-jdk-headless', 'python3'],
    prepare: `${heredoc('shapes.py', shapes)}python3 shapes.py`,
    run: sh('javac -d classes source/*.java'),
    fixed: sh('javac -J-XX:TieredStopAtLevel=1 -d classes source/*.java'),
    registered: {
      on,
      cause: 'the virtual machine compiles the compiler: half of the processor time is in its optimizing compiler (C2)',
      kinds: ['optimize', 'overhead'],
      subject: /C2|compil|jit|libjvm/i,
      fix: 'compiled by C1 alone',
    },
  },
];
