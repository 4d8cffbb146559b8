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

# Headers that most sources include, compiled once for each level of optimization. g++ compiles what a precompiled header
# defines at the level of that header, whatever the source asks for.
if(NOT EXISTS ${PROJECT_BINARY_DIR}/precompiled.cpp)
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp "")
endif()
function(bough_precompile level)
  if(NOT TARGET bough_precompiled_${level})
    add_library(bough_precompiled_${level} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(bough_precompiled_${level} PRIVATE bough_options fmt::fmt)
    target_compile_options(bough_precompiled_${level} PRIVATE $<$<CONFIG:Release>:-${level}>)
    target_precompile_headers(bough_precompiled_${level} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
  endif()
endfunction()

# One object for a few sources of a room: most of the time of a build goes into headers, and they are read once for
# all of them. Apart stays the program's entry, which tests replace.
option(BOUGH_UNITY "Compile several sources of a room as one" ON)
set(bough_apart "^cli/main")

# Replaces the sources of a room by files that include up to twelve of them each, folder by folder. They name sources as
# every include does, so that a cache of compiled objects serves all checkouts.
function(bough_group_sources result name)
  set(kept)
  set(folders)
  foreach(source ${ARGN})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/src ${source})
    if(path MATCHES "${bough_apart}")
      list(APPEND kept ${source})
      continue()
    endif()
    get_filename_component(folder ${path} DIRECTORY)
    list(APPEND folders ${folder})
    list(APPEND sources_of_${folder} ${path})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set(group 0)
  set(members 0)
  foreach(folder ${folders})
    list(LENGTH sources_of_${folder} count)
    math(EXPR after "${members} + ${count}")
    if(after GREATER 12)
      set(full TRUE)  # the folder begins a group of its own
    endif()
    foreach(path ${sources_of_${folder}})
      if(full OR members EQUAL 12)
        math(EXPR group "${group} + 1")
        set(members 0)
        set(full FALSE)
      endif()
      math(EXPR members "${members} + 1")
      string(APPEND text_${group} "#include \"${path}\"\n")
    endforeach()
  endforeach()
  foreach(part RANGE ${group})
    if(DEFINED text_${part})
      set(file ${PROJECT_BINARY_DIR}/rooms/unity/${name}_${part}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text_${part}}" @ONLY)
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
  target_compile_options(bough_${name} PRIVATE $<$<CONFIG:Release>:-${level}>)
  target_precompile_headers(bough_${name} REUSE_FROM bough_precompiled_${level})
  foreach(other ${ROOM_USES})
    target_link_libraries(bough_${name} PRIVATE bough_${other})
    target_include_directories(bough_${name} PRIVATE ${PROJECT_BINARY_DIR}/rooms/${other})
  endforeach()
endfunction()
