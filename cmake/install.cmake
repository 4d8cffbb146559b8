# `cmake --install` installs the library, its headers, a CMake package, pkg-config files, the command, its manual page
# and its completions.
include(CMakePackageConfigHelpers)

install(TARGETS bough bough_agent_library EXPORT bough_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS bough_shared EXPORT bough_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS bough_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/bough ${PROJECT_BINARY_DIR}/include/bough
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT bough_targets NAMESPACE bough:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bough)
configure_package_config_file(cmake/bough-config.cmake.in ${PROJECT_BINARY_DIR}/bough-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bough)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bough-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bough-config.cmake ${PROJECT_BINARY_DIR}/bough-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bough)
# The prefix relative to the pkg-config file, so that `cmake --install --prefix` can install anywhere.
file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
configure_file(cmake/bough.pc.in ${PROJECT_BINARY_DIR}/bough.pc @ONLY)
configure_file(cmake/bough-agent.pc.in ${PROJECT_BINARY_DIR}/bough-agent.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bough.pc ${PROJECT_BINARY_DIR}/bough-agent.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_BINARY_DIR}/bough.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME bough)
install(FILES ${PROJECT_BINARY_DIR}/completion.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _bough)
install(FILES ${PROJECT_BINARY_DIR}/completion.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME bough.fish)
