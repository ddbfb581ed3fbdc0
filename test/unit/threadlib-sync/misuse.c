/* Programs that misuse an object in a way that no error code can report: misuse CASE. Each must stop with one line. */
#include "helpers.h"

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "destroyed-mutex")) {
    static qz_mutex mutex;
    CHECK_IS(qz_mutex_init(&mutex, "gone", QZ_ADAPTIVE), 0);
    CHECK_IS(qz_mutex_destroy(&mutex), 0);
    qz_mutex_lock(&mutex);
  } else if (!strcmp(what, "destroyed-twice")) {
    static qz_sem sem;
    CHECK_IS(qz_sem_init(&sem, "gone", 0), 0);
    CHECK_IS(qz_sem_destroy(&sem), 0);
    qz_sem_destroy(&sem);
  } else if (!strcmp(what, "destroyed-channel")) {
    static qz_channel channel;
    int item = 0;
    CHECK_IS(qz_channel_init(&channel, NULL, sizeof item, 1), 0);
    CHECK_IS(qz_channel_destroy(&channel), 0);
    qz_channel_send(&channel, &item);
  } else if (!strcmp(what, "unlock-foreign")) {
    static qz_mutex mutex;
    CHECK_IS(qz_mutex_init(&mutex, "not mine", QZ_ADAPTIVE), 0);
    int error = qz_mutex_unlock(&mutex);
    if (error) qz_misuse(&mutex, "unlock", error);
  }
  return 3;
}
