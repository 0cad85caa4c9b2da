# Options, flags and the two functions that every room and test folder uses.

option(ECHOLUX_TESTS "Build tests and benchmarks" ON)
option(ECHOLUX_RENDER "Build the Vulkan renderer" ON)
option(ECHOLUX_WINDOW "The window (Dear ImGui, GLFW); OFF: the command line alone" ON)
option(ECHOLUX_TEXT "Text in pictures (FreeType, HarfBuzz, the font Inter); OFF: annotations are lines alone" ON)
option(ECHOLUX_FIGURES "Figures with axes as PDF, SVG and PNG (cairo); needs text" ON)
option(ECHOLUX_FFTW "FFTW for CPU transforms; OFF: kissfft, which may be distributed with NVIDIA's libraries" ON)
option(ECHOLUX_TIFF "Volumes as TIFF files (libtiff, pugixml)" ON)
option(ECHOLUX_HDF5 "Volumes as HDF5 files" ON)
option(ECHOLUX_ZARR "Volumes as OME-Zarr folders (Blosc, Zstandard)" ON)
option(ECHOLUX_THORLABS "Thorlabs .oct archives (libzip, pugixml)" ON)
option(ECHOLUX_GDCM "DICOM files whose voxels are packed by a codec (GDCM); plain ones are always read" ON)
option(ECHOLUX_MOVIES "Movies by the FFmpeg of whoever runs the program, opened when wanted; OFF: series of PNG files" ON)
option(ECHOLUX_GENICAM "Cameras through Aravis (GigE Vision, USB3 Vision)" ON)
option(ECHOLUX_NET "The window in a browser, and control by other programs (Boost, OpenSSL)" ON)
option(ECHOLUX_PYTHON_MODULE "The module for Python (python3-dev, nanobind from PyPI)" ON)
option(ECHOLUX_UNITY "Compile several sources of a folder as one: a third of the time for a whole build" ON)
option(ECHOLUX_OPENIGTLINK "For tests: the receiver of OpenIGTLink's own library, of Debian (libopenigtlink-dev)" ON)
option(ECHOLUX_FUZZ "Nothing but the fuzz targets (preset fuzz)" OFF)
option(ECHOLUX_HARDEN "What stops a memory error from being of use to anybody; off with sanitizers, which find more" ON)
option(ECHOLUX_COVERAGE "Count executed lines" OFF)
set(ECHOLUX_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")
set(ECHOLUX_HOT_FLAGS "" CACHE STRING "Compiler flags of what works on every sample and voxel, after those of the build type")
set(ECHOLUX_COLD_FLAGS "" CACHE STRING "Compiler flags of code that works neither on samples nor on voxels")
set(ECHOLUX_UNITY_SIZE 16 CACHE STRING "Sources compiled as one, at most")
set(ECHOLUX_MARCH "auto" CACHE STRING "Instruction set; auto: x86-64-v3 where this machine has it, else the baseline")

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()

# ccache, where it is installed, also serves other checkouts, and sources with precompiled headers.
find_program(ECHOLUX_CCACHE ccache)
if(ECHOLUX_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${ECHOLUX_CCACHE})
endif()

if(ECHOLUX_MARCH STREQUAL "auto")
    set(march "")
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        file(READ /proc/cpuinfo cpuinfo LIMIT 20000)
        if(cpuinfo MATCHES " avx2 " AND cpuinfo MATCHES " fma " AND cpuinfo MATCHES " bmi2 ")
            set(march x86-64-v3)
        endif()
    endif()
else()
    set(march ${ECHOLUX_MARCH})
endif()

# All code can become part of the shared library, which exports only its interface.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C CXX)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

add_library(echolux_flags INTERFACE)
target_include_directories(echolux_flags INTERFACE ${CMAKE_SOURCE_DIR})
# -pthread everywhere lets all targets share precompiled headers. errno and traps are not used. Without them, loops with
# sqrt and min vectorise, and results are the same.
set(cxx_flags -pthread -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Wold-style-cast -Wcast-align -Woverloaded-virtual
    -Werror -fno-math-errno -fno-trapping-math)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # version 12 warns about overflows in fmt and the standard library that cannot happen
    list(APPEND cxx_flags -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds -Wno-restrict)
endif()
# In files compiled together, the analyzer mistakes a neighbour's anonymous namespace for a global one or a header's.
set(together $<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>)
list(APPEND cxx_flags $<$<NOT:${together}>:-Wshadow>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND cxx_flags $<${together}:-Wshadow=local> $<${together}:-Wno-subobject-linkage>)
endif()
if(march)
    list(APPEND cxx_flags -march=${march})
endif()
target_compile_options(echolux_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${cxx_flags}>")
if(ECHOLUX_HARDEN AND NOT ECHOLUX_SANITIZE)  # docs/reliability.md
    set(hardening -fstack-protector-strong -fstack-clash-protection -fcf-protection=full)
    set(fortified -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)  # needs an optimised build
    list(JOIN hardening "," hardening_of_host)
    target_compile_options(echolux_flags INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${hardening}>"
        "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${hardening_of_host}>"
        "$<$<AND:$<NOT:$<CONFIG:Debug>>,$<COMPILE_LANGUAGE:C,CXX>>:${fortified}>"
        "$<$<AND:$<NOT:$<BOOL:$<TARGET_PROPERTY:ECHOLUX_UNCHECKED>>>,$<COMPILE_LANGUAGE:CXX>>:-D_GLIBCXX_ASSERTIONS>")
    target_link_options(echolux_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
endif()
if(ECHOLUX_SANITIZE)
    target_compile_options(echolux_flags INTERFACE -fsanitize=${ECHOLUX_SANITIZE} -fno-sanitize-recover=all
        -fno-omit-frame-pointer -g1)
    target_link_options(echolux_flags INTERFACE -fsanitize=${ECHOLUX_SANITIZE})
endif()
set(ECHOLUX_TEST_TIMEOUT 300)  # seconds for one case
if(ECHOLUX_SANITIZE OR ECHOLUX_COVERAGE)
    set(ECHOLUX_TEST_TIMEOUT 1800)
endif()
if(ECHOLUX_COVERAGE)
    target_compile_options(echolux_flags INTERFACE --coverage -fprofile-update=atomic)
    target_link_options(echolux_flags INTERFACE --coverage)
endif()

set(ECHOLUX_COMMON_HEADERS <algorithm> <array> <chrono> <cmath> <complex> <cstdint> <filesystem> <functional> <map>
    <memory> <mutex> <numeric> <optional> <span> <string> <string_view> <thread> <utility> <variant> <vector> <fmt/format.h>)

# echolux_headers(TARGET KIND [HEADERS... LIBRARIES ...]): uses the precompiled headers KIND, which all targets of the
# kind share: those in ECHOLUX_COMMON_HEADERS, and HEADERS of the libraries. The kinds hot and hot_unchecked are optimised.
function(echolux_headers target kind)
    cmake_parse_arguments(arg "" "" LIBRARIES ${ARGN})
    set(shared echolux_headers_${kind})
    if(NOT TARGET ${shared})
        set(source ${CMAKE_BINARY_DIR}/headers_${kind}.cpp)
        file(CONFIGURE OUTPUT ${source} CONTENT "// Compiled for its precompiled headers.\n")
        add_library(${shared} OBJECT ${source})
        target_link_libraries(${shared} PRIVATE echolux_flags fmt::fmt ${arg_LIBRARIES})
        set(flags ${ECHOLUX_COLD_FLAGS})
        if(kind MATCHES "^hot")
            set(flags -O2 ${ECHOLUX_HOT_FLAGS})
        endif()
        if(kind STREQUAL "hot_unchecked")
            set_target_properties(${shared} PROPERTIES ECHOLUX_UNCHECKED ON)
        endif()
        target_compile_options(${shared} PRIVATE ${flags})
        if(kind STREQUAL "cold")
            list(APPEND arg_UNPARSED_ARGUMENTS <nlohmann/json.hpp>)
        endif()
        target_precompile_headers(${shared} PRIVATE ${ECHOLUX_COMMON_HEADERS} ${arg_UNPARSED_ARGUMENTS})
    endif()
    target_link_libraries(${target} PRIVATE fmt::fmt)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")  # compiled as position-independent executables otherwise, which the headers do not fit
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fPIC>)
    endif()
    set_target_properties(${target} PROPERTIES PRECOMPILE_HEADERS_REUSE_FROM ${shared})
    add_dependencies(${target} ${shared})
endfunction()

# echolux_room(NAME): adds the library echolux_NAME from every source below the current folder, except folders with
# their own CMakeLists.txt (see echolux_part). Standard headers are precompiled. Sources are compiled for a short build;
# echolux_hot() marks those that must be fast.
function(echolux_room name)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
    file(GLOB_RECURSE parts CONFIGURE_DEPENDS CMakeLists.txt)
    foreach(part IN LISTS parts)
        cmake_path(GET part PARENT_PATH folder)
        if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
            file(GLOB of_part ${folder}/*.cpp)
            list(REMOVE_ITEM sources ${of_part})
        endif()
    endforeach()
    add_library(echolux_${name} STATIC ${sources})
    target_link_libraries(echolux_${name} PUBLIC echolux_flags)
    target_compile_options(echolux_${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${ECHOLUX_COLD_FLAGS}>")
    echolux_headers(echolux_${name} cold)
endfunction()

# echolux_part(OPTION FOLDERS...): adds the folders of a part where ECHOLUX_OPTION is on, and the option to the list `parts`.
macro(echolux_part option)
    if(ECHOLUX_${option})
        foreach(folder ${ARGN})
            add_subdirectory(${folder})
        endforeach()
        list(APPEND parts ${option})
    endif()
endmacro()

# echolux_join(ROOM LIBRARIES...): the sources of the current folder, a part, join the room; they use the libraries.
function(echolux_join room)
    file(GLOB sources CONFIGURE_DEPENDS *.cpp)
    target_sources(echolux_${room} PRIVATE ${sources})
    target_link_libraries(echolux_${room} PRIVATE ${ARGN})
endfunction()

# echolux_together(TARGET APART...): compiles up to ECHOLUX_UNITY_SIZE sources of a folder as one, which shares the cost of
# headers and templates. cmake/unity_groups.py keeps sources apart whose anonymous namespaces share a name; APART lists
# what it cannot see. Not for numerical code: with more code in view the compiler inlines more and contracts other pairs
# of a product and a sum, which changes last bits.
find_program(ECHOLUX_PYTHON3 python3)
function(echolux_together target)
    if(NOT ECHOLUX_UNITY OR NOT ECHOLUX_PYTHON3)
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    foreach(file IN LISTS ARGN)
        cmake_path(ABSOLUTE_PATH file NORMALIZE)
        list(REMOVE_ITEM sources ${file})
    endforeach()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/unity_groups.py)
    execute_process(COMMAND ${ECHOLUX_PYTHON3} -B ${PROJECT_SOURCE_DIR}/cmake/unity_groups.py ${PROJECT_SOURCE_DIR} ${ECHOLUX_UNITY_SIZE}
        ${sources}
        OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    string(REGEX MATCHALL "[^\n]+" groups "${groups}")
    foreach(line IN LISTS groups)
        string(REGEX MATCH "^(.*)!(.*)$" line "${line}")
        set_source_files_properties(${CMAKE_MATCH_1} PROPERTIES UNITY_GROUP ${CMAKE_MATCH_2})
    endforeach()
endfunction()

# echolux_hot(TARGET [REGEX]): optimises the sources whose path matches REGEX, which work on every sample or voxel. They
# become separate objects with the target's libraries, because precompiled headers fit one set of flags. Without REGEX
# the whole target is hot.
function(echolux_hot target)
    set(flags "$<$<COMPILE_LANGUAGE:CXX>:-O2;${ECHOLUX_HOT_FLAGS}>")
    if(ARGC EQUAL 1)
        target_compile_options(${target} PRIVATE ${flags})
        echolux_headers(${target} hot_unchecked)
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    set(hot ${sources})
    list(FILTER hot INCLUDE REGEX "${ARGV1}")
    list(FILTER sources EXCLUDE REGEX "${ARGV1}")
    set_target_properties(${target} PROPERTIES SOURCES "${sources}")
    add_library(${target}_hot OBJECT ${hot})
    get_target_property(libraries ${target} LINK_LIBRARIES)
    target_link_libraries(${target}_hot PRIVATE ${libraries})
    target_compile_definitions(${target}_hot PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
    target_compile_options(${target}_hot PRIVATE ${flags})
    echolux_headers(${target}_hot hot)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_hot>)
endfunction()

# echolux_sanitized(PROGRAM): sets up a program for the sanitizers, in addition to the flags.
function(echolux_sanitized program)
    if(ECHOLUX_SANITIZE MATCHES "address")
        target_sources(${program} PRIVATE ${PROJECT_SOURCE_DIR}/tests/sanitizers/keep_libraries.cpp)
    endif()
endfunction()

# echolux_test(KIND LIBRARIES...): one program KIND_tests from the folder's sources, labelled KIND. ctest runs a process per
# suite (cmake/GtestSuites.cmake). Properties of the folder that it reads, as regular expressions or lists: TESTS_ALONE
# (cases that need a separate process), TESTS_LIVE (suites for the thread sanitizer), TESTS_VALIDATED (suites under the
# Vulkan validation layer), TESTS_CASE_COST (usual seconds of a case, a whole number), TESTS_PROPERTIES.
# Cases whose names contain "Slow" also get the label slow.
function(echolux_test kind)
    file(GLOB sources CONFIGURE_DEPENDS *.cpp)
    if(NOT sources)
        return()
    endif()
    add_executable(${kind}_tests ${sources})
    echolux_sanitized(${kind}_tests)
    target_compile_options(${kind}_tests PRIVATE ${ECHOLUX_COLD_FLAGS})
    echolux_headers(${kind}_tests tests <gtest/gtest.h> <gmock/gmock.h> LIBRARIES GTest::gtest GTest::gmock)
    if(TARGET echolux-reader)  # found beside the program
        add_dependencies(${kind}_tests echolux-reader)
        file(CREATE_LINK ${CMAKE_BINARY_DIR}/echolux-reader ${CMAKE_CURRENT_BINARY_DIR}/echolux-reader SYMBOLIC)
    endif()
    target_link_libraries(${kind}_tests PRIVATE ${ARGN} echolux_test_main GTest::gtest GTest::gmock echolux_flags)
    target_compile_definitions(${kind}_tests PRIVATE
        ECHOLUX_TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}" ECHOLUX_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    set(suites ${CMAKE_CURRENT_BINARY_DIR}/${kind}_suites.cmake)
    file(GENERATE OUTPUT ${suites} CONTENT "set(kind ${kind})
set(program \"$<TARGET_FILE:${kind}_tests>\")
set(list \"${CMAKE_CURRENT_BINARY_DIR}/${kind}_cases.txt\")
set(timeout ${ECHOLUX_TEST_TIMEOUT})
set(alone [[${TESTS_ALONE}]])
set(live [[${TESTS_LIVE}]])
set(validated [[${TESTS_VALIDATED}]])
set(case_cost [[${TESTS_CASE_COST}]])
set(properties [[${TESTS_PROPERTIES}]])
include([[${PROJECT_SOURCE_DIR}/cmake/GtestSuites.cmake]])
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${suites})
endfunction()
