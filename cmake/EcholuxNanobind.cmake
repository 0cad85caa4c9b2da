# Python's headers and nanobind: found by the interpreter that is named, or that of the virtual environment that `./dev`
# makes, or that pip builds in. Sets Python_Development.Module_FOUND and nanobind_FOUND.
if(NOT Python_EXECUTABLE AND EXISTS ${CMAKE_CURRENT_LIST_DIR}/../build/python/bin/python3)
    set(Python_EXECUTABLE ${CMAKE_CURRENT_LIST_DIR}/../build/python/bin/python3)
endif()
find_package(Python 3.10 QUIET COMPONENTS Interpreter Development.Module)
if(Python_Development.Module_FOUND)
    execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT
        ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    find_package(nanobind 3.1 CONFIG QUIET)
    # By this nanobind knows that the stable interface is wanted; CMake has it since 3.26. Here nothing is linked to it.
    if(UNIX AND NOT TARGET Python::SABIModule)
        add_library(Python::SABIModule INTERFACE IMPORTED)
    endif()
endif()
