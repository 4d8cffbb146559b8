# bough_link_archives(TARGET): links the target statically with its libraries. The command then starts in a third of the
# time, because the dynamic linker does most of the work of a short command. The archives come before the shared
# libraries on the command line, and unneeded shared libraries are left out. When an archive is missing, shared
# libraries are used.
function(bough_link_archives target)
  set(archives)
  foreach(name sqlite3 zstd z utf8proc crypto edit tinfo bsd md re2)
    find_library(BOUGH_ARCHIVE_${name} NAMES lib${name}.a)
    if(NOT BOUGH_ARCHIVE_${name})
      message(STATUS "There is no lib${name}.a: the command uses shared libraries")
      return()
    endif()
    list(APPEND archives ${BOUGH_ARCHIVE_${name}})
  endforeach()
  if(NOT fmt_VERSION VERSION_LESS 10)
    message(STATUS "fmt ${fmt_VERSION} is linked as a shared library")
  else()
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/fmt_archive.cpp)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  target_link_libraries(${target} PRIVATE ${archives} m)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc LINKER:--as-needed)
endfunction()
