/* Creates the clock page. See clock_page.h. */
#include "clock_page.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct qzi_clock_page qzi_clock_page_make(uint64_t wants, const struct qz_what_if *what_if) {
  struct qzi_clock_page made = {.fd = memfd_create("quartz-clock", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  void *at = MAP_FAILED;
  if (made.fd >= 0 && !ftruncate(made.fd, QZ_CLOCK_PAGE_BYTES) &&
      !fcntl(made.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
    at = mmap(NULL, QZ_CLOCK_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, made.fd, 0);
  if (at != MAP_FAILED) {
    made.page = at;
    made.page->wants = wants;
    if (what_if) memcpy(made.page->what_if, what_if, sizeof made.page->what_if);
    return made;
  }
  if (made.fd >= 0) close(made.fd);
  made.fd = -1;
  return made;
}

struct qzi_clock_page qzi_clock_page_again(const struct qzi_clock_page *page) {
  struct qzi_clock_page again = {.fd = page->page ? fcntl(page->fd, F_DUPFD_CLOEXEC, 0) : -1};
  if (again.fd < 0) return again;
  void *at = mmap(NULL, QZ_CLOCK_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, again.fd, 0);
  if (at != MAP_FAILED) {
    again.page = at;
    return again;
  }
  close(again.fd);
  return (struct qzi_clock_page){.fd = -1};
}

void qzi_clock_page_close(struct qzi_clock_page *page) {
  if (page->page) munmap(page->page, QZ_CLOCK_PAGE_BYTES);
  if (page->fd >= 0) close(page->fd);
  *page = (struct qzi_clock_page){.fd = -1};
}
