/* The name of a profile, and which file it may replace.
 *
 * Owns:    patterns of names, the rules for a program's rank and job, and when a name belongs to another recording.
 * Must not: read a profile's contents.
 *
 * A name is made from a pattern: %n program, %r rank, %h host, %p process, %j job, %% a per cent sign. If the program
 * has a rank among others and the pattern has neither %r nor %p, the rank is inserted before the extension. A pattern
 * that is a directory stands for the default name in it. For one thread at a time.
 */
#ifndef QZI_FILE_NAME_H
#define QZI_FILE_NAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Which files of the same name may be replaced: never one that a living recording writes, and otherwise only these. */
struct qzi_replaceable {
  int any;            /* 1: all files */
  uint64_t before_ns; /* files last written before this time, CLOCK_REALTIME */
  dev_t device;       /* the file that had the name when recording was requested, unless it was written since */
  ino_t file;         /* 0: there was none */
  uint64_t written_ns;
};

/* Returns 0, or -1 if an unknown letter follows a per cent sign in the pattern; *letter: which. */
int qzi_name_check(const char *pattern, char *letter);
/* The pattern of the default name in the directory that the pattern names: it ends in a slash, or there is such a
 * directory; the caller may free it. Otherwise, or without memory, the pattern itself. */
const char *qzi_name_in_directory(const char *pattern);
/* Makes the directory of the name if only that one is missing. */
void qzi_name_make_directory(const char *name);
/* 1: the name depends on the process, so it can't be determined before the process exists. */
int qzi_name_wants_pid(const char *pattern);

/* Makes the name of the profile of process `pid`, which runs `program`. `pattern` NULL: %n.quartz. `launched`: the
 * process that was requested; all others get -PID, unless %p or their own rank distinguishes them. Returns 0, or -1 if
 * the name is too long. */
int qzi_name_make(char *name, size_t bytes, const char *pattern, const char *program, pid_t pid, pid_t launched);
/* Offset of the extension; of the end of the name if it has none. */
size_t qzi_name_stem(const char *name);
/* Inserts text before the extension. Returns 0, or -1 if there is no room. */
int qzi_name_insert(char *name, size_t bytes, const char *text);
/* 1 + the process's rank among others; 0: none. */
uint32_t qzi_name_rank(pid_t pid);
/* 1: the process got a rank from its launcher (mpiexec), and we have none, or another one. */
int qzi_name_ranked(pid_t pid);
/* The last component of the path of a process's executable; "program" if that can't be read. */
void qzi_name_of_program(char *name, size_t bytes, pid_t pid);

/* What a recording that begins now under that name may replace (NULL: the name is not known yet). */
struct qzi_replaceable qzi_replaceable_now(const char *name);
/* Renames `work`, whose time becomes that of now, to *name. If a file with that name must not be replaced, a number
 * from 2 on is inserted before the extension, and *name is freed and set to the new name. The file with descriptor
 * `own` may always be replaced. Returns 0, or -1 with errno; then `work` keeps its name. */
int qzi_name_take(char **name, const char *work, const struct qzi_replaceable *may, int own);
/* Renames the file `from` to `name` with -PID before its extension, followed by a number if that is taken. `aside`
 * receives the new name. Returns 0, or -1. */
int qzi_name_aside(char *aside, size_t bytes, const char *from, pid_t pid);

#endif
