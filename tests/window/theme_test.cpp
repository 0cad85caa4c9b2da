// Text is legible in both themes: its contrast to each background on which it is drawn is at least 4.5 to 1, as
// WCAG 2.1 requires (1.4.3).
#include "ui/window/theme.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace echolux::test {
namespace {

// Relative luminance of an sRGB colour, WCAG 2.1.
double luminance(const ImVec4& colour) {
    const auto linear = [](float value) {
        const auto v = static_cast<double>(value);
        return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.x) + 0.7152 * linear(colour.y) + 0.0722 * linear(colour.z);
}

double contrast(const ImVec4& a, const ImVec4& b) {
    const double brighter = std::max(luminance(a), luminance(b)), darker = std::min(luminance(a), luminance(b));
    return (brighter + 0.05) / (darker + 0.05);
}

// A badge is a faint area of its colour on a panel.
ImVec4 badge_ground(const Style& style, const ImVec4& colour) {
    const auto mixed = [](float of, float with) { return of + badge_opacity * (with - of); };
    return {mixed(style.surface.x, colour.x), mixed(style.surface.y, colour.y), mixed(style.surface.z, colour.z), 1};
}

struct Named {
    const char* name;
    ImVec4 colour;
};

class ThemeContrast : public testing::TestWithParam<WindowTheme> {
  protected:
    ThemeContrast() { set_colours(style_, GetParam()); }
    void expect_text(const std::vector<Named>& texts, const std::vector<Named>& grounds) const {
        for (const Named& text : texts) {
            for (const Named& ground : grounds)
                EXPECT_GE(contrast(text.colour, ground.colour), 4.5) << text.name << " on " << ground.name;
        }
    }

    Style style_;
};

TEST_P(ThemeContrast, TextIsLegibleOnPanelsAndControls) {
    const Style& s = style_;
    expect_text({{"ink", s.ink}}, {{"ground", s.ground},
                                   {"surface", s.surface},
                                   {"raised", s.raised},
                                   {"lit", s.lit},
                                   {"control", s.control},
                                   {"hovered", s.hovered},
                                   {"pressed", s.pressed}});
    expect_text({{"muted", s.muted}}, {{"ground", s.ground}, {"surface", s.surface}, {"raised", s.raised}});
    for (const Named& state : {Named{"accent", s.accent}, Named{"warning", s.warning}, Named{"good", s.good},
                               Named{"late", s.late}, Named{"alarm", s.alarm}}) {
        expect_text({state}, {{"surface", s.surface}, {"a badge of its colour", badge_ground(s, state.colour)}});
    }
    expect_text({{"text on the accent", s.on_accent}}, {{"accent", s.accent}});
    expect_text({{"white", {1, 1, 1, 1}}}, {{"recording", s.recording}});
}

INSTANTIATE_TEST_SUITE_P(Both, ThemeContrast, testing::Values(WindowTheme::dark, WindowTheme::light),
                         [](const auto& one) { return one.param == WindowTheme::dark ? "Dark" : "Light"; });

}  // namespace
}  // namespace echolux::test
