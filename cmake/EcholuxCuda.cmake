# The CUDA backend. By default it is on if the machine has a GPU and nvcc; otherwise one line reports it and everything
# else works. Only the static runtime is linked. cuFFT and cuBLAS are opened on demand, so that the same program starts
# on every machine.

set(ECHOLUX_CUDA "auto" CACHE STRING
    "Reconstruct on NVIDIA GPUs; auto: where this machine has one, because kernels take long to compile")
option(ECHOLUX_SHARED_CUDA "One copy of the kernels for all programs of a package: libecholux_cuda.so" OFF)
set(ECHOLUX_CUDA_ARCHITECTURES "auto" CACHE STRING
    "As CMAKE_CUDA_ARCHITECTURES; auto: the GPU of this machine, or 90 where there is none")

execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader OUTPUT_VARIABLE capabilities
    RESULT_VARIABLE no_gpu ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT capabilities MATCHES "^[0-9]+\\.[0-9]+")
    set(no_gpu TRUE)
endif()

# Sanitizers and coverage instrument host code; nvcc cannot pass their flags on to the host part of a .cu file.
if(ECHOLUX_CUDA AND (ECHOLUX_SANITIZE OR ECHOLUX_COVERAGE))
    set(ECHOLUX_CUDA OFF)
    message(STATUS "CUDA off: sanitizers and coverage look at the host's code")
endif()

if(ECHOLUX_CUDA STREQUAL "auto" AND no_gpu)
    set(ECHOLUX_CUDA OFF)
    message(STATUS "CUDA off: this machine has no NVIDIA GPU that its driver knows (its code is compiled for tests, and by ./dev package)")
elseif(ECHOLUX_CUDA STREQUAL "auto")
    set(ECHOLUX_CUDA ON)
endif()

# Reports a missing, broken or outdated toolkit in one line and continues without CUDA.
if(ECHOLUX_CUDA AND NOT CMAKE_CUDA_COMPILER)
    find_program(nvcc nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin NO_CACHE)
    if(nvcc)
        execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE nvcc_says RESULT_VARIABLE nvcc_fails ERROR_QUIET)
        string(REGEX MATCH "release ([0-9.]+)" nvcc_release "${nvcc_says}")
        set(nvcc_release "${CMAKE_MATCH_1}")
    endif()
    if(NOT nvcc)
        set(why "nvcc was not found")
    elseif(nvcc_fails OR NOT nvcc_release)
        set(why "${nvcc} does not work")
    elseif(nvcc_release VERSION_LESS 13)
        set(why "${nvcc} is of release ${nvcc_release}")
    endif()
    if(why)
        message(STATUS "CUDA off: ${why} (NVIDIA GPUs need CUDA toolkit 13 or newer; everything else works)")
        set(ECHOLUX_CUDA OFF)
    else()
        set(CMAKE_CUDA_COMPILER ${nvcc})
    endif()
endif()

if(ECHOLUX_CUDA)
    set(CMAKE_CUDA_ARCHITECTURES ${ECHOLUX_CUDA_ARCHITECTURES})
    if(ECHOLUX_CUDA_ARCHITECTURES STREQUAL "auto")
        if(NOT no_gpu)  # `native` fails without a GPU
            string(REGEX REPLACE "\n.*" "" capability "${capabilities}")
            string(REPLACE "." "" CMAKE_CUDA_ARCHITECTURES "${capability}")
        else()
            set(CMAKE_CUDA_ARCHITECTURES 90)
        endif()
    endif()
    if(NOT CMAKE_CUDA_HOST_COMPILER)
        set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
    endif()
    if(ECHOLUX_CCACHE)
        set(CMAKE_CUDA_COMPILER_LAUNCHER ${ECHOLUX_CCACHE})
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
        message(FATAL_ERROR "CUDA ${CMAKE_CUDA_COMPILER_VERSION} is too old: install toolkit 13, "
            "or configure with -DECHOLUX_CUDA=OFF")
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know nvcc's option for C++20
        set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
        set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    message(STATUS "CUDA ${CMAKE_CUDA_COMPILER_VERSION} for architectures ${CMAKE_CUDA_ARCHITECTURES}")
endif()

# Flags for nvcc. -Wpedantic is left out because it warns about the code that nvcc generates from a .cu file.
set(ECHOLUX_CUDA_FLAGS --Werror=all-warnings --expt-relaxed-constexpr -lineinfo
    -Xcompiler=-Wall,-Wextra,-Wno-unused-parameter,-Werror)
if(NOT ECHOLUX_CUDA_ARCHITECTURES STREQUAL "auto")  # for distribution: a tenth of the size, for some ms at startup
    list(APPEND ECHOLUX_CUDA_FLAGS --compress-mode=size)
endif()
