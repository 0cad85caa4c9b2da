# `cmake --install` makes a folder that can be carried to another machine: the program, the libraries it needs beside it,
# licence and documents. The C library and what belongs to the graphics driver stay with the target machine.
set_target_properties(echolux PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
target_link_options(echolux PRIVATE -Wl,--disable-new-dtags)  # RPATH, which also holds for the libraries of libraries

install(TARGETS echolux RUNTIME_DEPENDENCY_SET echolux_libraries RUNTIME DESTINATION bin)
install(RUNTIME_DEPENDENCY_SET echolux_libraries DESTINATION lib
    PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv)\\.so")
install(FILES README.md LICENSE CHANGELOG.md DESTINATION .)
install(DIRECTORY docs DESTINATION . FILES_MATCHING PATTERN "*.md" PATTERN "*.png")
