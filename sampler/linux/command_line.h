/* The command line of a process, or the title that it gave itself in place of it, as a user reads it.
 *
 * Owns:    nothing.
 * Reader:  the sampler, of /proc/PID/cmdline.
 */
#ifndef QZI_COMMAND_LINE_H
#define QZI_COMMAND_LINE_H

#include <stddef.h>
#include <sys/types.h>

#define QZI_COMMAND_WORDS 4096u                          /* bytes that are read of it */
#define QZI_COMMAND_LINE  (4u * QZI_COMMAND_WORDS + 16u) /* and bytes of its text at most */

/* Writes it to `text`, with words quoted for a shell; a title is written as it is. Returns its length, without a zero
 * at its end; 0: the process has none, or it cannot be read. */
size_t qzi_command_line(pid_t pid, char text[QZI_COMMAND_LINE]);
/* The same of what was read: `bytes` of `words`, at most QZI_COMMAND_WORDS - 1, followed by a zero. */
size_t qzi_command_text(const char *words, size_t bytes, char text[QZI_COMMAND_LINE]);

#endif
