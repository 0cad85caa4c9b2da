# Embeds files into the program as bytes. When included: echolux_embed(LIBRARY PATH FILE) adds FILE to LIBRARY, where
# assets/assets.h finds it as PATH; echolux_embedded(LIBRARY) then writes the list of all files. As a script, cmake -D
# PATH=... -D FILE=... -D SYMBOL=... -D OUTPUT=... -P EmbedAssets.cmake writes the bytes of one file.
if(CMAKE_SCRIPT_MODE_FILE)
    file(READ ${FILE} bytes HEX)
    string(LENGTH "${bytes}" digits)
    math(EXPR count "${digits} / 2")
    string(REGEX REPLACE "(................................................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    file(WRITE ${OUTPUT} "// ${PATH}, made at build time.
#include \"assets/embedded.h\"

namespace echolux {
namespace {
constexpr unsigned char bytes[] = {
${bytes}};
}  // namespace

extern const EmbeddedFile ${SYMBOL};
const EmbeddedFile ${SYMBOL}{\"${PATH}\", bytes, ${count}};

}  // namespace echolux
")
    return()
endif()

set(ECHOLUX_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(echolux_embed library path file)
    string(MAKE_C_IDENTIFIER asset_${path} symbol)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
    add_custom_command(OUTPUT ${source}
        COMMAND ${CMAKE_COMMAND} -D PATH=${path} -D FILE=${file} -D SYMBOL=${symbol} -D OUTPUT=${source}
            -P ${ECHOLUX_EMBED_SCRIPT}
        DEPENDS ${file} ${ECHOLUX_EMBED_SCRIPT} COMMENT "Embedding ${path}" VERBATIM)
    target_sources(${library} PRIVATE ${source})
    set_property(TARGET ${library} APPEND PROPERTY ECHOLUX_EMBEDDED ${symbol})
endfunction()

function(echolux_embedded library)
    get_target_property(symbols ${library} ECHOLUX_EMBEDDED)
    list(JOIN symbols ", &" pointers)
    list(JOIN symbols ", " names)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded.cpp)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "// Every embedded file, made by cmake/EmbedAssets.cmake.
#include \"assets/embedded.h\"

namespace echolux {

extern const EmbeddedFile @names@;

std::span<const EmbeddedFile* const> embedded_files() {
    static constexpr const EmbeddedFile* files[] = {&@pointers@};
    return files;
}

}  // namespace echolux
")
    target_sources(${library} PRIVATE ${source})
endfunction()
