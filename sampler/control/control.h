/* The control thread: starts programs or attaches to them, accepts connections, notices their end, reads their memory
 * maps, handles signals.
 *
 * Owns:    the recordings of this process.
 * Writer and reader: the main thread.
 * Must not: sample.
 */
#ifndef QZI_CONTROL_H
#define QZI_CONTROL_H

#include "options.h"

/* Both return the exit status of quartz-sampler (docs/architecture.md). */
int qzi_record(const struct qzi_options *options);
int qzi_attach(struct qzi_options *options); /* sets recording.outside */
int qzi_plain_run(const struct qzi_options *options);
int qzi_tree_run(const struct qzi_options *options);

#endif
