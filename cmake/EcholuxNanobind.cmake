# Python's headers and nanobind: found by the interpreter that is named, or that of the virtual environment that `./dev`
# makes, or that pip builds in. Sets Python_Development.Module_FOUND, nanobind_FOUND, and ECHOLUX_PYTHON_ENVIRONMENT: what
# Python needs in its environment to load the module.
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

# Python knows nothing of the address sanitizer, whose runtime has to be there first, with what it watches. What Python
# keeps until its end is no leak.
set(ECHOLUX_PYTHON_ENVIRONMENT "")
if(ECHOLUX_SANITIZE)
    set(runtimes "")
    foreach(name libasan.so libubsan.so libstdc++.so)
        execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${name} OUTPUT_VARIABLE runtime
            OUTPUT_STRIP_TRAILING_WHITESPACE)
        file(REAL_PATH ${runtime} runtime)
        list(APPEND runtimes ${runtime})
    endforeach()
    list(JOIN runtimes ":" runtimes)
    set(ECHOLUX_PYTHON_ENVIRONMENT LD_PRELOAD=${runtimes}
        ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 ECHOLUX_IS_SANITIZED=1)
endif()
