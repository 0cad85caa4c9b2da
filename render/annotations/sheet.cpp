#include "render/annotations/sheet.h"

#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>

namespace echolux {
namespace {

constexpr double line_per_em = 0.09;
constexpr float rim_opacity = 0.6F;
constexpr double title_band = 1.8;    // em
constexpr double letter_width = 0.6;  // em, approximate mean

// Luminance after ITU-R BT.709. A transparent background counts as dark, as for the box.
bool is_dark(const View& view) {
    const std::vector<double>& rgb = view.background;
    return view.transparent || 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2] < 0.5;
}

glm::vec3 chosen_ink(const View& view) {
    const std::vector<double>& asked = view.text_colour;
    if (!asked.empty()) return glm::vec3(glm::dvec3(asked[0], asked[1], asked[2]));
    return glm::vec3(is_dark(view) ? 0.95F : 0.08F);
}

glm::vec3 contrast(const glm::vec3& ink) {
    return glm::vec3(glm::dot(ink, glm::vec3(0.2126F, 0.7152F, 0.0722F)) > 0.4F ? 0.0F : 1.0F);
}

glm::vec4 pixels(const glm::dvec2& a, const glm::dvec2& b) {
    return glm::vec4(glm::dvec4(a, b));
}

}  // namespace

Sheet::Sheet(const View& view)
    : size_(view.width, view.height), em_(view.text_size * std::min(size_.x, size_.y)),
      line_width_(std::max(1.0, line_per_em * em_)),
      frame_(std::round(view.picture_frame * std::min(size_.x, size_.y))),
      band_(view.title.empty() ? 0 : std::max(frame_, std::ceil(title_band * em_))), ink_(chosen_ink(view)),
      rim_(contrast(ink_)) {}

void Sheet::add_line(const glm::dvec2& from, const glm::dvec2& to, double width, const glm::vec4& colour) {
    shapes_.push_back({.at = pixels(from, to),
                       .colour = colour,
                       .more = {static_cast<float>(width), 0},
                       .kind = shared::shape_line,
                       .coverage = 0});
}

void Sheet::line(const glm::dvec2& from, const glm::dvec2& to, const glm::vec3& colour) {
    add_line(from, to, 2 * line_width_, {rim_, rim_opacity});
    add_line(from, to, line_width_, {colour, 1});
}

void Sheet::wide_line(const glm::dvec2& from, const glm::dvec2& to, double widths, const glm::vec4& colour) {
    add_line(from, to, widths * line_width_, colour);
}

void Sheet::arrow(const glm::dvec2& from, const glm::dvec2& to, const glm::vec3& colour) {
    const double head = std::min(5 * line_width_, glm::length(to - from));
    const glm::dvec2 along = glm::length(to - from) > 0 ? glm::normalize(to - from) : glm::dvec2(1, 0);
    const glm::dvec2 across(-along.y, along.x);
    const glm::dvec2 base = to - head * along;
    line(from, base, colour);
    shapes_.push_back({.at = pixels(to, base + 0.45 * head * across),
                       .colour = {colour, 1},
                       .more = glm::vec2(base - 0.45 * head * across),
                       .kind = shared::shape_triangle,
                       .coverage = 0});
}

void Sheet::rectangle(const glm::dvec2& low, const glm::dvec2& high, const glm::vec3& colour) {
    shapes_.push_back(
        {.at = pixels(low, high), .colour = {colour, 1}, .more = {}, .kind = shared::shape_rectangle, .coverage = 0});
}

void Sheet::rimmed_rectangle(const glm::dvec2& low, const glm::dvec2& high, const glm::vec3& colour) {
    const glm::dvec2 rim(0.5 * line_width_);
    rectangle(low - rim, high + rim, rim_);
    shapes_.back().colour.a = rim_opacity;
    rectangle(low, high, colour);
}

double Sheet::make_room(const glm::dvec2& low, const glm::dvec2& high, double down) {
    const double gap = 0.25 * em_;
    double shift = 0;
    const auto meets = [&](const Block& block) {
        return low.x < block.high.x && high.x > block.low.x && low.y + shift < block.high.y + gap &&
               high.y + shift > block.low.y - gap;
    };
    const auto finds_room = [&](bool is_down) {
        shift = 0;
        for (std::size_t tries = 0; tries <= blocks_.size(); ++tries) {
            const auto hit = std::ranges::find_if(blocks_, meets);
            if (hit == blocks_.end()) break;
            // Slightly more than the gap, so that adjacent blocks do not overlap by rounding.
            shift = is_down ? hit->high.y + 1.01 * gap - low.y : hit->low.y - 1.01 * gap - high.y;
        }
        const bool is_inside = low.y + shift >= frame_ && high.y + shift <= size_.y - frame_;
        return shift == 0 || (is_inside && std::ranges::none_of(blocks_, meets));
    };
    if (!finds_room(down > 0) && !finds_room(down <= 0)) shift = 0;
    blocks_.push_back({low + glm::dvec2(0, shift), high + glm::dvec2(0, shift)});
    return shift;
}

glm::dvec2 Sheet::size_of(const std::string& text) const {
    const auto letters =
        // counts code points: continuation bytes of UTF-8 start with 10
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    return {letter_width * em_ * static_cast<double>(letters), em_};
}

void Sheet::label(std::string text, const glm::dvec2& at, const glm::dvec2& anchor, const glm::vec3& colour) {
    labels_.push_back({std::move(text), at, anchor, colour, em_});
}

// ---- Typesetter

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
