/** The rest of the sixth batch of real programs: C++, Erlang, C#, bioinformatics. */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-23, sixth batch';

const requests = `// Each request is answered by std::async; with 1, two of them answer half of the requests each.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <vector>
static uint64_t answer(uint64_t x) {
  for (int k = 0; k < 400; k++) x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  return x;
}
static uint64_t some(uint64_t from, uint64_t to) {
  uint64_t sum = 0;
  for (uint64_t k = from; k < to; k++) sum += answer(k + 1);
  return sum;
}
int main(int argc, char **argv) {
  const uint64_t all = 60000;
  uint64_t sum = 0;
  if (argc > 1 && atoi(argv[1]) == 1) {
    auto first = std::async(std::launch::async, some, 0, all / 2);
    sum = some(all / 2, all) + first.get();
  } else {
    for (uint64_t k = 0; k < all; k += 4) {
      std::vector<std::future<uint64_t>> some;
      for (uint64_t n = k; n < k + 4; n++) some.push_back(std::async(std::launch::async, answer, n + 1));
      for (auto &one : some) sum += one.get();
    }
  }
  printf("%lu\\n", (unsigned long)sum);
}
`;
const server = `-module(one).
-export([main/1]).
%% Clients ask a server, which computes each answer; N servers.
main([N]) ->
  Servers = [spawn(fun() -> serve() end) || _ <- lists:seq(1, list_to_integer(N))],
  Self = self(),
  Clients = [spawn(fun() -> ask(lists:nth(1 + K rem length(Servers), Servers), 200), Self ! done end)
             || K <- lists:seq(1, 8)],
  [receive done -> ok end || _ <- Clients],
  halt().
ask(_, 0) -> ok;
ask(Server, K) -> Server ! {self(), K}, receive _ -> ask(Server, K - 1) end.
serve() -> receive {From, K} -> From ! work(K, 100000), serve() end.
work(X, 0) -> X;
work(X, K) -> work((X * 48271) rem 2147483647, K - 1).
`;
const account = `// Four threads change one balance under its lock; with 1, each one of its own.
using System;
using System.Threading;
class Account {
  long balance;
  public void Add(long x) { lock (this) { balance += x; } }
  public long Balance { get { lock (this) return balance; } }
}
class Program {
  static void Main(string[] a) {
    bool own = a.Length > 0 && a[0] == "1";
    var shared = new Account();
    var threads = new Thread[4];
    for (int w = 0; w < 4; w++) {
      threads[w] = new Thread(() => {
        var account = own ? new Account() : shared;
        for (int k = 0; k < 4000000; k++) account.Add(k & 7);
        if (own) shared.Add(account.Balance);
      });
      threads[w].Start();
    }
    foreach (var t in threads) t.Join();
    Console.WriteLine(shared.Balance);
  }
}
`;
const genome =
  `awk 'BEGIN { srand(5); b = "ACGT"; print ">c1"; for (n = 0; n < 4000; n++) { s = ""; ` +
  `for (k = 0; k < 100; k++) s = s substr(b, 1 + int(rand() * 4), 1); print s } }' > genome.fa; ` +
  `awk 'NR > 1 { for (k = 0; k < 12; k++) { print ">r" NR "." k; print $0 } }' genome.fa > reads.fa; ` +
  'bowtie2-build -q genome.fa index';

export const sixthBatchMore: readonly Program[] = [
  {
    name: 'cpp-async-each',
    language: 'C++',
    kind: 'application',
    needs: ['c++'],
    packages: ['g++'],
    prepare: `${heredoc('requests.cpp', requests)}c++ -O2 -g -o requests requests.cpp -pthread`,
    run: sh('./requests 0'),
    fixed: sh('./requests 1'),
    registered: {
      on,
      cause: 'a thread is created for each request, which takes less than creating it',
      kinds: ['overhead', 'kernel'],
      subject: /created|thread/i,
      fix: 'two threads for half of the requests each',
    },
  },
  {
    name: 'erlang-one-server',
    language: 'Erlang',
    kind: 'application',
    needs: ['erl', 'erlc'],
    packages: ['erlang-base'],
    prepare: `${heredoc('one.erl', server)}erlc one.erl`,
    run: sh('erl +S 2 -noshell -run one main 1', { ERL_FLAGS: '' }),
    fixed: sh('erl +S 2 -noshell -run one main 2', { ERL_FLAGS: '' }),
    registered: {
      on,
      cause: 'one process of the language does all the work, one scheduler at a time runs it',
      kinds: ['serial', 'starvation', 'imbalance'],
      subject: /beam|sched|erts|process|generated/i,
      fix: 'two servers',
      spreads: true,
    },
  },
  {
    name: 'mono-one-lock',
    language: 'C#',
    kind: 'application',
    needs: ['mono', 'mcs'],
    packages: ['mono-runtime', 'mono-mcs'],
    prepare: `${heredoc('account.cs', account)}mcs -out:account.exe account.cs`,
    run: sh('mono account.exe 0'),
    fixed: sh('mono account.exe 1'),
    registered: {
      on,
      cause: 'four threads take the monitor of one object for some nanoseconds at a time',
      kinds: ['lock-contention', 'spinning', 'overhead', 'oversubscription'],
      subject: /lock|monitor|mutex|mono|hand|wake/i,
      fix: 'an account for each thread',
    },
  },
  {
    name: 'bowtie2-one-thread',
    language: 'C++',
    kind: 'bioinformatics',
    needs: ['bowtie2', 'bowtie2-build'],
    packages: ['bowtie2'],
    prepare: genome,
    run: sh('bowtie2 --quiet -p 1 --very-sensitive -f -x index -U reads.fa -S /dev/null'),
    fixed: sh('bowtie2 --quiet -p 2 --very-sensitive -f -x index -U reads.fa -S /dev/null'),
    registered: {
      on,
      cause: 'one thread aligns all reads',
      kinds: ['serial', 'starvation'],
      subject: /bowtie2|align|search|thread|sse|multiseed/i,
      fix: 'two threads',
      spreads: true,
    },
  },
];
