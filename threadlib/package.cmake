# Installation, and finding the package by pkg-config and by CMake's find_package(quartz), after installation and in the
# build tree: PKG_CONFIG_PATH=BUILD/package or CMAKE_PREFIX_PATH=BUILD/package.
include(CMakePackageConfigHelpers)
set(package ${PROJECT_BINARY_DIR}/package)

install(TARGETS quartz_shared quartz_static EXPORT quartz-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/quartz DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT quartz-targets NAMESPACE quartz:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/quartz)
export(EXPORT quartz-targets NAMESPACE quartz:: FILE ${package}/quartz-targets.cmake)

# Relative to the file itself: `cmake --install --prefix` may choose another place than the one configured.
file(RELATIVE_PATH PACKAGE_FLAGS /${CMAKE_INSTALL_LIBDIR}/cmake/quartz /${CMAKE_INSTALL_BINDIR}/quartz-flags)
set(PACKAGE_FLAGS "\${CMAKE_CURRENT_LIST_DIR}/${PACKAGE_FLAGS}")
file(RELATIVE_PATH PACKAGE_SAMPLER /${CMAKE_INSTALL_LIBDIR}/cmake/quartz /${CMAKE_INSTALL_BINDIR}/quartz-sampler)
set(PACKAGE_SAMPLER "\${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${PACKAGE_SAMPLER}")
configure_file(quartz-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/quartz-config.cmake @ONLY)
set(PACKAGE_FLAGS ${PROJECT_SOURCE_DIR}/scripts/quartz-flags)
set(PACKAGE_SAMPLER ${PROJECT_BINARY_DIR}/sampler/quartz-sampler)
configure_file(quartz-config.cmake.in ${package}/quartz-config.cmake @ONLY)
write_basic_package_version_file(${package}/quartz-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/quartz-config.cmake ${package}/quartz-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/quartz)

# What `quartz cflags` prints for the compiler that Quartz is built with: hooks.
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/quartz-flags cflags --quoted --cc ${CMAKE_C_COMPILER}
                OUTPUT_VARIABLE PC_HOOKS OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "^.*-pthread" "" PC_HOOKS "${PC_HOOKS}")
install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/quartz-flags DESTINATION ${CMAKE_INSTALL_BINDIR})
file(RELATIVE_PATH PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(PC_PREFIX "\${pcfiledir}/${PC_UP}")
string(REGEX REPLACE "/$" "" PC_PREFIX "${PC_PREFIX}")
set(PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
set(PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
configure_file(quartz.pc.in ${CMAKE_CURRENT_BINARY_DIR}/quartz.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/quartz.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(PC_PREFIX ${CMAKE_CURRENT_SOURCE_DIR})
set(PC_LIBDIR ${CMAKE_CURRENT_BINARY_DIR})
set(PC_INCLUDEDIR ${CMAKE_CURRENT_SOURCE_DIR}/include)
configure_file(quartz.pc.in ${package}/quartz.pc @ONLY)
