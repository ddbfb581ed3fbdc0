/* How long this command takes beside the program that it starts: whoever times the command times this, too.
 *
 * Owns:    when the command began. Writer: main, once. Reader: the control thread.
 */
#ifndef QZI_COMMAND_TIME_H
#define QZI_COMMAND_TIME_H

#include <stdint.h>

/* To be called by main, before anything else. Makes no system call. */
void qzi_command_begins(void);
/* Adds what the process had done before main(). To be called where system calls are known to be allowed
 * (rehearsal.h). */
void qzi_command_add_start(void);
/* Time from the begin of the command until `launch_ns`, when it started the program. */
uint64_t qzi_command_before_ns(uint64_t launch_ns);

#endif
