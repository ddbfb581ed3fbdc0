/* What a profile is called, and which file it may replace.
 *
 * Owns:    the patterns of names, how a program's rank and job are known, when a name is another recording's.
 * Must not: open a profile's contents.
 *
 * A name is made of a pattern: %n program, %r rank, %h host, %p process, %j job, %% a per cent sign. Where the program
 * has a rank among others and the pattern has neither %r nor %p, the rank is put before the extension. Any one thread.
 */
#ifndef QZI_FILE_NAME_H
#define QZI_FILE_NAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Which file of the same name may be replaced: never one that a living recording writes, and no other than these. */
struct qzi_replaceable {
  int any;            /* 1: all */
  uint64_t before_ns; /* those that were written last before this, CLOCK_REALTIME */
  dev_t device;       /* the one that had the name when recording was asked for, if it was not written to since */
  ino_t file;         /* 0: there was none */
  uint64_t written_ns;
};

/* 0, or -1: the pattern has an unknown letter after a per cent sign, which is returned in *letter. */
int qzi_name_check(const char *pattern, char *letter);
/* 1: the name cannot be determined before the process is known. */
int qzi_name_wants_pid(const char *pattern);

/* The name of the profile of process `pid`, which runs `program`. `pattern` NULL: %n.quartz. `launched`: it is the one
 * that was asked for; NULL or the process that was: others get -PID, too, unless %p or a rank of their own
 * distinguishes them. 0, or -1: too long. */
int qzi_name_make(char *name, size_t bytes, const char *pattern, const char *program, pid_t pid, pid_t launched);
/* Offset of the extension, or of the name's end where it has none. */
size_t qzi_name_stem(const char *name);
/* Puts text before the extension. 0, or -1: no room. */
int qzi_name_insert(char *name, size_t bytes, const char *text);
/* 1 + the rank that the process has among others, 0: none. */
uint32_t qzi_name_rank(pid_t pid);
/* 1: the process has a rank among others, which its launcher (mpiexec) gave it: we have none, or another one. */
int qzi_name_ranked(pid_t pid);
/* The last part of the path of a process's executable; "program" where that can't be read. */
void qzi_name_of_program(char *name, size_t bytes, pid_t pid);

/* What may be replaced by a recording that begins now under that name (NULL: not known yet). */
struct qzi_replaceable qzi_replaceable_now(const char *name);
/* Renames `work` to *name, or to that with a number (from 2 on) before its extension, where *name is not to be
 * replaced; *name is then freed and set again. With `own` the file of that descriptor may be replaced, whatever the
 * rest says. 0, or -1 and errno: `work` is as it was. */
int qzi_name_take(char **name, const char *work, const struct qzi_replaceable *may, int own);
/* Renames the file `from` to `name` with -PID before its extension, and a number where that is taken. `aside`: its name
 * then. 0, or -1. */
int qzi_name_aside(char *aside, size_t bytes, const char *from, pid_t pid);

#endif
