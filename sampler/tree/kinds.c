/* Kinds of processes, and what is kept of single processes. See tree.h. */
#include <stdio.h>
#include <string.h>
#include "tree_parts.h"

#define SHORT_NS 100000000u /* ns: a process that lives for less counts as short */

uint32_t qzi_tree_kind_of(struct qzi_tree *tree, const char *name, uint32_t forked) {
  for (uint32_t k = 0; k < tree->kind_count; k++)
    if (tree->kinds[k].forked == forked && !strcmp(tree->kinds[k].name, name)) return k;
  if (tree->kind_count == QZI_TREE_KINDS) return QZI_TREE_KINDS - 1;
  struct qzi_tree_kind *kind = &tree->kinds[tree->kind_count];
  int last = tree->kind_count == QZI_TREE_KINDS - 1;
  snprintf(kind->name, sizeof kind->name, "%s", last ? "" : name);
  kind->forked = last ? 0 : forked;
  return tree->kind_count++;
}

void qzi_tree_enter_kind(struct qzi_tree *tree, struct qzi_tree_process *process, uint32_t kind) {
  process->kind = kind;
  process->kind_run_ns = 0;
  tree->kinds[kind].processes++;
}

void qzi_tree_became(struct qzi_tree *tree, struct qzi_tree_process *process, uint32_t kind) {
  struct qzi_tree_kind *before = &tree->kinds[process->kind];
  before->became++;
  before->became_ns += process->kind_run_ns;
  qzi_tree_enter_kind(tree, process, kind);
}

void qzi_tree_name_root(struct qzi_tree *tree, const struct qzi_tree_process *root, const char *name) {
  struct qzi_tree_kind *kind = &tree->kinds[root->kind];
  snprintf(kind->name, sizeof kind->name, "%s", name);
}

void qzi_tree_rename(struct qzi_tree *tree, struct qzi_tree_process *process, const char *name) {
  uint32_t kind = qzi_tree_kind_of(tree, name, tree->kinds[process->kind].forked);
  if (kind == process->kind) return;
  for (struct qzi_tree_thread *thread = tree->all; thread; thread = thread->next_all)
    if (thread->process == process) qzi_tree_chain_on(tree, thread);
  struct qzi_tree_kind *before = &tree->kinds[process->kind];
  if (before->processes) before->processes--; /* it counts as one of the new kind from its beginning */
  qzi_tree_enter_kind(tree, process, kind);
}

void qzi_tree_leave_kind(struct qzi_tree *tree, struct qzi_tree_process *process) {
  struct qzi_tree_kind *kind = &tree->kinds[process->kind];
  uint64_t ns = process->kind_run_ns;
  if (!kind->ended || ns < kind->least_ns) kind->least_ns = ns;
  if (ns > kind->most_ns) kind->most_ns = ns;
  kind->ended++;
  if (process->end_ns - process->begin_ns >= SHORT_NS) return;
  kind->short_count++;
  kind->short_ns += ns;
}

void qzi_tree_keep(struct qzi_tree *tree, const struct qzi_tree_process *process) {
  struct qzi_tree_process *place = NULL;
  if (tree->kept_count < QZI_TREE_KEPT) {
    place = &tree->kept[tree->kept_count++];
  } else {
    place = tree->kept;
    for (unsigned k = 1; k < QZI_TREE_KEPT; k++)
      if (tree->kept[k].npt_ns < place->npt_ns) place = &tree->kept[k];
    if (place->npt_ns >= process->npt_ns) return;
  }
  *place = *process;
  place->child_chain = NULL;
  place->next = NULL;
}

/* ---- children that live at the same time ---- */

static void family_to(struct qzi_tree_family *family, uint64_t now_ns) {
  if (family->children)
    family->ns[family->alive < QZI_TREE_BESIDE ? family->alive : QZI_TREE_BESIDE] += now_ns - family->since_ns;
  family->since_ns = now_ns;
}

void qzi_tree_family_on(struct qzi_tree *tree, struct qzi_tree_process *parent, int by, uint32_t child_kind) {
  struct qzi_tree_family *family = &parent->family;
  family_to(family, tree->now_ns);
  if (by > 0) {
    family->children++;
    if (++family->alive > family->most) family->most = family->alive;
  } else {
    family->alive -= family->alive > 0;
    family->child_kind = child_kind;
  }
}

static uint64_t time_with(const struct qzi_tree_family *family) {
  uint64_t ns = 0;
  for (unsigned k = 1; k <= QZI_TREE_BESIDE; k++) ns += family->ns[k];
  return ns;
}

void qzi_tree_family_end(struct qzi_tree *tree, struct qzi_tree_process *parent) {
  struct qzi_tree_family *family = &parent->family, *place = NULL;
  family_to(family, tree->now_ns);
  if (!family->children) return;
  family->pid = parent->pid;
  family->kind = parent->kind;
  if (tree->family_count < QZI_TREE_FAMILIES) {
    place = &tree->families[tree->family_count++];
  } else {
    place = tree->families;
    for (unsigned k = 1; k < QZI_TREE_FAMILIES; k++)
      if (time_with(&tree->families[k]) < time_with(place)) place = &tree->families[k];
    if (time_with(place) >= time_with(family)) return;
  }
  *place = *family;
}
