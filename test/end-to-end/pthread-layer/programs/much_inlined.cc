// Ends while the sampler is still reading its debug information, of which the headers of C++'s library produce a lot.
#include <chrono>
#include <cstdlib>
#include <map>
#include <regex>
#include <string>
#include <thread>
#include <vector>

int main(int count, char **arguments) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::milliseconds(count > 1 ? std::atoi(arguments[1]) : 10);
  std::vector<std::string> found;
  std::thread([&] {
    const std::regex digits("[0-9]+a");
    for (unsigned x = 1; clock::now() < end;) {
      std::map<std::string, int> counts;
      for (int k = 0; k < 200; k++) counts[std::to_string(x = x * 48271 % 2147483647)]++;
      for (const auto &one : counts)
        if (std::regex_search(one.first, digits)) found.push_back(one.first);
    }
  }).join();
  return !found.empty();
}
