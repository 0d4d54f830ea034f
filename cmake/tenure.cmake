# One way to make a library of a folder, and one way to make a test of it.

add_library(tenure_flags INTERFACE)
target_include_directories(tenure_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
target_compile_options(tenure_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  -Wno-missing-field-initializers)  # what is left out of a braced list keeps its default: that is what it is for
target_compile_definitions(tenure_flags INTERFACE TENURE_VERSION="${PROJECT_VERSION}")
# g++ 12 sees an overlap in `"text" + std::move(string)` that is not there (GCC bug 105651, mended in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tenure_flags INTERFACE -Wno-restrict)
endif()
if(TENURE_WERROR)
  target_compile_options(tenure_flags INTERFACE -Werror)
endif()
if(TENURE_SANITIZE)
  # vptr: its check opens pipes, and takes the want of descriptors that tests bring about for a fault.
  # A test's own code is watched for addresses alone, and not optimised: the rest takes the compiler three times as long.
  string(REPLACE "," "$<COMMA>" sanitize "${TENURE_SANITIZE}")
  string(REPLACE "$<COMMA>undefined" "" sanitize_tests "${sanitize}")
  target_compile_options(tenure_flags INTERFACE
    -fsanitize=$<IF:$<BOOL:$<TARGET_PROPERTY:TENURE_IS_TEST>>,${sanitize_tests},${sanitize}>
    $<$<BOOL:$<TARGET_PROPERTY:TENURE_IS_TEST>>:-O0> -fno-sanitize=vptr -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(tenure_flags INTERFACE -fsanitize=${TENURE_SANITIZE})
  if(TENURE_SANITIZE MATCHES thread)
    # It does not follow fences. What they order here is read and written atomically, so nothing is reported for it.
    target_compile_options(tenure_flags INTERFACE -Wno-tsan)
  endif()
endif()
if(TENURE_COVERAGE)
  target_compile_options(tenure_flags INTERFACE --coverage)
  target_link_options(tenure_flags INTERFACE --coverage)
endif()

# The builds of ./check compile a folder in a few large pieces (CMAKE_UNITY_BUILD), which takes a third of the time. These
# files stay alone, because they share a local name with another of their folder.
set_source_files_properties(
  src/engine/memory/memory_claim.cc src/model/side_files.cc src/os/linux/probe_local.cc src/os/linux/probe_locks.cc src/os/linux/section_lock_test.cc src/os/linux/ending_process_test.cc
  src/os/linux/keeper_thread_test.cc src/os/linux/stable_content.cc
  src/model/ceiling_record.cc src/model/ceiling_record_test.cc src/rules/ceiling.cc src/rules/ceiling_test.cc src/engine/local/ceiling.cc src/engine/local/repair.cc
  src/model/fence_record.cc src/rules/fence.cc src/rules/fence_test.cc src/rules/current.cc src/rules/current_test.cc src/rules/epochs_test.cc src/base/boost_json.cc
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# And these, where instructions are counted: the pieces shift with every new file, and with them what is inlined.
if(NOT TENURE_SANITIZE)
  set_source_files_properties(src/engine/local/short_way.cc src/engine/local/events.cc src/engine/local/buckets.cc
    src/lease/space.cc src/lease/lease_state.cc src/lease/lease_pool.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()

# tenure_library(NAME [FOLDER path under src] [DEPENDS names…] [LINK targets…]): every .cc of the folder but its tests and
# main.cc, as target tenure_NAME; the *_test.cc beside them as test program NAME_test.
function(tenure_library name)
  cmake_parse_arguments(ARG "" "FOLDER" "DEPENDS;LINK" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER ${name})
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${ARG_FOLDER}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM ARG_DEPENDS PREPEND tenure_)
  if(sources)
    add_library(tenure_${name} STATIC ${sources})
    target_link_libraries(tenure_${name} PUBLIC tenure_flags Threads::Threads ${ARG_DEPENDS} ${ARG_LINK})
  else()
    add_library(tenure_${name} INTERFACE)
    target_link_libraries(tenure_${name} INTERFACE tenure_flags Threads::Threads ${ARG_DEPENDS} ${ARG_LINK})
  endif()
  if(TENURE_TESTS AND tests)
    tenure_test(${name}_test SOURCES ${tests} LINK tenure_${name})
  endif()
endfunction()

# tenure_program(NAME MAIN file LINK targets…): a program in bin/ of the build folder. It is linked whole, at fixed
# addresses: loading libraries and relocating would take longer than what it does.
function(tenure_program name)
  cmake_parse_arguments(ARG "" "MAIN" "LINK" ${ARGN})
  add_executable(${name} ${PROJECT_SOURCE_DIR}/${ARG_MAIN})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  if(NOT TENURE_SANITIZE)
    target_link_options(${name} PRIVATE -static -no-pie)
  endif()
endfunction()

# tenure_test(NAME SOURCES files… LINK targets… [LABELS one] [ENVIRONMENT NAME=value]): a GoogleTest program, its cases known
# to ctest one by one. One label and one variable at most: CMake's discovery of cases carries no lists.
function(tenure_test name)
  cmake_parse_arguments(ARG "" "LABELS;ENVIRONMENT" "SOURCES;LINK" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE TENURE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)  # what is tested is optimised, the test need not be
  set_target_properties(${name} PROPERTIES TENURE_IS_TEST ON)
  # An empty value would vanish on its way and take the next word for its own.
  set(properties TIMEOUT 120)
  if(ARG_LABELS)
    list(APPEND properties LABELS ${ARG_LABELS})
    if(ARG_LABELS STREQUAL "long")
      list(APPEND properties TIMEOUT 3600)  # of two the later counts
    endif()
  endif()
  if(ARG_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT ${ARG_ENVIRONMENT})
  endif()
  # A program under a sanitizer takes longer to start than most cases take: there a quarter of them share a process.
  if(TENURE_SANITIZE)
    foreach(shard RANGE 3)
      add_test(NAME ${name}.quarter_${shard} COMMAND ${name} --gtest_brief=1)
      set_tests_properties(${name}.quarter_${shard} PROPERTIES ${properties} TIMEOUT 600)
      set_property(TEST ${name}.quarter_${shard} APPEND PROPERTY ENVIRONMENT
        GTEST_TOTAL_SHARDS=4 GTEST_SHARD_INDEX=${shard})
    endforeach()
    return()
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()
