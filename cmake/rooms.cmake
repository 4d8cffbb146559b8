# Rooms: one object library per folder of src/. A room sees only the headers of the rooms that it names under USES,
# because each room's headers are reached through a separate folder that contains nothing but a link to the room.

add_library(bough_options INTERFACE)
target_compile_options(bough_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                                               -Wnon-virtual-dtor -Wold-style-cast -Wimplicit-fallthrough -Wno-missing-field-initializers
                                               -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # When it optimizes, g++ 12 gives false warnings about std::expected and std::string.
  target_compile_options(bough_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow
                                                 -Wno-stringop-overread -Wno-array-bounds)
  # Less frequent garbage collection makes the compiler one twelfth faster and costs a quarter more memory.
  target_compile_options(bough_options INTERFACE "SHELL:--param ggc-min-heapsize=1000000")
else()
  # clang warns about the implementation of stable_sort in libstdc++ 12.
  target_compile_options(bough_options INTERFACE -Wno-deprecated-declarations)
  # Checks the annotations of base/system/thread_annotations.h; `./test --tidy` compiles with clang.
  target_compile_options(bough_options INTERFACE -Wthread-safety)
endif()
# Warnings are errors only for developers of bough, who build the tests. For users, any compiler's warnings must not
# stop the build.
if(BOUGH_TESTS)
  target_compile_options(bough_options INTERFACE -Werror)
endif()
if(BOUGH_SANITIZE)
  target_compile_options(bough_options INTERFACE -fsanitize=${BOUGH_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(bough_options INTERFACE -fsanitize=${BOUGH_SANITIZE})
endif()
if(BOUGH_FUZZ)
  target_compile_options(bough_options INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  target_link_options(bough_options INTERFACE -fsanitize=address,undefined)
endif()
configure_file(cmake/version.h.in ${PROJECT_BINARY_DIR}/include/bough/version.h)
target_include_directories(bough_options INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                   $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)

# The optimization levels of a Release build. Without three of its passes, O1 takes one eighth less compile time.
set(bough_level_O1 -O1)
set(bough_level_O2 -O2)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND bough_level_O1 -fno-tree-dominator-opts -fno-tree-pta -fno-tree-loop-optimize)
endif()

# Precompiled headers, one for each optimization level: g++ compiles the definitions in a precompiled header at the
# level of that header, not of the source file.
if(NOT EXISTS ${PROJECT_BINARY_DIR}/precompiled.cpp)
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp "")
endif()
function(bough_precompile level)
  if(NOT TARGET bough_precompiled_${level})
    add_library(bough_precompiled_${level} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(bough_precompiled_${level} PRIVATE bough_options fmt::fmt)
    target_compile_options(bough_precompiled_${level} PRIVATE "$<$<CONFIG:Release>:${bough_level_${level}}>")
    target_precompile_headers(bough_precompiled_${level} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
  endif()
endfunction()

# Compiles several sources of a room as one object: much of the build time goes into headers, which are then compiled
# only once. A name in an anonymous namespace must therefore be unique within its room. The program's entry point stays
# separate, because tests replace it.
option(BOUGH_UNITY "Compile several sources of a room as one" ON)
set(bough_apart "^cli/main")

# Replaces the sources of a room by files of similar size that each include several sources. The build then has few
# objects, and none of them takes long. Sources are included by relative names, so that a compiler cache works for all
# checkouts.
set(bough_group_bytes 90000)
function(bough_group_sources result name)
  set(kept)
  set(total 0)
  foreach(source ${ARGN})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/src ${source})
    if(path MATCHES "${bough_apart}")
      list(APPEND kept ${source})
      continue()
    endif()
    list(APPEND paths ${path})
    file(SIZE ${source} bytes)
    list(APPEND sizes ${bytes})
    math(EXPR total "${total} + ${bytes}")
  endforeach()
  math(EXPR groups "1 + ${total} / ${bough_group_bytes}")
  set(before 0)
  foreach(path bytes IN ZIP_LISTS paths sizes)
    math(EXPR group "${before} * ${groups} / ${total}")
    string(APPEND text_${group} "#include \"${path}\"\n")
    math(EXPR before "${before} + ${bytes}")
  endforeach()
  math(EXPR last "${groups} - 1")
  foreach(group RANGE ${last})
    if(DEFINED text_${group})
      set(file ${PROJECT_BINARY_DIR}/rooms/unity/${name}_${group}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text_${group}}" @ONLY)
      list(APPEND kept ${file})
    endif()
  endforeach()
  set(${result} ${kept} PARENT_SCOPE)
endfunction()

# bough_room(NAME LEVEL [USES room…] [LIBRARIES target…]): LEVEL is the optimization level of a Release build.
function(bough_room name level)
  cmake_parse_arguments(ROOM "" "" "USES;LIBRARIES" ${ARGN})
  if(NOT CMAKE_BUILD_TYPE STREQUAL Release)
    set(level any)
  endif()
  bough_precompile(${level})
  set(doorway ${PROJECT_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${doorway})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name} ${doorway}/${name} SYMBOLIC)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(BOUGH_UNITY)
    bough_group_sources(sources ${name} ${sources})
  endif()
  add_library(bough_${name} OBJECT ${sources})
  target_include_directories(bough_${name} PUBLIC ${doorway})
  target_link_libraries(bough_${name} PUBLIC bough_options)
  target_link_libraries(bough_${name} PRIVATE ${ROOM_LIBRARIES})
  target_compile_options(bough_${name} PRIVATE "$<$<CONFIG:Release>:${bough_level_${level}}>")
  target_precompile_headers(bough_${name} REUSE_FROM bough_precompiled_${level})
  foreach(other ${ROOM_USES})
    target_link_libraries(bough_${name} PRIVATE bough_${other})
    target_include_directories(bough_${name} PRIVATE ${PROJECT_BINARY_DIR}/rooms/${other})
  endforeach()
endfunction()
