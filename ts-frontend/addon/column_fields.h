/* Which fields of a section's rows become columns, and what JavaScript calls them.
 *
 * Owns:    one list for each table. columns.cc is the only user.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>
#include <abi/profile_read.h>

namespace quartz {

/* A field of a section's rows: its name in JavaScript, its offset, and its number of elements (an array field yields
 * the concatenation of the arrays of all rows). All elements of a column have the same width; 64-bit integers become
 * doubles. */
struct Field {
  const char *name;
  size_t at;
  size_t bytes; /* size of an element */
  size_t times;
};
#define ELEMENT(row, field) std::remove_all_extents_t<decltype(row::field)>
#define FIELD(name, row, field) \
  Field { name, offsetof(row, field), sizeof(ELEMENT(row, field)), sizeof(row::field) / sizeof(ELEMENT(row, field)) }

inline const Field stackFields[] = {FIELD("parent", qz_stack_node, parent), FIELD("entity", qz_stack_node, entity)};
inline const std::vector<Field> tupleFields = {FIELD("stack", qz_tuple, stack),
                                               FIELD("thread", qz_tuple, thread),
                                               FIELD("state", qz_tuple, state),
                                               FIELD("waiting", qz_tuple, waiting),
                                               FIELD("torn", qz_tuple, torn),
                                               FIELD("kernel", qz_tuple, kernel),
                                               FIELD("busy", qz_tuple, busy),
                                               FIELD("spinning", qz_tuple, spinning),
                                               FIELD("runnable", qz_tuple, runnable),
                                               FIELD("count", qz_tuple, count),
                                               FIELD("ns", qz_tuple, ns),
                                               FIELD("runnableNs", qz_tuple, runnable_ns)};
inline const Field balanceFields[] = {FIELD("busy", qz_balance, busy),
                                      FIELD("spinning", qz_balance, spinning),
                                      FIELD("runnable", qz_balance, runnable),
                                      FIELD("overheadNs", qz_balance, overhead_ns),
                                      FIELD("count", qz_balance, count),
                                      FIELD("ns", qz_balance, ns),
                                      FIELD("runnableNs", qz_balance, runnable_ns)};
inline const std::vector<Field> objectFields = {
  FIELD("entity", qz_object_stats, entity),          FIELD("capacity", qz_object_stats, capacity),
  FIELD("instances", qz_object_stats, instances),    FIELD("acquisitions", qz_object_stats, acquisitions),
  FIELD("contended", qz_object_stats, contended),    FIELD("waitNs", qz_object_stats, wait_ns),
  FIELD("waitMaxNs", qz_object_stats, wait_max_ns),  FIELD("spinNs", qz_object_stats, spin_ns),
  FIELD("holdNs", qz_object_stats, hold_ns),         FIELD("holdMaxNs", qz_object_stats, hold_max_ns),
  FIELD("observedNs", qz_object_stats, observed_ns), FIELD("queueLengthNs", qz_object_stats, queue_length_ns),
  FIELD("queueNs", qz_object_stats, queue_ns),       FIELD("waitHist", qz_object_stats, wait_hist),
  FIELD("holdHist", qz_object_stats, hold_hist)};
inline const Field blameFields[] = {FIELD("object", qz_blame, object), FIELD("stack", qz_blame, stack),
                                    FIELD("thread", qz_blame, thread), FIELD("count", qz_blame, count),
                                    FIELD("ns", qz_blame, ns)};
inline const Field waitOverlapFields[] = {
  FIELD("object", qz_wait_overlap, object), FIELD("stack", qz_wait_overlap, stack),
  FIELD("thread", qz_wait_overlap, thread), FIELD("count", qz_wait_overlap, count),
  FIELD("ns", qz_wait_overlap, ns),         FIELD("waitersNs", qz_wait_overlap, waiters_ns)};
inline const Field onPathFields[] = {FIELD("stack", qz_on_path, stack),     FIELD("thread", qz_on_path, thread),
                                     FIELD("object", qz_on_path, object),   FIELD("state", qz_on_path, state),
                                     FIELD("arrival", qz_on_path, arrival), FIELD("inferred", qz_on_path, inferred),
                                     FIELD("count", qz_on_path, count),     FIELD("ns", qz_on_path, ns)};
inline const Field segmentFields[] = {
  FIELD("startNs", qz_path_segment, start_ns), FIELD("ns", qz_path_segment, ns),
  FIELD("stack", qz_path_segment, stack),      FIELD("thread", qz_path_segment, thread),
  FIELD("object", qz_path_segment, object),    FIELD("state", qz_path_segment, state),
  FIELD("arrival", qz_path_segment, arrival),  FIELD("inferred", qz_path_segment, inferred),
  FIELD("came", qz_path_segment, came),        FIELD("by", qz_path_segment, by),
  FIELD("joined", qz_path_segment, joined)};
inline const Field recentPathFields[] = {
  FIELD("number", qz_recent_path, number), FIELD("startNs", qz_recent_path, start_ns),
  FIELD("ns", qz_recent_path, ns),         FIELD("undecidedNs", qz_recent_path, undecided_ns),
  FIELD("cutNs", qz_recent_path, cut_ns),  FIELD("first", qz_recent_path, first),
  FIELD("count", qz_recent_path, count)};
inline const Field instructionFields[] = {
  FIELD("address", qz_instruction, address), FIELD("procedure", qz_instruction, procedure),
  FIELD("count", qz_instruction, count),     FIELD("ns", qz_instruction, ns),
  FIELD("nptPs", qz_instruction, npt_ps),    FIELD("spinNs", qz_instruction, spin_ns)};
inline const Field sliceFields[] = {FIELD("startNs", qz_slice, start_ns), FIELD("ns", qz_slice, ns),
                                    FIELD("thread", qz_slice, thread),    FIELD("stack", qz_slice, stack),
                                    FIELD("state", qz_slice, state),      FIELD("waiting", qz_slice, waiting)};
inline const Field unwindingFields[] = {
  FIELD("walks", qz_unwinding, walks),
  FIELD("noRule", qz_unwinding, cut[QZ_CUT_NO_RULE]),
  FIELD("wrong", qz_unwinding, cut[QZ_CUT_WRONG]),
  FIELD("memory", qz_unwinding, cut[QZ_CUT_MEMORY]),
  FIELD("generated", qz_unwinding, cut[QZ_CUT_GENERATED]),
  FIELD("later", qz_unwinding, cut[QZ_CUT_LATER]),
  FIELD("deep", qz_unwinding, cut[QZ_CUT_DEEP]),
  FIELD("tableValid", qz_unwinding, steps[QZ_UNWOUND_BY_TABLE][QZ_LINK_VALID]),
  FIELD("tableLikely", qz_unwinding, steps[QZ_UNWOUND_BY_TABLE][QZ_LINK_LIKELY]),
  FIELD("tableInvalid", qz_unwinding, steps[QZ_UNWOUND_BY_TABLE][QZ_LINK_INVALID]),
  FIELD("codeValid", qz_unwinding, steps[QZ_UNWOUND_BY_CODE][QZ_LINK_VALID]),
  FIELD("codeLikely", qz_unwinding, steps[QZ_UNWOUND_BY_CODE][QZ_LINK_LIKELY]),
  FIELD("codeInvalid", qz_unwinding, steps[QZ_UNWOUND_BY_CODE][QZ_LINK_INVALID]),
  FIELD("pointerValid", qz_unwinding, steps[QZ_UNWOUND_BY_POINTER][QZ_LINK_VALID]),
  FIELD("pointerLikely", qz_unwinding, steps[QZ_UNWOUND_BY_POINTER][QZ_LINK_LIKELY]),
  FIELD("pointerInvalid", qz_unwinding, steps[QZ_UNWOUND_BY_POINTER][QZ_LINK_INVALID])};
inline const Field countedFields[] = {FIELD("stack", qz_counted, stack), FIELD("counter", qz_counted, counter),
                                      FIELD("amount", qz_counted, amount)};
inline const Field messageFields[] = {FIELD("postedNs", qz_message_event, posted_ns),
                                      FIELD("beginNs", qz_message_event, begin_ns),
                                      FIELD("ns", qz_message_event, ns),
                                      FIELD("communicator", qz_message_event, communicator),
                                      FIELD("number", qz_message_event, number),
                                      FIELD("peer", qz_message_event, peer),
                                      FIELD("tag", qz_message_event, tag),
                                      FIELD("kind", qz_message_event, kind),
                                      FIELD("call", qz_message_event, call),
                                      FIELD("thinning", qz_message_event, thinning)};
inline const Field cpuLimitFields[] = {FIELD("online", qz_cpu_limits, online),
                                       FIELD("allowed", qz_cpu_limits, allowed),
                                       FIELD("quotaMilli", qz_cpu_limits, quota_milli),
                                       FIELD("fewest", qz_cpu_limits, fewest),
                                       FIELD("periods", qz_cpu_limits, periods),
                                       FIELD("throttledPeriods", qz_cpu_limits, throttled_periods),
                                       FIELD("throttledNs", qz_cpu_limits, throttled_ns),
                                       FIELD("confinedNs", qz_cpu_limits, confined_ns),
                                       FIELD("confinedSavingNs", qz_cpu_limits, confined_saving_ns),
                                       FIELD("confinedWaitNs", qz_cpu_limits, confined_wait_ns),
                                       FIELD("realtime", qz_cpu_limits, realtime),
                                       FIELD("outranked", qz_cpu_limits, outranked),
                                       FIELD("rounds", qz_cpu_limits, rounds),
                                       FIELD("roundsNs", qz_cpu_limits, rounds_ns),
                                       FIELD("tasksNs", qz_cpu_limits, tasks_ns),
                                       FIELD("commandNs", qz_cpu_limits, command_ns),
                                       FIELD("asleepNs", qz_cpu_limits, asleep_ns)};
inline const Field onSpanFields[] = {FIELD("stack", qz_on_span, stack), FIELD("thread", qz_on_span, thread),
                                     FIELD("count", qz_on_span, count), FIELD("ns", qz_on_span, ns)};
inline const Field siteFields[] = {FIELD("site", qz_span_site, site),
                                   FIELD("start", qz_span_site, start),
                                   FIELD("caller", qz_span_site, caller),
                                   FIELD("count", qz_span_site, count),
                                   FIELD("workNs", qz_span_site, work_ns),
                                   FIELD("spanNs", qz_span_site, span_ns),
                                   FIELD("topCount", qz_span_site, top_count),
                                   FIELD("topWorkNs", qz_span_site, top_work_ns),
                                   FIELD("topSpanNs", qz_span_site, top_span_ns),
                                   FIELD("merges", qz_span_site, merges),
                                   FIELD("merged", qz_span_site, merged),
                                   FIELD("lost", qz_span_site, lost),
                                   FIELD("slackNs", qz_span_site, slack_ns),
                                   FIELD("leastSlackNs", qz_span_site, least_slack_ns),
                                   FIELD("line", qz_span_site, line)};
inline const Field levelFields[] = {FIELD("ns", qz_level, ns)};
inline const Field callFields[] = {FIELD("site", qz_call_edge, site), FIELD("caller", qz_call_edge, caller),
                                   FIELD("callee", qz_call_edge, callee), FIELD("count", qz_call_edge, count)};
inline const Field timelineFields[] = {FIELD("startNs", qz_timeline, start_ns),
                                       FIELD("ns", qz_timeline, ns),
                                       FIELD("usefulNs", qz_timeline, useful_ns),
                                       FIELD("overheadNs", qz_timeline, overhead_ns),
                                       FIELD("spinningNs", qz_timeline, spinning_ns),
                                       FIELD("idleNs", qz_timeline, idle_ns),
                                       FIELD("runnableNs", qz_timeline, runnable_ns),
                                       FIELD("snapshots", qz_timeline, snapshots),
                                       FIELD("top", qz_timeline, top)};
inline const Field processorFields[] = {
  FIELD("usefulNs", qz_processor_stats, useful_ns), FIELD("overheadNs", qz_processor_stats, overhead_ns),
  FIELD("spinningNs", qz_processor_stats, spinning_ns), FIELD("idleNs", qz_processor_stats, idle_ns)};

inline std::vector<Field> without(const std::vector<Field> &fields, const std::vector<std::string> &names) {
  std::vector<Field> left;
  std::copy_if(fields.begin(), fields.end(), std::back_inserter(left),
               [&](const Field &field) { return std::find(names.begin(), names.end(), field.name) == names.end(); });
  return left;
}

/* The fields of entities that a set of profiles needs (outline). */
inline const Field outlineEntityFields[] = {
  FIELD("kind", qz_entity, kind),       FIELD("name", qz_entity, name),
  FIELD("file", qz_entity, file),       FIELD("line", qz_entity, line),
  FIELD("address", qz_entity, address), FIELD("module", qz_entity, module),
  FIELD("record", qz_entity, record),   FIELD("libraryWait", qz_entity, library_wait),
  FIELD("naming", qz_entity, naming)};
inline const std::vector<Field> outlineTupleFields = without(tupleFields, {"torn", "kernel"});
inline const std::vector<Field> outlineObjectFields =
  without(objectFields, {"capacity", "observedNs", "queueNs", "waitHist", "holdHist"});

#undef FIELD
#undef ELEMENT

} // namespace quartz
