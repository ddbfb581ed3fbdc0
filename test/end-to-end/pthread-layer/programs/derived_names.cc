/* Names that the program does not give: of threads by what they run, of locks by the part of a variable; and one given
 * by prctl. */
#include <mutex>
#include <pthread.h>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>
#include <vector>

struct Cell {
  int uses;
  struct {
    pthread_mutex_t lock;
  } inner;
};
static struct {
  long size;
  std::mutex lock;
} cache;
static Cell table[8];

static void hold() {
  for (int k = 0; k < 20; k++) {
    std::lock_guard<std::mutex> guard(cache.lock);
    usleep(2000);
  }
  for (int k = 0; k < 20; k++) {
    pthread_mutex_lock(&table[3].inner.lock);
    usleep(2000);
    pthread_mutex_unlock(&table[3].inner.lock);
  }
}
static void plain(int, double) { hold(); }
struct Server {
  void serve(int) { hold(); }
};

int main() {
  Server server;
  std::vector<std::thread> threads;
  threads.emplace_back(plain, 1, 2.0);
  threads.emplace_back(&Server::serve, &server, 3);
  threads.emplace_back([] { hold(); });
  threads.emplace_back([] {
    prctl(PR_SET_NAME, "by-prctl");
    hold();
  });
  for (auto &thread : threads) thread.join();
}
