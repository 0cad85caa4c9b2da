# Finds Python's headers and nanobind with the given interpreter, that of the virtual environment of `./dev`, or the one
# in which pip builds. Sets Python_Development.Module_FOUND, nanobind_FOUND, and ECHOLUX_PYTHON_ENVIRONMENT: the
# environment variables with which Python can load the module.
if(NOT Python_EXECUTABLE AND EXISTS ${CMAKE_CURRENT_LIST_DIR}/../build/python/bin/python3)
    set(Python_EXECUTABLE ${CMAKE_CURRENT_LIST_DIR}/../build/python/bin/python3)
endif()
find_package(Python 3.10 QUIET COMPONENTS Interpreter Development.Module)
if(Python_Development.Module_FOUND)
    execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT
        ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    find_package(nanobind 3.1 CONFIG QUIET)
    # This target makes nanobind use the stable ABI. CMake defines it since 3.26. Nothing is linked to it here.
    if(UNIX AND NOT TARGET Python::SABIModule)
        add_library(Python::SABIModule INTERFACE IMPORTED)
    endif()
endif()

# Python is not built with the address sanitizer, so the sanitizer's runtime and the libraries it intercepts must be
# preloaded. Leak detection is off because Python keeps memory until it exits.
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
