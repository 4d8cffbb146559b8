# Rooms: one object library a folder of src/. A room sees the headers of the rooms it names under USES and of no other,
# because each room's headers are reached through a folder of its own that holds nothing but a link to it.

add_library(bough_options INTERFACE)
target_compile_options(bough_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                                               -Wnon-virtual-dtor -Wold-style-cast -Wimplicit-fallthrough -Wno-missing-field-initializers -Werror
                                               -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns falsely about std::expected and std::string at -O2.
  target_compile_options(bough_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow)
else()
  # clang warns of what stable_sort of libstdc++ 12 uses inside.
  target_compile_options(bough_options INTERFACE -Wno-deprecated-declarations)
  # The rules of base/system/thread_annotations.h; `./test --tidy` compiles with clang.
  target_compile_options(bough_options INTERFACE -Wthread-safety)
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

# Headers that most sources include, compiled once. Every room has the same options, so every room can use them.
if(NOT EXISTS ${PROJECT_BINARY_DIR}/precompiled.cpp)
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp "")
endif()
add_library(bough_precompiled OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
target_link_libraries(bough_precompiled PRIVATE bough_options fmt::fmt)
target_precompile_headers(bough_precompiled PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)

# One object for a few sources of one folder: most of the time of a build goes into headers, and they are read once for
# all of them. Apart stay the program's entry, which tests replace, and folders in which each source defines the same
# names for its own command, dialect, statement or agent.
option(BOUGH_UNITY "Compile several sources of a folder as one" ON)
set(bough_apart "^(cli/main|cli/commands|message/dialect|store/postgres|transcript/agents)")

function(bough_group_sources target)
  foreach(source ${ARGN})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/src ${source})
    get_filename_component(folder ${path} DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" group)
    math(EXPR members_${group} "${members_${group}} + 1")
    math(EXPR part "${members_${group}} / 6")
    if(NOT path MATCHES "${bough_apart}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}_${part})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# bough_room(NAME [USES room…] [LIBRARIES target…] [SYSTEM target…])
function(bough_room name)
  cmake_parse_arguments(ROOM "" "" "USES;LIBRARIES" ${ARGN})
  set(doorway ${PROJECT_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${doorway})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name} ${doorway}/${name} SYMBOLIC)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  add_library(bough_${name} OBJECT ${sources})
  target_include_directories(bough_${name} PUBLIC ${doorway})
  target_link_libraries(bough_${name} PUBLIC bough_options)
  target_link_libraries(bough_${name} PRIVATE ${ROOM_LIBRARIES})
  target_precompile_headers(bough_${name} REUSE_FROM bough_precompiled)
  if(BOUGH_UNITY)
    bough_group_sources(bough_${name} ${sources})
  endif()
  foreach(other ${ROOM_USES})
    target_link_libraries(bough_${name} PRIVATE bough_${other})
    target_include_directories(bough_${name} PRIVATE ${PROJECT_BINARY_DIR}/rooms/${other})
  endforeach()
endfunction()
