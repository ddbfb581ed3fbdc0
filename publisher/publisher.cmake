# What runs inside the profiled program and fills the session. Not a library: each host, the thread package and the
# pthread layer, compiles these sources a second time, with definitions of its own.
set(QUARTZ_PUBLISHER ${CMAKE_CURRENT_LIST_DIR})
set(QUARTZ_PUBLISHER_SOURCES ${QUARTZ_PUBLISHER}/session.c ${QUARTZ_PUBLISHER}/session_layout.c
    ${QUARTZ_PUBLISHER}/session_usage.c ${QUARTZ_PUBLISHER}/channel.c ${QUARTZ_PUBLISHER}/thread_records.c
    ${QUARTZ_PUBLISHER}/object_records.c ${QUARTZ_PUBLISHER}/names.c ${QUARTZ_PUBLISHER}/crumbs.c
    ${QUARTZ_PUBLISHER}/path.c
    ${QUARTZ_PUBLISHER}/span.c ${QUARTZ_PUBLISHER}/span_calls.c ${QUARTZ_PUBLISHER}/span_clock.c
    ${QUARTZ_PUBLISHER}/span_sites.c
    ${QUARTZ_PUBLISHER}/kept_cpu.c ${QUARTZ_PUBLISHER}/cpu_clock.c
    ${QUARTZ_PUBLISHER}/strands.c ${QUARTZ_PUBLISHER}/what_if.c ${QUARTZ_PUBLISHER}/call_tables.c
    ${QUARTZ_PUBLISHER}/calibrate.c ${QUARTZ_PUBLISHER}/calibration.c
    ${QUARTZ_PUBLISHER}/hooks/hot_line.c ${QUARTZ_PUBLISHER}/hooks/instrument.c
    ${QUARTZ_PUBLISHER}/hooks/fentry.c ${QUARTZ_PUBLISHER}/hooks/gprof.c ${QUARTZ_PUBLISHER}/hooks/asked.c
    ${QUARTZ_PUBLISHER}/rehearsal.c ${QUARTZ_PUBLISHER}/../abi/sandbox.c
    ${QUARTZ_PUBLISHER}/../abi/launcher.c
    ${QUARTZ_PUBLISHER}/../abi/message.c)
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(QUARTZ_PUBLISHER_ASSEMBLY ${QUARTZ_PUBLISHER}/hooks/hooks_x86_64.S)
endif()

# quartz_publisher_flags(FLAG...): sets the flags of the publisher's sources in the directory that compiles them; FLAGs
# come first. Hooks run between any two instructions of a function's call and return: they must not touch vector
# registers, which may hold arguments, nor be instrumented themselves.
function(quartz_publisher_flags)
  set_source_files_properties(${QUARTZ_PUBLISHER_SOURCES} PROPERTIES COMPILE_OPTIONS "${ARGN}")
  set_source_files_properties(${QUARTZ_PUBLISHER}/hooks/hot_line.c ${QUARTZ_PUBLISHER}/hooks/instrument.c
    ${QUARTZ_PUBLISHER}/hooks/fentry.c ${QUARTZ_PUBLISHER}/hooks/asked.c ${QUARTZ_PUBLISHER}/call_tables.c
    ${QUARTZ_PUBLISHER}/span.c ${QUARTZ_PUBLISHER}/span_calls.c ${QUARTZ_PUBLISHER}/span_clock.c
    ${QUARTZ_PUBLISHER}/span_sites.c ${QUARTZ_PUBLISHER}/strands.c ${QUARTZ_PUBLISHER}/what_if.c
    ${QUARTZ_PUBLISHER}/kept_cpu.c ${QUARTZ_PUBLISHER}/cpu_clock.c
    PROPERTIES COMPILE_OPTIONS "${ARGN};-mgeneral-regs-only;-fno-sanitize=all")
  # As quartz-flags; and without sanitizers, as the hooks: between instrumented work these seemed to take no time.
  set_source_files_properties(${QUARTZ_PUBLISHER}/calibrate.c
    PROPERTIES COMPILE_OPTIONS "${ARGN};-fno-optimize-sibling-calls;-fno-sanitize=all")
endfunction()
