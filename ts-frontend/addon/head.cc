/* The head of a profile, field by field, with enumerations as numbers. scripts/abi-table.js extracts the names from
 * this file. */
#include "profile.h"
#include "row.h"

namespace quartz {

Napi::Object headOf(Napi::Env env, const Profile &profile) {
  const qz_profile &head = profile.copy.head;
  Row out(env);
  out.number("version", head.version);
  out.number("status", head.status);
  out.flag("abandoned", profile.copy.abandoned != 0);
  out.number("endReason", head.end_reason);
  out.number("exitStatus", head.exit_status);
  out.number("publisher", head.publisher);
  out.number("pid", head.pid);
  out.number("samplerPid", head.sampler_pid);
  out.number("processors", head.processors);
  out.number("cpus", head.cpus);
  out.text("program", profile.text(head.program));
  out.text("arguments", profile.text(head.arguments));
  out.text("host", profile.text(head.host));
  out.text("quartzVersion", profile.text(head.version_text));
  out.number("startedRealtimeNs", static_cast<double>(head.started_realtime_ns));
  out.number("firstNs", static_cast<double>(head.first_ns));
  out.flag("pathToExit", head.path_to_exit != 0);
  out.flag("attached", head.attached != 0);
  out.flag("usageKnown", (head.usage_known & QZ_USAGE_TIMES) != 0);
  out.flag("switchesKnown", (head.usage_known & QZ_USAGE_SWITCHES) != 0);
  out.flag("callsKnown", (head.usage_known & QZ_USAGE_CALLS) != 0);
  out.flag("socketsSeen", (head.sockets & QZ_SOCKETS_SEEN) != 0);
  out.flag("listens", (head.sockets & QZ_SOCKETS_LISTENS) != 0);
  out.flag("connected", (head.sockets & QZ_SOCKETS_CONNECTED) != 0);
  out.flag("connectedLocally", (head.sockets & QZ_SOCKETS_LOCAL) != 0);
  out.flag("readsSockets", (head.sockets & QZ_SOCKETS_READ) != 0);
  out.flag("readsElsewhere", (head.sockets & QZ_READS_ELSEWHERE) != 0);
  out.flag("writesThrough", (head.sockets & QZ_WRITES_THROUGH) != 0);
  out.flag("writesElsewhere", (head.sockets & QZ_WRITES_ELSEWHERE) != 0);
  out.flag("writesPipes", (head.sockets & QZ_WRITES_PIPES) != 0);
  out.flag("childrenApart", head.children_apart != 0);
  const struct {
    const char *name;
    uint64_t value;
  } counts[] = {{"roundsBegun", head.rounds_begun},
                {"snapshots", head.snapshots},
                {"elapsedNs", head.elapsed_ns},
                {"visits", head.visits},
                {"tornRetries", head.torn_retries},
                {"tornAccepted", head.torn_accepted},
                {"skippedTicks", head.skipped_ticks},
                {"weightSquaresUs2", head.weight_us2},
                {"invalid", head.invalid},
                {"samplerCpuNs", head.sampler_cpu_ns},
                {"runningSamples", head.samples},
                {"runningSampleNs", head.sample_ns},
                {"cpuUseSamples", head.cpu_use[0].samples},
                {"cpuUseSpinning", head.cpu_use[0].spinning},
                {"cpuUseHanding", head.cpu_use[0].handing},
                {"oversubscribedSamples", head.cpu_use[1].samples},
                {"oversubscribedSpinning", head.cpu_use[1].spinning},
                {"oversubscribedHanding", head.cpu_use[1].handing},
                {"timerDispatches", head.timer_dispatches},
                {"timerNs", head.timer_ns},
                {"freeLockPs", head.free_lock_ps},
                {"cpuRunNs", head.cpu_run_ns},
                {"cpuWaitNs", head.cpu_wait_ns},
                {"cpuDispatches", head.cpu_dispatches},
                {"childrenRunNs", head.children_run_ns},
                {"processesStarted", head.processes_started},
                {"startUs", head.start_us},
                {"rank", head.rank},
                {"relatedMilli", head.related_milli},
                {"usageNs", head.usage.ns},
                {"userNs", head.usage.user_ns},
                {"systemNs", head.usage.system_ns},
                {"voluntarySwitches", head.usage.voluntary},
                {"involuntarySwitches", head.usage.involuntary},
                {"minorFaults", head.usage.minor_faults},
                {"majorFaults", head.usage.major_faults},
                {"residentBytes", head.usage.resident_bytes},
                {"readCalls", head.usage.reads},
                {"writeCalls", head.usage.writes},
                {"readBytes", head.usage.read_bytes},
                {"writtenBytes", head.usage.written_bytes},
                {"hookLeastPs", head.hook.least_ps},
                {"hookMostPs", head.hook.most_ps},
                {"hookInsidePs", head.hook_inside_ps},
                {"lockLeastPs", head.lock.least_ps},
                {"lockMostPs", head.lock.most_ps},
                {"spawnPs", head.spawn_ps},
                {"waitPs", head.wait_ps},
                {"stackOverflows", head.stack_overflows},
                {"callsLost", head.calls_lost},
                {"threadsDropped", head.threads_dropped},
                {"objectsMerged", head.objects_merged},
                {"stringsDropped", head.strings_dropped},
                {"spawns", head.spawns},
                {"switches", head.switches},
                {"steals", head.steals},
                {"parks", head.parks},
                {"tuplesMerged", head.tuples_merged},
                {"stacksCut", head.stacks_cut},
                {"entitiesMerged", head.entities_merged},
                {"pathNs", head.path_ns},
                {"pathCrumbs", head.path_crumbs},
                {"pathLost", head.path_lost},
                {"pathCutNs", head.path_cut_ns},
                {"workNs", head.work_ns},
                {"spanNs", head.span_ns},
                {"burdenedSpanNs", head.burdened_span_ns},
                {"typicalSpanNs", head.typical_span_ns},
                {"waitedNs", head.waited_ns},
                {"asideNs", head.aside_ns},
                {"strands", head.strands},
                {"levelNs", head.level_ns},
                {"burdenPs", head.burden_ps},
                {"spanLost", head.span_lost}};
  for (const auto &count : counts) out.number(count.name, count.value);
  out.number("rateHz", static_cast<double>(head.rate_mhz) / 1000);
  out.number("samplerCpu", head.sampler_cpu == UINT32_MAX ? -1 : static_cast<double>(head.sampler_cpu));
  out.flag("samplerSpins", head.sampler_spins != 0);
  out.number("samplerThreads", head.sampler_threads);
  out.number("stackLimit", head.stack_limit);
  out.number("paths", head.paths);
  out.flag("exactHold", (head.session_flags & QZ_SESSION_EXACT_HOLD) != 0);
  out.flag("spanRecorded", (head.session_flags & QZ_SESSION_SPAN) != 0);
  out.flag("cpuWaitsOut", (head.session_flags & QZ_SESSION_CPU_WAITS) != 0);
  out.flag("teamsReported", (head.session_flags & QZ_SESSION_TEAMS) != 0);
  out.flag("outside", (head.session_flags & QZ_SESSION_OUTSIDE) != 0);
  return out.made();
}

} // namespace quartz
