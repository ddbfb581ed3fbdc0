/* The control thread: starts or attaches, admits programs, sees them end, reads their maps, obeys signals.
 *
 * Owns:    the recordings of this process. Writer and reader: the main thread.
 * Must not: sample.
 */
#ifndef QZI_CONTROL_H
#define QZI_CONTROL_H

#include "options.h"

/* All return the exit status of quartz-sampler (docs/architecture.md). */
int qzi_record(const struct qzi_options *options);
int qzi_attach(struct qzi_options *options); /* sets recording.outside */
int qzi_plain_run(const struct qzi_options *options);
int qzi_tree_run(const struct qzi_options *options);

#endif
