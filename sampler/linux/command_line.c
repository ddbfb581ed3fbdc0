/* See command_line.h. */
#include "command_line.h"

#include <stdio.h>
#include <string.h>

/* Length of the title that the process gave itself in place of its command line (setproctitle): it fills the rest with
 * zeros, which would be empty words, or with spaces. 0: it is a command line. */
static size_t title_length(const char *words, size_t bytes) {
  size_t first = strlen(words), filled = first, length = first;
  while (filled < bytes && !words[filled]) filled++;
  if (filled < bytes) return 0;
  while (length && words[length - 1] == ' ') length--;
  return bytes > first + 2 || length < first ? length : 0;
}

size_t qzi_command_text(const char *words, size_t bytes, char text[QZI_COMMAND_LINE]) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=+:,@%^";
  size_t used = title_length(words, bytes);
  memcpy(text, words, used);
  if (used) return used;
  for (size_t at = 0; at < bytes; at += strlen(words + at) + 1) {
    const char *word = words + at;
    if (used) text[used++] = ' ';
    if (*word && strspn(word, plain) == strlen(word)) {
      used += (size_t)sprintf(text + used, "%s", word);
      continue;
    }
    text[used++] = '\'';
    for (; *word; word++) {
      if (*word == '\'')
        used += (size_t)sprintf(text + used, "'\\''");
      else
        text[used++] = *word;
    }
    text[used++] = '\'';
  }
  return used;
}

size_t qzi_command_line(pid_t pid, char text[QZI_COMMAND_LINE]) {
  char name[64], words[QZI_COMMAND_WORDS];
  snprintf(name, sizeof name, "/proc/%ld/cmdline", (long)pid);
  FILE *file = fopen(name, "re");
  size_t bytes = file ? fread(words, 1, sizeof words - 1, file) : 0;
  if (file) fclose(file);
  words[bytes] = 0;
  return qzi_command_text(words, bytes, text);
}
