# A font file as C++: cmake -D FONT=... -D HEADER=... -D SYMBOL=... -D OUTPUT=... -P EmbedFont.cmake
# HEADER declares `const unsigned char SYMBOL[]` and `const std::size_t SYMBOL_bytes`.
file(READ ${FONT} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR count "${digits} / 2")
string(REGEX REPLACE "(................................................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
get_filename_component(name ${FONT} NAME)
file(WRITE ${OUTPUT} "// ${name}, made at build time.
#include \"${HEADER}\"

namespace echolux {

const unsigned char ${SYMBOL}[] = {
${bytes}};
const std::size_t ${SYMBOL}_bytes = ${count};

}  // namespace echolux
")
