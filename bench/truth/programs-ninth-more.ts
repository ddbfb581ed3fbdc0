/**
 * More of the ninth batch: programs in Java, Go and JavaScript.
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-23, ninth batch';
const quotes = `// Quotes are fetched from a service that takes 8 ms for each, in a parallel stream, which has two
// threads on two CPUs; with 1, in a pool of 16 threads for calls that wait. A risk is computed
// from each quote.
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

public class Quotes {
  static final int quotes = 500, delayMillis = 8;
  static final LongAdder served = new LongAdder();

  /** The service: elsewhere in reality. */
  static void serve(Socket socket) {
    try (socket;
        DataInputStream in = new DataInputStream(socket.getInputStream());
        DataOutputStream out = new DataOutputStream(socket.getOutputStream())) {
      int symbol = in.readInt();
      Thread.sleep(delayMillis);
      out.writeDouble(100 + symbol % 37);
      served.increment();
    } catch (IOException | InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  static int startService() throws IOException {
    ServerSocket server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
    ExecutorService each = Executors.newCachedThreadPool(Quotes::daemon);
    daemon(
            () -> {
              while (true) {
                try {
                  Socket socket = server.accept();
                  each.execute(() -> serve(socket));
                } catch (IOException closed) {
                  return;
                }
              }
            })
        .start();
    return server.getLocalPort();
  }

  static Thread daemon(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    return thread;
  }

  static double fetch(int port, int symbol) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        DataInputStream in = new DataInputStream(socket.getInputStream())) {
      out.writeInt(symbol);
      return in.readDouble();
    } catch (IOException failed) {
      throw new RuntimeException(failed);
    }
  }

  static double risk(double price) {
    double sum = 0;
    long x = (long) price * 2654435761L + 1;
    for (int k = 0; k < 60000; k++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
      sum += Math.abs((x >>> 40) / 16777216.0 - 0.5) * price / 60000;
    }
    return sum;
  }

  public static void main(String[] args) throws IOException {
    boolean own = args.length > 0 && args[0].equals("1");
    int port = startService();
    ConcurrentHashMap<Integer, Double> risks = new ConcurrentHashMap<>();
    List<Integer> symbols = IntStream.range(0, quotes).boxed().toList();
    if (own) {
      ExecutorService pool = Executors.newFixedThreadPool(16, Quotes::daemon);
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (int symbol : symbols)
        all.add(
            CompletableFuture.runAsync(() -> risks.put(symbol, risk(fetch(port, symbol))), pool));
      CompletableFuture.allOf(all.toArray(new CompletableFuture[0])).join();
    } else {
      symbols.parallelStream().forEach(symbol -> risks.put(symbol, risk(fetch(port, symbol))));
    }
    double sum = risks.values().stream().mapToDouble(Double::doubleValue).sum();
    System.out.printf("%.3f of %d%n", sum, served.sum());
  }
}
`;
const search = `// Lines of an access log are searched by two goroutines, which get them through a channel: the
// expression is compiled for each line; with 1, once. Results are counted in a map under a mutex.
package main

import (
	"fmt"
	"os"
	"regexp"
	"sort"
	"strings"
	"sync"
)

const lines, perBatch = 150000, 200

const pattern = \`^(\\d+)\\.(\\d+)\\.\\d+\\.\\d+ - (\\w+) "(GET|POST|PUT) (/[a-z]+)/(\\d+)" (2\\d\\d|404) (\\d+)$\`

type tally struct {
	sync.Mutex
	hits map[string]int
}

func (t *tally) add(counts map[string]int) {
	t.Lock()
	defer t.Unlock()
	for path, many := range counts {
		t.hits[path] += many
	}
}

func parse(line string, once *regexp.Regexp) (string, bool) {
	expression := once
	if expression == nil {
		expression = regexp.MustCompile(pattern)
	}
	parts := expression.FindStringSubmatch(line)
	if parts == nil {
		return "", false
	}
	return strings.ToLower(parts[4]) + " " + parts[5], true
}

func search(batches <-chan []string, once *regexp.Regexp, t *tally, done *sync.WaitGroup) {
	defer done.Done()
	for batch := range batches {
		counts := make(map[string]int)
		for _, line := range batch {
			if path, ok := parse(line, once); ok {
				counts[path]++
			}
		}
		t.add(counts)
	}
}

func main() {
	var once *regexp.Regexp
	if len(os.Args) > 1 && os.Args[1] == "1" {
		once = regexp.MustCompile(pattern)
	}
	batches := make(chan []string, 8)
	t := &tally{hits: make(map[string]int)}
	var done sync.WaitGroup
	for k := 0; k < 2; k++ {
		done.Add(1)
		go search(batches, once, t, &done)
	}
	words := []string{"items", "users", "orders", "static"}
	methods := []string{"GET", "POST", "PUT", "HEAD"}
	batch := make([]string, 0, perBatch)
	for k := 0; k < lines; k++ {
		line := fmt.Sprintf("10.%d.3.7 - user%d \\"%s /%s/%d\\" %d %d",
			k%200, k%17, methods[k%4], words[k/4%4], k, 200+k%3, k*7)
		batch = append(batch, line)
		if len(batch) == perBatch {
			batches <- batch
			batch = make([]string, 0, perBatch)
		}
	}
	batches <- batch
	close(batches)
	done.Wait()
	paths := make([]string, 0, len(t.hits))
	for path := range t.hits {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	for _, path := range paths {
		fmt.Println(path, t.hits[path])
	}
}
`;
const invoices = `// Invoices are added up by two workers: batches are posted to them as objects, which are cloned;
// with 1, numbers go in typed arrays that are shared. Workers post back totals for each customer.
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads');

const batches = 100,
  perBatch = 20000,
  customers = 500;

function makeInvoices(number) {
  const invoices = [];
  let x = number * 7919 + 1;
  for (let k = 0; k < perBatch; k++) {
    x = (x * 48271) % 2147483647;
    invoices.push({
      id: \`I-\${number}-\${k}\`,
      customer: x % customers,
      lines: [
        { article: x % 977, amount: 1 + (x % 7), price: (x % 5000) / 100 },
        { article: x % 983, amount: 1 + (x % 3), price: (x % 9000) / 100 },
      ],
      paid: x % 2 === 0,
    });
  }
  return invoices;
}

function totalsOfObjects(invoices) {
  const totals = new Float64Array(customers);
  for (const { customer, lines, paid } of invoices)
    if (!paid) for (const { amount, price } of lines) totals[customer] += amount * price;
  return totals;
}

function totalsOfNumbers(numbers) {
  const totals = new Float64Array(customers);
  for (let k = 0; k < numbers.length; k += 6)
    if (numbers[k + 1] === 0)
      totals[numbers[k]] += numbers[k + 2] * numbers[k + 3] + numbers[k + 4] * numbers[k + 5];
  return totals;
}

function packed(invoices) {
  const numbers = new Float64Array(new SharedArrayBuffer(invoices.length * 48));
  invoices.forEach(({ customer, paid, lines: [a, b] }, k) =>
    numbers.set([customer, paid ? 1 : 0, a.amount, a.price, b.amount, b.price], k * 6),
  );
  return numbers;
}

async function main() {
  const shared = process.argv[2] === '1';
  const invoices = makeInvoices(1);
  const numbers = packed(invoices);
  const sums = new Float64Array(customers);
  const workers = [0, 1].map(() => new Worker(__filename, { workerData: { shared } }));
  let sent = 0;
  await Promise.all(
    workers.map(
      (worker) =>
        new Promise((resolve) => {
          const next = () => {
            if (sent++ < batches) worker.postMessage(shared ? numbers : invoices);
            else resolve();
          };
          worker.on('message', (totals) => {
            totals.forEach((total, k) => (sums[k] += total));
            next();
          });
          next();
        }),
    ),
  );
  await Promise.all(workers.map((worker) => worker.terminate()));
  console.log(sums.reduce((sum, one) => sum + one, 0).toFixed(2));
}

if (isMainThread) main();
else
  parentPort.on('message', (batch) =>
    parentPort.postMessage(workerData.shared ? totalsOfNumbers(batch) : totalsOfObjects(batch)),
  );
`;

export const ninthBatchMore: readonly Program[] = [
  {
    name: 'java-parallel-stream-waits',
    language: 'Java',
    kind: 'application',
    needs: ['java', 'javac'],
    packages: ['default-jdk-headless'],
    prepare: `${heredoc('Quotes.java', quotes)}javac -d . Quotes.java`,
    run: sh('java Quotes 0'),
    fixed: sh('java Quotes 1'),
    registered: {
      on,
      cause: 'calls to a service of 8 ms each are made in a parallel stream, which has two threads: all are waiting',
      kinds: ['io', 'starvation', 'serial', 'pipeline', 'dependency'],
      subject: /socket|recv|read|poll|sleep|connect|stream|ForkJoin|network/i,
      fix: '16 threads',
    },
  },
  {
    name: 'go-expression-each-line',
    language: 'Go',
    kind: 'application',
    needs: ['go'],
    packages: ['golang-go'],
    prepare: `${heredoc('access.go', search)}go build -o search access.go`,
    run: sh('./search 0'),
    fixed: sh('./search 1'),
    registered: {
      on,
      cause: 'the regular expression is compiled for each line',
      kinds: ['optimize'],
      subject: /regexp\.\(?\*?(MustCompile|Compile|compile)|syntax|main\.parse/i,
      fix: 'it is compiled once',
    },
  },
  {
    name: 'node-cloned-messages',
    language: 'JavaScript',
    kind: 'application',
    needs: ['node'],
    packages: ['nodejs'],
    prepare: heredoc('invoices.js', invoices),
    run: sh('node invoices.js 0'),
    fixed: sh('node invoices.js 1'),
    registered: {
      on,
      cause: 'objects posted to workers are serialized by the main thread and made again by the worker',
      kinds: ['serial', 'optimize', 'overhead', 'pipeline'],
      subject: /serializ|clone|ValueSerializer|ValueDeserializer|postMessage|PostMessage|Message/i,
      fix: 'numbers in memory that is shared',
    },
  },
];
