# Rooms: one object library a folder of src/. A room sees the headers of the rooms it names under USES and of no other,
# because each room's headers are reached through a folder of its own that holds nothing but a link to it.

add_library(bough_options INTERFACE)
target_compile_options(bough_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                                               -Wnon-virtual-dtor -Wold-style-cast -Wimplicit-fallthrough -Wno-missing-field-initializers
                                               -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns falsely about std::expected and std::string when it optimizes.
  target_compile_options(bough_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow
                                                 -Wno-stringop-overread -Wno-array-bounds)
  # A compiler that collects its garbage less often takes a twelfth less time and a quarter more memory.
  target_compile_options(bough_options INTERFACE "SHELL:--param ggc-min-heapsize=1000000")
else()
  # clang warns of what stable_sort of libstdc++ 12 uses inside.
  target_compile_options(bough_options INTERFACE -Wno-deprecated-declarations)
  # The rules of base/system/thread_annotations.h; `./test --tidy` compiles with clang.
  target_compile_options(bough_options INTERFACE -Wthread-safety)
endif()
# Errors for who changes bough; who only builds it, with whatever compiler, gets a program.
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

# The levels of optimization of a Release build. Without three of its passes O1 takes an eighth less of the compiler's
# time.
set(bough_level_O1 -O1)
set(bough_level_O2 -O2)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND bough_level_O1 -fno-tree-dominator-opts -fno-tree-pta -fno-tree-loop-optimize)
endif()

# Headers that most sources include, compiled once for each level of optimization. g++ compiles what a precompiled header
# defines at the level of that header, whatever the source asks for.
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

# One object for a few sources of a room: much of the time of a build goes into headers and what they define, and that is
# done once for all of them. So a name in an anonymous namespace is one file's in its room. Apart stays the program's
# entry, which tests replace.
option(BOUGH_UNITY "Compile several sources of a room as one" ON)
set(bough_apart "^cli/main")

# Replaces the sources of a room by files that include some of them each, about as many bytes in each: a build has few
# objects to make, and none that takes long. They name sources as every include does, so that a cache of compiled objects
# serves all checkouts.
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

# bough_room(NAME LEVEL [USES room…] [LIBRARIES target…]): LEVEL is the level of optimization of a Release build.
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
