/**
 * The tenth batch of real programs, registered after the ninth: like programs.ts; here programs in C++. Causes are by
 * knowledge of the programs, and by plain tools and experiments: time, strace, one CPU, other settings.
 */
import { heredoc, sh } from './commands.js';
import type { Program } from './program.js';

const on = '2026-11-24, tenth batch';
const replies = `// Sixteen clients ask a service, which one thread is: each waits for its own reply at the condition
// variable that all have in common; with 1, at one of its own. A reply is a price.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {
constexpr int clients = 16, requests = 5000;

struct Request {
  uint64_t article;
  double price = 0;
  bool answered = false;
  std::condition_variable own;
};

class Service {
public:
  explicit Service(bool apart) : apart(apart) {}

  double ask(uint64_t article) {
    Request request;
    request.article = article;
    std::unique_lock<std::mutex> guard(lock);
    waiting.push_back(&request);
    arrived.notify_one();
    (apart ? request.own : answered).wait(guard, [&] { return request.answered; });
    return request.price;
  }

  void serve() {
    std::unique_lock<std::mutex> guard(lock);
    for (;;) {
      arrived.wait(guard, [&] { return closed || !waiting.empty(); });
      if (waiting.empty()) return;
      Request *request = waiting.front();
      waiting.pop_front();
      guard.unlock();
      const double price = price_of(request->article);
      guard.lock();
      request->price = price;
      request->answered = true;
      if (apart) request->own.notify_one();
      else answered.notify_all();
    }
  }

  void close() {
    std::lock_guard<std::mutex> guard(lock);
    closed = true;
    arrived.notify_one();
  }

private:
  static double price_of(uint64_t article) {
    uint64_t state = article * 2654435761u + 1;
    double sum = 0;
    for (int k = 0; k < 2000; k++) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      sum += static_cast<double>(state >> 44) * 0.01;
    }
    return sum;
  }

  const bool apart;
  std::mutex lock;
  std::condition_variable arrived, answered;
  std::deque<Request *> waiting;
  bool closed = false;
};
} // namespace

int main(int argc, char **argv) {
  Service service(argc > 1 && atoi(argv[1]) == 1);
  std::thread server([&] { service.serve(); });
  std::vector<double> totals(clients * 16);
  std::vector<std::thread> all;
  for (int k = 0; k < clients; k++)
    all.emplace_back([&, k] {
      for (int j = 0; j < requests; j++) totals[k * 16] += service.ask(static_cast<uint64_t>(k * requests + j));
    });
  for (auto &one : all) one.join();
  service.close();
  server.join();
  double sum = 0;
  for (const double one : totals) sum += one;
  printf("%.2f\\n", sum);
}
`;
const stock = `// A client asks a service for the stock of articles, by connections of two threads: a request is
// sent in two parts, head and body, each by a call of its own; with 1, both in one call.
#include <arpa/inet.h>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {
constexpr int clients = 2, requests = 40;

struct Head {
  uint32_t kind, bytes;
};

void fail(const char *what) {
  perror(what);
  exit(2);
}

void receive(int socket, void *into, size_t bytes) {
  char *at = static_cast<char *>(into);
  while (bytes > 0) {
    const ssize_t got = recv(socket, at, bytes, 0);
    if (got <= 0) pthread_exit(nullptr);
    at += got, bytes -= static_cast<size_t>(got);
  }
}

void transmit(int socket, const void *from, size_t bytes) {
  if (send(socket, from, bytes, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes)) fail("send");
}

int stock_of(const std::string &article, int rounds) {
  uint64_t hash = 14695981039346656037u;
  for (int k = 0; k < rounds; k++)
    for (const char letter : article) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211u;
  return static_cast<int>(hash % 1000);
}

void answer(int socket) {
  for (;;) {
    Head head;
    receive(socket, &head, sizeof head);
    std::string article(head.bytes, ' ');
    receive(socket, &article[0], head.bytes);
    const int stock = stock_of(article, 100000);
    transmit(socket, &stock, sizeof stock);
  }
}

int ask(int socket, const std::string &article, bool together) {
  const Head head{1, static_cast<uint32_t>(article.size())};
  if (together) {
    std::string both(reinterpret_cast<const char *>(&head), sizeof head);
    both += article;
    transmit(socket, both.data(), both.size());
  } else {
    transmit(socket, &head, sizeof head);
    transmit(socket, article.data(), article.size());
  }
  int stock;
  receive(socket, &stock, sizeof stock);
  return stock;
}

int connected(const sockaddr_in &to) {
  const int made = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(made, reinterpret_cast<const sockaddr *>(&to), sizeof to) < 0) fail("connect");
  return made;
}
} // namespace

int main(int argc, char **argv) {
  const bool together = argc > 1 && atoi(argv[1]) == 1;
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof here;
  if (bind(listening, reinterpret_cast<sockaddr *>(&here), sizeof here) < 0 || listen(listening, 16) < 0) fail("bind");
  if (getsockname(listening, reinterpret_cast<sockaddr *>(&here), &length) < 0) fail("getsockname");
  std::thread([listening] {
    for (;;) std::thread(answer, accept(listening, nullptr, nullptr)).detach();
  }).detach();
  std::atomic<long> sum{0};
  std::vector<std::thread> all;
  for (int k = 0; k < clients; k++)
    all.emplace_back([&, k] {
      const int socket = connected(here);
      for (int j = 0; j < requests; j++) sum += ask(socket, "article-" + std::to_string(k * requests + j), together);
      close(socket);
    });
  for (auto &one : all) one.join();
  printf("%ld\\n", sum.load());
}
`;
const tracks = `// Distances between tracks of vehicles are computed by two threads: a track is passed by value;
// with 1, by reference.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {
constexpr size_t tracks = 1200, points = 2400;

struct Point {
  double x, y;
};

struct Track {
  std::string vehicle;
  std::vector<Point> points;
};

Point at(const Track &track, size_t index) { return track.points[index % track.points.size()]; }

double distance(const Track &a, const Track &b) {
  double worst = 0;
  for (size_t k = 0; k < a.points.size(); k += 100) {
    const Point p = at(a, k), q = at(b, k + 3);
    worst = std::max(worst, std::hypot(p.x - q.x, p.y - q.y));
  }
  return worst;
}

double between(Track a, Track b) { return distance(a, b); }

double closest(const std::vector<Track> &all, size_t which, bool reference) {
  double best = 1e300;
  for (size_t k = 0; k < all.size(); k++)
    if (k != which) best = std::min(best, reference ? distance(all[which], all[k]) : between(all[which], all[k]));
  return best;
}

std::vector<Track> simulate() {
  std::vector<Track> all;
  uint64_t state = 88172645463325252u;
  for (size_t k = 0; k < tracks; k++) {
    Track track{"vehicle " + std::to_string(k), {}};
    Point now{0, 0};
    for (size_t j = 0; j < points; j++) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      now.x += static_cast<double>(state >> 40) / (1 << 24) - 0.5;
      now.y += static_cast<double>(state >> 20 & 0xfffff) / (1 << 20) - 0.5;
      track.points.push_back(now);
    }
    all.push_back(track);
  }
  return all;
}
} // namespace

int main(int argc, char **argv) {
  const bool reference = argc > 1 && atoi(argv[1]) == 1;
  const std::vector<Track> all = simulate();
  std::vector<double> nearest(tracks);
  std::atomic<size_t> next{0};
  std::vector<std::thread> workers;
  for (int k = 0; k < 2; k++)
    workers.emplace_back([&] {
      for (size_t which; (which = next.fetch_add(1)) < tracks;) nearest[which] = closest(all, which, reference);
    });
  for (auto &one : workers) one.join();
  double sum = 0;
  for (const double one : nearest) sum += one;
  printf("%.6f\\n", sum);
}
`;

export const tenthBatch: readonly Program[] = [
  {
    name: 'cpp-one-condition-for-all',
    language: 'C++',
    kind: 'application',
    needs: ['g++'],
    packages: ['g++'],
    prepare: `${heredoc('replies.cpp', replies)}g++ -O2 -g -pthread -o replies replies.cpp`,
    run: sh('./replies 0'),
    fixed: sh('./replies 1'),
    registered: {
      on,
      cause: 'fifteen of sixteen clients are woken for a reply that is not theirs: one condition variable, notify_all',
      kinds: ['overhead', 'lock-contention', 'dependency', 'oversubscription'],
      subject: /answered|notify_all|condition|wak|woken|ask/i,
      fix: 'a condition variable for each request',
    },
  },
  {
    name: 'cpp-two-small-sends',
    language: 'C++',
    kind: 'server',
    needs: ['g++'],
    packages: ['g++'],
    prepare: `${heredoc('stock.cpp', stock)}g++ -O2 -g -pthread -o stock stock.cpp`,
    run: sh('./stock 0'),
    fixed: sh('./stock 1'),
    registered: {
      on,
      cause: 'head and body of a request are sent apart: the second waits until the first is acknowledged, after 40 ms',
      kinds: ['io', 'dependency', 'pipeline'],
      subject: /recv|send|receive|transmit|socket|network|connection/i,
      fix: 'one call for both',
    },
  },
  {
    name: 'cpp-track-by-value',
    language: 'C++',
    kind: 'application',
    needs: ['g++'],
    packages: ['g++'],
    prepare: `${heredoc('tracks.cpp', tracks)}g++ -O2 -g -pthread -o tracks tracks.cpp`,
    run: sh('./tracks 0'),
    fixed: sh('./tracks 1'),
    registered: {
      on,
      cause: 'two tracks of 38 kB are copied for each of 1.4 million distances',
      kinds: ['optimize', 'kernel', 'overhead'],
      subject: /between|Track|memcpy|memmove|malloc|copy|closest|vector/i,
      fix: 'by reference',
    },
  },
];
