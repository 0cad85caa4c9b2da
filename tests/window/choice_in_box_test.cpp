// The box of a choice in a narrow panel: its text is complete if there is room, and never extends beyond the box.
#include <gtest/gtest.h>
#include <imgui.h>

#include <string>

#include "ui/panels/widgets.h"
#include "ui/window/theme.h"

namespace echolux::test {
namespace {

class ChoiceBoxTest : public testing::Test {
  protected:
    void SetUp() override {
        ImGui::CreateContext();
        Style style;
        style.scale = 1;
        ImGui::GetIO().IniFilename = nullptr;
        load_fonts(style);
        apply_theme(style);
        ImGui::GetIO().Fonts->Build();
        ImGui::GetIO().DisplaySize = {640, 400};
        ImGui::NewFrame();
    }
    void TearDown() override {
        ImGui::EndFrame();
        ImGui::DestroyContext();
    }
};

TEST_F(ChoiceBoxTest, TextReplacesArrowBeforeItIsCut) {
    const std::string value = "minimum variance";
    const float padding = 2 * ImGui::GetStyle().FramePadding.x, text = ImGui::CalcTextSize(value.c_str()).x;
    int with_arrow = 0, whole = 0, cut = 0;
    for (float width = 50; width < text + padding + 2 * ImGui::GetFrameHeight(); width += 1) {
        SCOPED_TRACE(width);
        const ChoiceInBox seen = choice_in_box(value, width);
        const float arrow = seen.has_arrow ? ImGui::GetFrameHeight() : 0;
        EXPECT_LE(ImGui::CalcTextSize(seen.text.c_str()).x + arrow + padding, width);
        EXPECT_EQ(seen.text == value, width >= text + padding);
        with_arrow += seen.has_arrow ? 1 : 0;
        whole += !seen.has_arrow && seen.text == value ? 1 : 0;
        cut += seen.text != value ? 1 : 0;
    }
    EXPECT_GT(with_arrow, 0);
    EXPECT_GT(whole, 0);
    EXPECT_GT(cut, 0);
}

}  // namespace
}  // namespace echolux::test
