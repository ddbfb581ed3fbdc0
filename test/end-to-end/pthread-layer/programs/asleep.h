/* Detects that another thread of this process sleeps, since on a loaded machine it may begin late. C++. */
#ifndef TEST_ASLEEP_H
#define TEST_ASLEEP_H
#include <stdio.h>
#include <unistd.h>

/* Waits until the kernel thread of that number (0 as long as it has not reported it) sleeps, in two consecutive checks,
 * because it may sleep for a moment on its way. */
template <typename Number> static void until_asleep(const Number &tid) {
  for (int looks = 0; looks < 2; usleep(5000)) {
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", static_cast<int>(tid));
    FILE *file = tid ? fopen(path, "r") : NULL;
    if (file) {
      if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 0;
      fclose(file);
    }
    looks = state == 'S' ? looks + 1 : 0;
  }
}
#endif
