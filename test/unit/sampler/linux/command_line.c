/* Command lines as text for a shell; titles in place of them. */
#include "sampler/linux/command_line.h"

#include <string.h>
#include <unistd.h>
#include "test/support/check.h"

/* A string constant with zeros in it; the last one is not a byte of it. */
#define WORDS(text) text, sizeof text - 1

int main(void) {
  const struct {
    const char *words;
    size_t bytes;
    const char *text;
  } examples[] = {
    {WORDS(""), ""},
    {WORDS("prog\0"), "prog"},
    {WORDS("prog\0-n\0"
           "3\0"),
     "prog -n 3"},
    {WORDS("prog\0a b\0it's\0"), "prog 'a b' 'it'\\''s'"},
    {WORDS("prog\0\0"), "prog ''"},
    {WORDS("prog\0\0\0last\0"), "prog '' '' last"},
    {WORDS("server: worker 3\0\0\0\0\0\0"), "server: worker 3"},
    {WORDS("server: idle      \0"), "server: idle"},
    {WORDS("cut in a wo"), "'cut in a wo'"},
    {WORDS("\0\0\0"), "'' '' ''"},
  };
  char text[QZI_COMMAND_LINE];
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
    size_t length = qzi_command_text(examples[k].words, examples[k].bytes, text);
    CHECK_IS(length, strlen(examples[k].text));
    CHECK(!memcmp(text, examples[k].text, length));
  }
  /* The longest text: each byte is a quotation mark. */
  char most[QZI_COMMAND_WORDS];
  memset(most, '\'', sizeof most);
  most[sizeof most - 1] = 0;
  CHECK(qzi_command_text(most, sizeof most - 1, text) <= sizeof text);
  CHECK(qzi_command_line(getpid(), text) > 0);
  CHECK_IS(qzi_command_line(0x7ffffffe, text), 0);
  return 0;
}
