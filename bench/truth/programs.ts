/**
 * Real programs, each with its cause as it was registered before the first run of Quartz on it. An entry is never
 * changed to suit a report; where the registered cause proves wrong by experiment, that is said beside it.
 */
import { heredoc, sh, text } from './commands.js';
import { fifthBatch } from './programs-fifth.js';
import { fourthBatch } from './programs-fourth.js';
import { hotLocks } from './programs-hot-locks.js';
import type { Program } from './program.js';
import { secondBatch } from './programs-second.js';
import { sixthBatch } from './programs-sixth.js';
import { sixthBatchMore } from './programs-sixth-more.js';
import { seventhBatch } from './programs-seventh.js';
import { seventhBatchMore } from './programs-seventh-more.js';
import { eighthBatch } from './programs-eighth.js';
import { eighthBatchMore } from './programs-eighth-more.js';
import { ninthBatch } from './programs-ninth.js';
import { ninthBatchDebian } from './programs-ninth-debian.js';
import { ninthBatchMore } from './programs-ninth-more.js';
import { eleventhBatch } from './programs-eleventh.js';
import { eleventhBatchDebian } from './programs-eleventh-debian.js';
import { eleventhBatchMore } from './programs-eleventh-more.js';
import { twelfthBatch } from './programs-twelfth.js';
import { twelfthBatchMore } from './programs-twelfth-more.js';
import { twelfthBatchThreads } from './programs-twelfth-threads.js';
import { tenthBatch } from './programs-tenth.js';
import { tenthBatchDebian } from './programs-tenth-debian.js';
import { tenthBatchMore } from './programs-tenth-more.js';
import { thirdBatch } from './programs-third.js';

const on = '2026-11-22';
const gil = `import threading
def work():
    total = 0
    for k in range(8000000):
        total += k * k % 7
    return total
threads = [threading.Thread(target=work) for _ in range(4)]
for one in threads: one.start()
for one in threads: one.join()
`;
const processes = gil
  .replace('import threading', 'import multiprocessing')
  .replace('threading.Thread', 'multiprocessing.Process');
const gvl = `threads = 4.times.map { Thread.new { s = 0; 12_000_000.times { |k| s += k * k % 7 }; s } }
threads.each(&:join)
`;
const monitor = (parts: number): string => `public class Count {
  static final Object[] locks = new Object[64];
  static final long[] sums = new long[64 * 16];
  public static void main(String[] words) throws Exception {
    for (int k = 0; k < 64; k++) locks[k] = new Object();
    Thread[] all = new Thread[4];
    for (int t = 0; t < 4; t++) {
      final int me = t;
      all[t] = new Thread(() -> { for (int k = 0; k < 6000000; k++) {
        int at = ${parts === 1 ? '0' : 'me'}; synchronized (locks[at]) { sums[at * 16] += k % 7; } } });
      all[t].start();
    }
    for (Thread one : all) one.join();
  }
}
`;

const firstBatch: readonly Program[] = [
  {
    name: 'pigz',
    language: 'C',
    kind: 'compressor',
    needs: ['pigz'],
    packages: ['pigz'],
    prepare: text,
    run: sh('pigz -p 2 -6 -c text text text > /dev/null'),
    fixed: sh('pigz -p 2 -1 -c text text text > /dev/null'),
    registered: {
      on,
      cause: 'deflate keeps both CPUs busy: only less work helps (a lower level)',
      kinds: ['optimize'],
      subject: /deflate|longest_match|libz|compress_thread/,
      fix: 'level 1 in place of 6',
    },
  },
  {
    name: 'pbzip2',
    language: 'C++',
    kind: 'compressor',
    needs: ['pbzip2'],
    packages: ['pbzip2'],
    prepare: text,
    run: sh('pbzip2 -p2 -k -c text > /dev/null'),
    fixed: sh('pbzip2 -p2 -1 -k -c text > /dev/null'),
    registered: {
      on,
      cause: 'block sorting keeps both CPUs busy',
      kinds: ['optimize'],
      subject: /BZ2|libbz2|bz/i,
      fix: 'blocks of 100 kB in place of 900 kB',
    },
  },
  {
    name: 'xz-one-block',
    language: 'C',
    kind: 'compressor',
    needs: ['xz'],
    packages: ['xz-utils'],
    prepare: `${text}; head -c 12000000 text > part`,
    run: sh('xz -T2 -4 -c part > /dev/null'),
    fixed: sh('xz -T2 -4 --block-size=1MiB -c part > /dev/null'),
    registered: {
      on,
      cause: 'the input is one block (12 MiB at this level): one thread compresses, the others have none',
      kinds: ['serial', 'starvation'],
      subject: /lzma|xz/,
      fix: 'blocks of 1 MiB',
      spreads: true,
    },
  },
  {
    name: 'plzip-one-block',
    language: 'C++',
    kind: 'compressor',
    needs: ['plzip'],
    packages: ['plzip'],
    prepare: `${text}; head -c 12000000 text > part`,
    run: sh('plzip -n2 -6 -c part > /dev/null'),
    fixed: sh('plzip -n2 -6 -B 1MiB -c part > /dev/null'),
    registered: {
      on,
      cause: 'the input is one block (16 MiB): one worker compresses, the other has none',
      kinds: ['serial', 'starvation'],
      subject: /LZ|lz|plzip|worker/,
      fix: 'blocks of 1 MiB',
      spreads: true,
    },
  },
  {
    name: 'zstd-19',
    language: 'C',
    kind: 'compressor',
    needs: ['zstd'],
    packages: ['zstd'],
    prepare: `${text}; head -c 12000000 text > part`,
    run: sh('zstd -q -T2 -17 -c part > /dev/null'),
    fixed: sh('zstd -q -T2 -9 -c part > /dev/null'),
    registered: {
      on,
      cause: 'matching at a high level: the threads are busy, or one of them has the last job alone',
      kinds: ['optimize', 'serial', 'imbalance', 'starvation'],
      subject: /ZSTD|zstd|HUF|POOL/i,
      fix: 'level 9 in place of 17',
    },
  },
  {
    name: 'dd-16',
    language: 'C',
    kind: 'copier',
    needs: ['dd'],
    packages: ['coreutils'],
    run: sh('dd if=/dev/zero of=/dev/null bs=16 count=3000000 status=none'),
    fixed: sh('dd if=/dev/zero of=/dev/null bs=65536 count=733 status=none'),
    registered: {
      on,
      cause: 'six million system calls of 16 bytes each',
      kinds: ['kernel'],
      subject: /dd|read|write/,
      fix: 'blocks of 64 KiB',
    },
  },
  {
    name: 'python-gil',
    language: 'Python',
    kind: 'interpreter',
    needs: ['/usr/bin/python3'],
    packages: ['python3'],
    prepare: heredoc('threads.py', gil) + heredoc('processes.py', processes),
    run: sh('/usr/bin/python3 threads.py'),
    fixed: sh('/usr/bin/python3 processes.py'),
    registered: {
      on,
      cause: 'one thread at a time has the interpreter lock',
      kinds: ['lock-contention', 'dependency', 'pipeline'],
      subject: /gil|condition|mutex|ceval|eval|python/i,
      fix: 'processes in place of threads',
    },
  },
  {
    name: 'ruby-gvl',
    language: 'Ruby',
    kind: 'interpreter',
    needs: ['ruby'],
    packages: ['ruby'],
    prepare:
      heredoc('threads.rb', gvl) +
      heredoc('forks.rb', '4.times { fork { s = 0; 12_000_000.times { |k| s += k * k % 7 } } }\nProcess.waitall\n'),
    run: sh('ruby threads.rb'),
    fixed: sh('ruby forks.rb'),
    registered: {
      on,
      cause: 'one thread at a time has the interpreter lock (GVL)',
      kinds: ['lock-contention', 'dependency', 'pipeline'],
      subject: /gvl|condition|mutex|ruby|thread_/i,
      fix: 'processes in place of threads',
    },
  },
  {
    name: 'java-monitor',
    language: 'Java',
    kind: 'application',
    needs: ['java', 'javac'],
    packages: ['default-jdk-headless'],
    prepare:
      'mkdir -p one many; ' +
      heredoc('one/Count.java', monitor(1)) +
      heredoc('many/Count.java', monitor(4)) +
      'javac -d one one/Count.java; javac -d many many/Count.java',
    run: sh('java -XX:TieredStopAtLevel=1 -cp one Count'),
    fixed: sh('java -XX:TieredStopAtLevel=1 -cp many Count'),
    registered: {
      on,
      cause: 'four threads enter one monitor for a few nanoseconds at a time',
      kinds: ['lock-contention', 'spinning', 'overhead', 'oversubscription'],
      subject: /ObjectMonitor|futex|libjvm|generated code|lock|mutex|java/i,
      fix: 'a monitor for each thread',
    },
  },
  {
    name: 'sysbench-mutex',
    language: 'C',
    kind: 'benchmark',
    needs: ['sysbench'],
    packages: ['sysbench'],
    run: sh('sysbench mutex --threads=4 --mutex-num=1 --mutex-locks=4000000 --mutex-loops=200 run'),
    fixed: sh('sysbench mutex --threads=4 --mutex-num=4096 --mutex-locks=4000000 --mutex-loops=200 run'),
    registered: {
      on,
      cause: 'four threads take one mutex for some nanoseconds at a time',
      kinds: ['lock-contention', 'overhead', 'oversubscription'],
      subject: /mutex/,
      fix: '4,096 mutexes in place of one',
    },
  },
  {
    name: 'sysbench-fileio-16k',
    language: 'C',
    kind: 'benchmark',
    needs: ['sysbench'],
    packages: ['sysbench'],
    prepare: 'sysbench fileio --file-num=2 --file-total-size=64M prepare > /dev/null',
    run: sh(
      'sysbench fileio --threads=2 --file-num=2 --file-total-size=64M --file-test-mode=seqrewr ' +
        '--file-block-size=512 --file-fsync-freq=0 --file-fsync-end=off --events=800000 --time=0 run',
    ),
    fixed: sh(
      'sysbench fileio --threads=2 --file-num=2 --file-total-size=64M --file-test-mode=seqrewr ' +
        '--file-block-size=16384 --file-fsync-freq=0 --file-fsync-end=off --events=25000 --time=0 run',
    ),
    registered: {
      on,
      cause: 'writes of 512 bytes: what each call takes, beside a mutex for the next request',
      kinds: ['kernel'],
      subject: /write|file|sb_|execute/,
      fix: 'writes of 16 KiB',
    },
  },
  {
    name: 'povray-one-thread',
    language: 'C++',
    kind: 'renderer',
    needs: ['povray'],
    packages: ['povray', 'povray-includes'],
    prepare: heredoc(
      'scene.pov',
      'camera { location <0,2,-5> look_at 0 }\n' +
        'light_source { <5,9,-9> rgb 1 area_light <4,0,0>, <0,4,0>, 9, 9 }\n' +
        'sphere { 0, 1 pigment { rgb <1,0,0> } finish { reflection 0.4 } }\n' +
        'plane { y, -1 pigment { checker rgb 1 rgb 0 } finish { reflection 0.3 } }\n',
    ),
    run: sh('povray -D -V +Iscene.pov +O/dev/null +FN +W500 +H400 +A0.1 +WT1'),
    fixed: sh('povray -D -V +Iscene.pov +O/dev/null +FN +W500 +H400 +A0.1 +WT2'),
    registered: {
      on,
      cause: 'one thread renders',
      kinds: ['serial', 'starvation'],
      subject: /pov|trace|render/i,
      fix: 'two threads',
      spreads: true,
    },
  },
  {
    name: 'stockfish-bench',
    language: 'C++',
    kind: 'solver',
    needs: ['/usr/games/stockfish'],
    packages: ['stockfish'],
    run: sh('/usr/games/stockfish bench 16 2 9 > /dev/null'),
    fixed: sh('/usr/games/stockfish bench 16 2 8 > /dev/null'),
    registered: {
      on,
      cause: 'two threads search, both CPUs are busy: only less work helps',
      kinds: ['optimize'],
      subject: /stockfish|search|evaluate|nnue/i,
      fix: 'one ply less',
    },
  },
  {
    name: 'x264-one-thread',
    language: 'C, assembly',
    kind: 'encoder',
    needs: ['ffmpeg'],
    packages: ['ffmpeg'],
    run: sh('ffmpeg -v error -f lavfi -i testsrc2=size=640x360:rate=25:duration=4 -c:v libx264 -threads 1 -f null -'),
    fixed: sh('ffmpeg -v error -f lavfi -i testsrc2=size=640x360:rate=25:duration=4 -c:v libx264 -threads 3 -f null -'),
    registered: {
      on,
      cause: 'one thread encodes',
      kinds: ['serial', 'starvation'],
      subject: /x264|ffmpeg|libav/i,
      fix: 'three encoder threads',
      spreads: true,
    },
  },
  {
    name: 'sort-files',
    language: 'C',
    kind: 'sorter',
    needs: ['sort'],
    packages: ['coreutils'],
    prepare: text,
    run: sh('sort --parallel=2 -k2 -k1n text -o /dev/null', { LC_ALL: 'C' }),
    fixed: sh('sort --parallel=2 text -o /dev/null', { LC_ALL: 'C' }),
    registered: {
      on,
      cause: 'comparing by two keys, one of them a number: work; half of it (reading, the last merge) by one thread',
      kinds: ['optimize', 'serial', 'imbalance'],
      subject: /sort|compare|merge|sequential|strnum|mem/i,
      fix: 'whole lines compared as bytes',
    },
  },
];

export const programs: readonly Program[] = [
  ...firstBatch,
  ...secondBatch,
  ...thirdBatch,
  ...fourthBatch,
  ...fifthBatch,
  ...sixthBatch,
  ...sixthBatchMore,
  ...seventhBatch,
  ...seventhBatchMore,
  ...eighthBatch,
  ...eighthBatchMore,
  ...ninthBatch,
  ...ninthBatchMore,
  ...ninthBatchDebian,
  ...tenthBatch,
  ...tenthBatchMore,
  ...tenthBatchDebian,
  ...eleventhBatch,
  ...eleventhBatchMore,
  ...eleventhBatchDebian,
  ...twelfthBatch,
  ...twelfthBatchThreads,
  ...twelfthBatchMore,
  ...hotLocks,
];
