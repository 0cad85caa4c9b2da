# `cmake --install` creates a folder that can be copied to another machine. It contains the program, the libraries that
# it needs, the licence and the documentation. The C and C++ runtimes and the libraries of the graphics driver come from
# the target machine: a newer Mesa needs a newer libstdc++ than ours, and a process can load only one.
# The component gpu_tests adds everything that `gpu-test` needs there: the tests of the CUDA backend, their vectors, the
# peers, and a Vulkan loader for machines without one. cuFFT, cuBLAS and CUPTI come from that machine's CUDA toolkit.

# echolux_carried(PROGRAM ARGUMENTS...): installs a program that finds its libraries next to it. ARGUMENTS are passed to
# each install().
function(echolux_carried program)
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
    target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)  # RPATH, which also applies to libraries of
                                                                     # libraries
    install(TARGETS ${program} RUNTIME_DEPENDENCY_SET ${program}_libraries RUNTIME DESTINATION bin ${ARGN})
    install(RUNTIME_DEPENDENCY_SET ${program}_libraries DESTINATION lib ${ARGN}
        PRE_EXCLUDE_REGEXES "^ld-linux" "^libecholux_cuda" "^lib(c|m|dl|rt|pthread|resolv|stdc\\+\\+|gcc_s)\\.so" "^libcuda\\.so")
endfunction()

echolux_carried(echolux)
echolux_carried(echolux-reader)
# Completion of the shells, in the folders where they look. A program for another machine cannot be run here.
install(CODE [[
    set(program "${CMAKE_INSTALL_PREFIX}/bin/echolux")
    foreach(place bash-completion/completions/echolux zsh/site-functions/_echolux fish/vendor_completions.d/echolux.fish)
        string(REGEX MATCH "^[a-z]+" shell ${place})
        execute_process(COMMAND "$ENV{DESTDIR}${program}" info --completion ${shell} OUTPUT_VARIABLE script
            RESULT_VARIABLE result ERROR_QUIET)
        if(result EQUAL 0)
            file(WRITE "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share/${place}" "${script}")
        endif()
    endforeach()
]])
if(TARGET echolux_library)  # its libraries are in the same folder, and so are their dependencies
    target_link_options(echolux_library PRIVATE -Wl,--disable-new-dtags)
endif()
install(FILES README.md LICENSE CHANGELOG.md CITATION.cff CONTRIBUTING.md CODE_OF_CONDUCT.md DESTINATION .)
if(TARGET gpu_tests)  # without the pictures, to be small
    install(DIRECTORY docs DESTINATION . FILES_MATCHING PATTERN "*.md")
else()
    install(DIRECTORY docs DESTINATION . FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.webp")
endif()
install(DIRECTORY plugins DESTINATION . FILES_MATCHING PATTERN "*.h" PATTERN "*.c")  # for plugin authors

if(TARGET gpu_tests)
    set(for_gpu COMPONENT gpu_tests EXCLUDE_FROM_ALL)
    echolux_carried(gpu_tests ${for_gpu})
    install(PROGRAMS tests/gpu/gpu-test DESTINATION . ${for_gpu})
    install(DIRECTORY tests/bench/peers/ DESTINATION share/peers ${for_gpu} PATTERN "__pycache__" EXCLUDE)
    install(DIRECTORY ${CMAKE_BINARY_DIR}/tests/oracle/vectors DESTINATION share ${for_gpu} OPTIONAL)
    install(DIRECTORY ${CMAKE_BINARY_DIR}/tests/vulkan_copies/layer/ DESTINATION share/vulkan_copies ${for_gpu} OPTIONAL)
    find_library(ECHOLUX_VULKAN_LOADER libvulkan.so.1)
    mark_as_advanced(ECHOLUX_VULKAN_LOADER)
    if(ECHOLUX_VULKAN_LOADER)
        file(REAL_PATH ${ECHOLUX_VULKAN_LOADER} loader)
        install(PROGRAMS ${loader} DESTINATION lib/vulkan RENAME libvulkan.so.1 ${for_gpu})
    endif()
endif()
