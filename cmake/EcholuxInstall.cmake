# `cmake --install` makes a folder that can be carried to another machine: the program, the libraries it needs beside it,
# licence and documents. The C and C++ libraries and what belongs to the graphics driver stay with the target machine: a
# newer Mesa wants a newer libstdc++ than ours, and a process has but one.
# The component gpu_tests adds what `gpu-test` needs there: the tests of the CUDA backend, their vectors, the peers, and
# a Vulkan loader for machines without one. cuFFT, cuBLAS and CUPTI come from that machine's CUDA toolkit.

# echolux_carried(PROGRAM ARGUMENTS...): finds its libraries beside it; ARGUMENTS go to each install().
function(echolux_carried program)
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
    target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)  # RPATH, which also holds for libraries of libraries
    install(TARGETS ${program} RUNTIME_DEPENDENCY_SET ${program}_libraries RUNTIME DESTINATION bin ${ARGN})
    install(RUNTIME_DEPENDENCY_SET ${program}_libraries DESTINATION lib ${ARGN}
        PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|stdc\\+\\+|gcc_s)\\.so" "^libcuda\\.so")
endfunction()

echolux_carried(echolux)
echolux_carried(echolux-reader)
if(TARGET echolux_library)  # its libraries lie beside it, and theirs too
    target_link_options(echolux_library PRIVATE -Wl,--disable-new-dtags)
endif()
install(FILES README.md LICENSE CHANGELOG.md CITATION.cff CONTRIBUTING.md CODE_OF_CONDUCT.md DESTINATION .)
install(DIRECTORY docs DESTINATION . FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.webp")
install(DIRECTORY plugins DESTINATION . FILES_MATCHING PATTERN "*.h" PATTERN "*.c")  # for authors of plugins

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
