// Colour maps compared with Matplotlib's (colour_maps.txt, created by colour_maps.py), and checked for perceptual
// quality.
#include "render/view/curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <glm/common.hpp>
#include <set>
#include <sstream>
#include <string>

namespace echolux {
namespace {

// Lightness, green to red, blue to yellow (OKLab, B. Ottosson 2020).
glm::dvec3 oklab(const glm::dvec3& srgb) {
    glm::dvec3 linear;
    for (int c = 0; c < 3; ++c) {
        linear[c] = srgb[c] <= 0.04045 ? srgb[c] / 12.92 : std::pow((srgb[c] + 0.055) / 1.055, 2.4);
    }
    const double l = std::cbrt(0.4122214708 * linear.r + 0.5363325363 * linear.g + 0.0514459929 * linear.b);
    const double m = std::cbrt(0.2119034982 * linear.r + 0.6806995451 * linear.g + 0.1073969566 * linear.b);
    const double s = std::cbrt(0.0883024619 * linear.r + 0.2817188376 * linear.g + 0.6299787005 * linear.b);
    return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

// The colour as seen by a deuteranope (G. Machado et al., IEEE TVCG 15(6), 2009, severity 1; applied to linear light).
glm::dvec3 as_seen_without_green(const glm::dvec3& srgb) {
    const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    const auto shown = [](double c) {
        return c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(std::min(c, 1.0), 1 / 2.4) - 0.055;
    };
    const double r = linear(srgb.r), g = linear(srgb.g), b = linear(srgb.b);
    return {shown(std::max(0.0, 0.367322 * r + 0.860646 * g - 0.227968 * b)),
            shown(std::max(0.0, 0.280085 * r + 0.672501 * g + 0.047413 * b)),
            shown(std::max(0.0, -0.011820 * r + 0.042940 * g + 0.968881 * b))};
}

const std::set<std::string> listed{"viridis", "magma", "inferno", "plasma", "cividis"};

TEST(ColourMaps, MatchMatplotlibWithinTwoStepsOf255) {
    std::ifstream file(ECHOLUX_TEST_DIR "/colour_maps.txt");
    std::size_t maps = 0;
    for (std::string line; std::getline(file, line); ++maps) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        ASSERT_TRUE(listed.contains(name)) << name;
        const ColourMap map = colour_map(name);
        for (int i = 0; i < 256; ++i) {
            unsigned packed = 0;
            ASSERT_TRUE(words >> std::hex >> packed);
            const glm::dvec3 colour = glm::round(255.0 * colour_at(map, i / 255.0));
            EXPECT_NEAR(colour.r, packed >> 16 & 255, 2) << name << " " << i;
            EXPECT_NEAR(colour.g, packed >> 8 & 255, 2) << name << " " << i;
            EXPECT_NEAR(colour.b, packed & 255, 2) << name << " " << i;
        }
    }
    EXPECT_EQ(maps, listed.size());
}

TEST(ColourMaps, IncreaseInLightness) {
    for (const std::string& name : listed) {
        const ColourMap map = colour_map(name);
        for (std::size_t i = 1; i < map.size(); ++i) {
            EXPECT_GT(oklab(map[i]).x, oklab(map[i - 1]).x) << name << " " << i;
        }
    }
}

TEST(ColourMaps, GrayIsGrayAndEndsAreConstant) {
    const ColourMap map = colour_map("gray");
    for (const double level : {0.0, 0.1, 0.77, 1.0}) {
        const glm::dvec3 gray = colour_at(map, level);
        EXPECT_NEAR(gray.r, level, 0.5 / 255);
        EXPECT_EQ(gray.r, gray.g);
        EXPECT_EQ(gray.r, gray.b);
    }
    const ColourMap magma = colour_map("magma");
    EXPECT_EQ(colour_at(magma, -3), colour_at(magma, 0));
    EXPECT_EQ(colour_at(magma, 7), colour_at(magma, 1));
}

TEST(CyclicMap, HasOneLightnessAndMeetsItself) {
    const ColourMap map = colour_map("cyclic");
    const glm::dvec3 first = oklab(map.front());
    EXPECT_EQ(map.front(), map.back());
    double angle = 0;
    for (std::size_t i = 1; i < map.size(); ++i) {
        const glm::dvec3 one = oklab(map[i - 1]), next = oklab(map[i]);
        EXPECT_NEAR(next.x, first.x, 0.005) << i;
        EXPECT_NEAR(std::hypot(next.y, next.z), std::hypot(first.y, first.z), 0.005) << i;
        const double step = std::atan2(one.y * next.z - one.z * next.y, one.y * next.y + one.z * next.z);
        EXPECT_GT(step, 0) << i;
        angle += step;
    }
    EXPECT_NEAR(angle, 2 * 3.14159265, 1e-6);
}

TEST(FlowMap, HasEqualLightnessOnBothSidesAndVisibleGrayCentre) {
    double last = oklab(colour_at(flow_map(), 0.5)).x;
    EXPECT_NEAR(last, 0.4, 0.02);
    const glm::dvec3 middle = oklab(colour_at(flow_map(), 0.5));
    EXPECT_NEAR(std::hypot(middle.y, middle.z), 0, 0.005);
    for (double away = 1.0 / 64; away <= 0.5; away += 1.0 / 64) {
        const double one = oklab(colour_at(flow_map(), 0.5 - away)).x;
        const double other = oklab(colour_at(flow_map(), 0.5 + away)).x;
        EXPECT_NEAR(one, other, 0.004) << away;
        EXPECT_GT(one, last) << away;
        last = one;
    }
    EXPECT_GT(last, 0.75);
}

TEST(FlowMap, SidesDifferWithoutGreen) {
    for (double away = 0.1; away <= 0.5; away += 0.05) {
        const glm::dvec3 one = oklab(as_seen_without_green(colour_at(flow_map(), 0.5 - away)));
        const glm::dvec3 other = oklab(as_seen_without_green(colour_at(flow_map(), 0.5 + away)));
        EXPECT_LT(one.z, -0.03) << away;   // bluish
        EXPECT_GT(other.z, 0.03) << away;  // yellowish
    }
}

}  // namespace
}  // namespace echolux
