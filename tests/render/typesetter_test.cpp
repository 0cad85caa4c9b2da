// Text as glyphs: kerned, with the special characters of OCT, and omitted if it would be unreadable.
#include <gtest/gtest.h>

#include "render/annotations/sheet.h"

namespace echolux::test {
namespace {

double begin_of(Typesetter& typesetter, const char* text) {
    const Label label{text, {2000, 0}, {1, 0}, glm::vec3(1), 100};
    const std::vector<SheetGlyph> glyphs = typesetter.set(label, glm::vec3(0));
    return glyphs.empty() ? 2000 : glyphs.front().left_top.x - glyphs.front().pixels->offset.x;
}

TEST(Typesetter, KernsAndHasUnitSymbols) {
    const std::unique_ptr<Typesetter> made = make_typesetter();
    if (!made) GTEST_SKIP() << "built without a font";
    Typesetter& typesetter = *made;
    const auto width = [&](const char* text) { return 2000 - begin_of(typesetter, text); };
    EXPECT_LT(width("AV"), width("A") + width("V") - 3);
    const auto coverage = [&](const char* text) {
        return typesetter.set({text, {}, {}, glm::vec3(1), 40}, glm::vec3(0)).front().pixels->coverage;
    };
    for (const char* sign : {"µ", "°", "×"}) EXPECT_NE(coverage(sign), coverage("\uE0FF")) << sign;
    EXPECT_TRUE(typesetter.set({"unreadable", {}, {}, glm::vec3(1), 2}, glm::vec3(0)).empty());
}

}  // namespace
}  // namespace echolux::test
