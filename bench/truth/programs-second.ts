/** The second batch of real programs, registered after mends for what was wrong with the first: like programs.ts. */
import { heredoc, sh, text } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-22, second batch';

const pool = `import java.util.*; import java.util.concurrent.*;
public class Pool {
  static int work(int seed) {
    int[] a = new int[400000];
    Random r = new Random(seed);
    for (int k = 0; k < a.length; k++) a[k] = r.nextInt();
    Arrays.sort(a);
    return a[7];
  }
  public static void main(String[] words) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(words[0]));
    List<Future<Integer>> all = new ArrayList<>();
    for (int k = 0; k < 50; k++) { int seed = k; all.add(pool.submit(() -> work(seed))); }
    long sum = 0; for (Future<Integer> one : all) sum += one.get();
    pool.shutdown(); System.out.println(sum);
  }
}
`;
const map = `import java.util.*; import java.util.concurrent.*;
public class Count {
  public static void main(String[] words) throws Exception {
    Map<Integer, Integer> map =
      words[0].equals("one") ? Collections.synchronizedMap(new HashMap<>()) : new ConcurrentHashMap<>();
    Thread[] all = new Thread[4];
    for (int t = 0; t < 4; t++) {
      int me = t;
      all[t] = new Thread(() -> {
        for (int k = 0; k < 8000000; k++) map.merge((k * 31 + me * 7919) % 5000, 1, Integer::sum);
      });
      all[t].start();
    }
    for (Thread one : all) one.join();
    System.out.println(map.size());
  }
}
`;
const jobs = `const { Worker, isMainThread, parentPort } = require('node:worker_threads');
if (isMainThread) {
  const workers = Array.from({ length: Number(process.argv[2]) }, () => new Worker(__filename));
  let next = 0;
  const give = (worker) => (next < 20 ? worker.postMessage(next++) : worker.postMessage(null));
  for (const worker of workers) { worker.on('message', () => give(worker)); give(worker); }
} else parentPort.on('message', (job) => {
  if (job === null) return parentPort.close();
  let sum = 0;
  for (let k = 0; k < 30000000; k++) sum = (sum * 31 + k) % 1000003;
  parentPort.postMessage(sum);
});
`;
const sorts = `import threading, random
def work(seed):
    r = random.Random(seed)
    words = [str(r.random()) for _ in range(60000)]
    for k in range(6): words.sort(key=lambda w: (w[k + 2], w[::-1]))
all = [threading.Thread(target=work, args=(k,)) for k in range(3)]
for one in all: one.start()
for one in all: one.join()
`;
const hot = `use std::sync::{Arc, Mutex};
use std::thread;
fn main() {
    let parts: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let sums: Arc<Vec<Mutex<[u64; 16]>>> = Arc::new((0..parts).map(|_| Mutex::new([0; 16])).collect());
    let all: Vec<_> = (0..4)
        .map(|me| {
            let sums = sums.clone();
            thread::spawn(move || {
                let mut x = me as u64;
                for _ in 0..30_000_000 {
                    x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    sums[me % parts].lock().unwrap()[0] += x >> 60;
                }
            })
        })
        .collect();
    for one in all { one.join().unwrap(); }
    println!("{}", sums.iter().map(|one| one.lock().unwrap()[0]).sum::<u64>());
}
`;

export const secondBatch: readonly Program[] = [
  {
    name: 'java-pool-of-one',
    language: 'Java',
    kind: 'application',
    needs: ['java', 'javac'],
    packages: ['default-jdk-headless'],
    prepare: `${heredoc('Pool.java', pool)}javac Pool.java`,
    run: sh('java -cp . Pool 1'),
    fixed: sh('java -cp . Pool 2'),
    registered: {
      on,
      cause: 'a pool of one thread does all the work that main hands out',
      kinds: ['serial', 'starvation'],
      subject: /pool|Pool|thread|java|generated/i,
      fix: 'a pool of two threads',
      spreads: true,
    },
  },
  {
    name: 'java-synchronized-map',
    language: 'Java',
    kind: 'application',
    needs: ['java', 'javac'],
    packages: ['default-jdk-headless'],
    prepare: `${heredoc('Count.java', map)}javac Count.java`,
    run: sh('java -cp . Count one'),
    fixed: sh('java -cp . Count many'),
    registered: {
      on,
      cause: 'four threads take the monitor of one map for some tens of nanoseconds at a time',
      kinds: ['lock-contention', 'spinning', 'overhead', 'oversubscription'],
      subject: /ObjectMonitor|futex|libjvm|generated code|lock|mutex|java/i,
      fix: 'ConcurrentHashMap',
    },
  },
  {
    name: 'node-one-worker',
    language: 'JavaScript',
    kind: 'application',
    needs: ['node'],
    packages: ['nodejs'],
    prepare: heredoc('jobs.js', jobs),
    run: sh('node jobs.js 1'),
    fixed: sh('node jobs.js 2'),
    registered: {
      on,
      cause: 'one worker does all the work that main hands out',
      kinds: ['serial', 'starvation'],
      subject: /worker|thread|node|generated/i,
      fix: 'two workers',
      spreads: true,
    },
  },
  {
    name: 'python-sort-gil',
    language: 'Python',
    kind: 'interpreter',
    needs: ['/usr/bin/python3'],
    packages: ['python3'],
    prepare:
      heredoc('threads.py', sorts) +
      heredoc(
        'processes.py',
        sorts
          .replace('import threading', 'import multiprocessing')
          .replace('threading.Thread', 'multiprocessing.Process'),
      ),
    run: sh('/usr/bin/python3 threads.py'),
    fixed: sh('/usr/bin/python3 processes.py'),
    registered: {
      on,
      cause: 'one thread at a time has the interpreter lock',
      kinds: ['lock-contention', 'dependency'],
      subject: /gil|condition|mutex|ceval|eval|python/i,
      fix: 'processes in place of threads',
    },
  },
  {
    name: 'sysbench-threads',
    language: 'C',
    kind: 'benchmark',
    needs: ['sysbench'],
    packages: ['sysbench'],
    run: sh('sysbench threads --threads=4 --thread-locks=1 --thread-yields=20 --events=60000 --time=0 run'),
    fixed: sh('sysbench threads --threads=4 --thread-locks=64 --thread-yields=20 --events=60000 --time=0 run'),
    registered: {
      on,
      cause: 'four threads take one mutex, and yield the CPU while they have it',
      kinds: ['lock-contention', 'overhead', 'oversubscription', 'kernel'],
      subject: /mutex|yield/,
      fix: '64 mutexes in place of one',
    },
  },
  {
    name: 'lbzip2',
    language: 'C',
    kind: 'compressor',
    needs: ['lbzip2'],
    packages: ['lbzip2'],
    prepare: text,
    run: sh('lbzip2 -n 2 -k -c text > /dev/null'),
    fixed: sh('lbzip2 -n 2 -1 -k -c text > /dev/null'),
    registered: {
      on,
      cause: 'block sorting and coding keep both CPUs busy: only less work helps',
      kinds: ['optimize'],
      subject: /lbzip2|sort|encode/i,
      fix: 'blocks of 100 kB in place of 900 kB',
    },
  },
  {
    name: 'git-one-thread',
    language: 'C',
    kind: 'version control',
    needs: ['git'],
    packages: ['git'],
    prepare:
      'git init -q repo; cd repo; git config user.name x; git config user.email x; ' +
      "for f in $(seq 0 9); do seq 1 6000 | awk -v f=$f '{ print f, $1, $1 * 48271 % 2147483647 }' > file$f; done; " +
      'for k in $(seq 1 60); do for f in $(seq 0 9); do ' +
      "awk -v k=$k -v f=$f '{ if ((NR + 7 * f) % 97 == k) print k, $0; else print }' file$f > b; mv b file$f; done; " +
      'git add -A; git commit -qm $k; done',
    run: sh('git -C repo pack-objects --all --stdout --no-reuse-delta --window=60 --threads=1 -q > /dev/null'),
    fixed: sh('git -C repo pack-objects --all --stdout --no-reuse-delta --window=60 --threads=2 -q > /dev/null'),
    registered: {
      on,
      cause: 'one thread looks for deltas',
      kinds: ['serial', 'starvation'],
      subject: /git|delta|libz|deflate/,
      fix: 'two threads',
      spreads: true,
    },
  },
  {
    name: 'sqlite-commits',
    language: 'C',
    kind: 'data base',
    needs: ['sqlite3'],
    packages: ['sqlite3'],
    prepare:
      'seq 1 150 | awk \'BEGIN { print "create table t(a, b);" } ' +
      '{ print "insert into t values(" $1 ", \\"some text\\");" }\' > each.sql; ' +
      '(echo "begin;"; cat each.sql; echo "commit;") > once.sql',
    run: { argv: ['sh', '-c', 'rm -f t.db; exec sqlite3 t.db < each.sql'] },
    fixed: { argv: ['sh', '-c', 'rm -f t.db; exec sqlite3 t.db < once.sql'] },
    registered: {
      on,
      cause: 'each row is a transaction, and waits for the disk',
      kinds: ['io'],
      subject: /sync|sqlite/,
      fix: 'one transaction for all',
    },
  },
  {
    name: 'rust-hot-mutex',
    language: 'Rust',
    kind: 'application',
    needs: ['rustc'],
    packages: ['rustc'],
    prepare: `${heredoc('hot.rs', hot)}rustc -O -g hot.rs`,
    run: sh('./hot 1'),
    fixed: sh('./hot 4'),
    registered: {
      on,
      cause: 'four threads take one mutex for some nanoseconds at a time',
      kinds: ['lock-contention', 'spinning', 'overhead', 'oversubscription'],
      subject: /mutex|lock|futex/i,
      fix: 'a mutex for each thread',
    },
  },
];
