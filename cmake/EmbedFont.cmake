# A font file as C++: cmake -D FONT=... -D OUTPUT=... -P EmbedFont.cmake
file(READ ${FONT} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR count "${digits} / 2")
string(REGEX REPLACE "(................................................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
get_filename_component(name ${FONT} NAME)
file(WRITE ${OUTPUT} "// ${name}, made at build time.
#include \"render/annotations/embedded_font.h\"

namespace echolux {

const unsigned char embedded_font[] = {
${bytes}};
const std::size_t embedded_font_bytes = ${count};

}  // namespace echolux
")
