/* The procedures that the program's loops call, for poll_loop.h: procedures of the program by their code; clocks and
 * yields of libraries by name.
 *
 * Owns:    nothing. Reader of the program's memory and of its symbols.
 * Must not: follow code of libraries that the system installed; classify any other of their procedures.
 */
#ifndef QZI_LOOP_CALLEES_H
#define QZI_LOOP_CALLEES_H

#include "sampler/callpath/call_path.h"
#include "sampler/machine_code/loops/poll_loop.h"

/* As described for struct qzi_callees; context: struct qzi_paths. */
enum qzi_callee qzi_callee_look(void *context, uint64_t target, uint64_t back, struct qzi_code *code,
                                unsigned char *bytes);

#endif
