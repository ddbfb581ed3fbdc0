/* quartz-sampler: records a program into a profile. Works without Node. */
#include "sampler/control/control.h"

int main(int argc, char **argv) {
  struct qzi_options options;
  int parsed = qzi_options_parse(&options, argc, argv);
  if (parsed) return parsed < 0 ? 2 : 0;
  return options.attach ? qzi_attach(&options) : qzi_record(&options);
}
