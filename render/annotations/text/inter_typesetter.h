// Text in the program's own font (Inter, embedded when the program is built): shaped by HarfBuzz, which knows kerning,
// and drawn by FreeType at the exact size.
#pragma once

#include <memory>

#include "render/annotations/typesetter.h"

namespace echolux {

std::unique_ptr<Typesetter> make_inter_typesetter();

}  // namespace echolux
