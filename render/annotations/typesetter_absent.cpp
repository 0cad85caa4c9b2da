// The typesetter of a program that was built without FreeType, HarfBuzz or a font: annotations are lines alone.
#include "render/annotations/typesetter.h"

namespace echolux {

struct Typesetter::Parts {};

Typesetter::Typesetter() = default;
Typesetter::~Typesetter() = default;

std::vector<PlacedGlyph> Typesetter::set(const Label&, const glm::vec3&) {
    return {};
}

}  // namespace echolux
