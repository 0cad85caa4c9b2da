// Typesetter for the embedded font (Inter). HarfBuzz shapes the text, including kerning, and FreeType renders it at the
// exact size.
#pragma once

#include <memory>

#include "render/annotations/typesetter.h"

namespace echolux {

std::unique_ptr<Typesetter> make_inter_typesetter();

}  // namespace echolux
