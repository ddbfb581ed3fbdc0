/* The page by which a program sees that a snapshot has been taken (abi/chains.h, struct qz_clock_page).
 *
 * Owns:    its memory file and mapping.
 * Writer: the aggregating thread. Reader: the program, which maps it read-only.
 * Must not: pass anything else to the program.
 */
#ifndef QZI_CLOCK_PAGE_H
#define QZI_CLOCK_PAGE_H

#include "abi/session.h"

struct qzi_clock_page {
  int fd;                     /* -1: there is no page, so no time path is recorded */
  struct qz_clock_page *page; /* NULL: the same */
};
/* Creates the page. wants: QZ_WANTS_...; what_if: QZ_WHAT_IFS questions, or NULL. */
struct qzi_clock_page qzi_clock_page_make(uint64_t wants, const struct qz_what_if *what_if);
/* Opens the same page for another recording of the same program. */
struct qzi_clock_page qzi_clock_page_again(const struct qzi_clock_page *page);
void qzi_clock_page_close(struct qzi_clock_page *page);

#endif
