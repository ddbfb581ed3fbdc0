/* Loads a profile, checks the invariants, and prints what it holds: profile_check FILE [status [end_reason
 * [exit_status]]]. Exit 0 if all is right and the head says what was expected. */
#include "invariants.h"

static void print_path(const struct qz_profile_copy *profile, uint32_t node) {
  if (!node) return;
  print_path(profile, profile->stacks[node].parent);
  const struct qz_entity *e = &profile->entities[profile->stacks[node].entity];
  const char *name = qz_profile_string(profile, e->name);
  if (*name)
    printf("/%s", name);
  else
    printf("/%u:%llx", e->kind, (unsigned long long)e->address);
}

int main(int argc, char **argv) {
  struct qz_profile_copy profile;
  char why[256];
  if (argc < 2) return 2;
  if (qz_profile_load(&profile, argv[1], why, sizeof why)) {
    fprintf(stderr, "%s: %s\n", argv[1], why);
    return 1;
  }
  const struct qz_profile *h = &profile.head;
  printf("status %u end %u exit %d P %u snapshots %llu elapsed %llu torn %llu/%llu skipped %llu invalid %llu\n",
         h->status, h->end_reason, h->exit_status, h->processors, (unsigned long long)h->snapshots,
         (unsigned long long)h->elapsed_ns, (unsigned long long)h->torn_retries, (unsigned long long)h->torn_accepted,
         (unsigned long long)h->skipped_ticks, (unsigned long long)h->invalid);
  printf("program %s; arguments %s; host %s\n", qz_profile_string(&profile, h->program),
         qz_profile_string(&profile, h->arguments), qz_profile_string(&profile, h->host));
  for (size_t k = 0; k < profile.tuples_count && k < 60; k++) {
    const struct qz_tuple *t = &profile.tuples[k];
    printf("tuple state %u b %u s %u r %u w %u torn %u n %llu ms %.2f thread %u ", t->state, t->busy, t->spinning,
           t->runnable, t->waiting, t->torn, (unsigned long long)t->count, (double)t->ns / 1e6, t->thread);
    print_path(&profile, t->stack);
    putchar('\n');
  }
  for (size_t k = 1; k < profile.entities_count && k < 60; k++) {
    const struct qz_entity *e = &profile.entities[k];
    printf("entity %zu kind %u %s %s:%u module %u instances %u %s\n", k, e->kind, qz_profile_string(&profile, e->name),
           qz_profile_string(&profile, e->file), e->line, e->module, e->instances,
           qz_profile_string(&profile, e->detail));
  }
  for (size_t k = 0; k < profile.objects_count && k < 20; k++)
    printf("object %u acquisitions %llu contended %llu wait %.2f observed %.2f queue %.2f\n", profile.objects[k].entity,
           (unsigned long long)profile.objects[k].acquisitions, (unsigned long long)profile.objects[k].contended,
           (double)profile.objects[k].wait_ns / 1e6, (double)profile.objects[k].observed_ns / 1e6,
           (double)profile.objects[k].queue_length_ns / 1e6);
  for (size_t k = 0; k < profile.calls_count && k < 20; k++)
    printf("calls %u -> %u: %llu\n", profile.calls[k].caller, profile.calls[k].callee,
           (unsigned long long)profile.calls[k].count);
  check_invariants(&profile);
  if (argc > 2) HOLDS(h->status == (uint32_t)atoi(argv[2]), "status %u", h->status);
  if (argc > 3) HOLDS(h->end_reason == (uint32_t)atoi(argv[3]), "end reason %u", h->end_reason);
  if (argc > 4) HOLDS(h->exit_status == atoi(argv[4]), "exit status %d", h->exit_status);
  qz_profile_unload(&profile);
  return invariant_failures != 0;
}
