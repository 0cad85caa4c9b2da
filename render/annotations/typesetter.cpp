#include "render/annotations/typesetter.h"

#include "render/annotations/text/inter_typesetter.h"

namespace echolux {
namespace {

#ifdef ECHOLUX_TEXT
constexpr bool has_text = true;
#else
constexpr bool has_text = false;
#endif

}  // namespace

std::unique_ptr<Typesetter> make_typesetter() {
    if constexpr (has_text) return make_inter_typesetter();
    return nullptr;
}

}  // namespace echolux
