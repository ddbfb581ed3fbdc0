/* The head of a profile, field by field, with enumerations as numbers. scripts/abi-table.js extracts the names from
 * this file. */
#include "profile.h"

namespace quartz {

Napi::Object headOf(Napi::Env env, const Profile &profile) {
  const qz_profile &head = profile.copy.head;
  Napi::Object out = Napi::Object::New(env);
  auto number = [&](const char *name, double value) { out.Set(name, Napi::Number::New(env, value)); };
  auto text = [&](const char *name, uint32_t offset) { out.Set(name, Napi::String::New(env, profile.text(offset))); };
  number("version", head.version);
  number("status", head.status);
  out.Set("abandoned", Napi::Boolean::New(env, profile.copy.abandoned));
  number("endReason", head.end_reason);
  number("exitStatus", head.exit_status);
  number("publisher", head.publisher);
  number("pid", head.pid);
  number("samplerPid", head.sampler_pid);
  number("processors", head.processors);
  number("cpus", head.cpus);
  text("program", head.program);
  text("arguments", head.arguments);
  text("host", head.host);
  text("quartzVersion", head.version_text);
  number("startedRealtimeNs", static_cast<double>(head.started_realtime_ns));
  number("firstNs", static_cast<double>(head.first_ns));
  out.Set("pathToExit", Napi::Boolean::New(env, head.path_to_exit != 0));
  out.Set("attached", Napi::Boolean::New(env, head.attached != 0));
  out.Set("usageKnown", Napi::Boolean::New(env, (head.usage_known & QZ_USAGE_TIMES) != 0));
  out.Set("switchesKnown", Napi::Boolean::New(env, (head.usage_known & QZ_USAGE_SWITCHES) != 0));
  out.Set("callsKnown", Napi::Boolean::New(env, (head.usage_known & QZ_USAGE_CALLS) != 0));
  out.Set("socketsSeen", Napi::Boolean::New(env, (head.sockets & QZ_SOCKETS_SEEN) != 0));
  out.Set("listens", Napi::Boolean::New(env, (head.sockets & QZ_SOCKETS_LISTENS) != 0));
  out.Set("connected", Napi::Boolean::New(env, (head.sockets & QZ_SOCKETS_CONNECTED) != 0));
  out.Set("connectedLocally", Napi::Boolean::New(env, (head.sockets & QZ_SOCKETS_LOCAL) != 0));
  out.Set("readsSockets", Napi::Boolean::New(env, (head.sockets & QZ_SOCKETS_READ) != 0));
  out.Set("readsElsewhere", Napi::Boolean::New(env, (head.sockets & QZ_READS_ELSEWHERE) != 0));
  out.Set("writesThrough", Napi::Boolean::New(env, (head.sockets & QZ_WRITES_THROUGH) != 0));
  out.Set("writesElsewhere", Napi::Boolean::New(env, (head.sockets & QZ_WRITES_ELSEWHERE) != 0));
  out.Set("writesPipes", Napi::Boolean::New(env, (head.sockets & QZ_WRITES_PIPES) != 0));
  out.Set("childrenApart", Napi::Boolean::New(env, head.children_apart != 0));
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
  for (const auto &count : counts) number(count.name, static_cast<double>(count.value));
  number("rateHz", static_cast<double>(head.rate_mhz) / 1000);
  number("samplerCpu", head.sampler_cpu == UINT32_MAX ? -1 : static_cast<double>(head.sampler_cpu));
  out.Set("samplerSpins", Napi::Boolean::New(env, head.sampler_spins != 0));
  number("samplerThreads", head.sampler_threads);
  number("stackLimit", head.stack_limit);
  number("paths", head.paths);
  out.Set("exactHold", Napi::Boolean::New(env, (head.session_flags & QZ_SESSION_EXACT_HOLD) != 0));
  out.Set("spanRecorded", Napi::Boolean::New(env, (head.session_flags & QZ_SESSION_SPAN) != 0));
  out.Set("cpuWaitsOut", Napi::Boolean::New(env, (head.session_flags & QZ_SESSION_CPU_WAITS) != 0));
  out.Set("teamsReported", Napi::Boolean::New(env, (head.session_flags & QZ_SESSION_TEAMS) != 0));
  out.Set("outside", Napi::Boolean::New(env, (head.session_flags & QZ_SESSION_OUTSIDE) != 0));
  return out;
}

} // namespace quartz
