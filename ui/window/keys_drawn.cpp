#include "ui/window/keys_drawn.h"

#include <cmath>
#include <vector>

#include "ui/window/theme.h"

namespace echolux {
namespace {

// Splits a combination at each "+". "Ctrl++" is Ctrl and the plus key.
std::vector<std::string> parts_of(const std::string& keys) {
    std::vector<std::string> parts(1);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i] == '+' && !parts.back().empty() && i + 1 < keys.size())
            parts.emplace_back();
        else
            parts.back() += keys[i];
    }
    return parts;
}

float cap_width(const Style& style, const std::string& part) {
    return std::round(style.text->CalcTextSizeA(style.text->FontSize, 1e6f, 0, part.c_str()).x + style.px(12));
}

}  // namespace

float width_of_keys(const Style& style, const std::string& keys) {
    float width = 0;
    for (const std::string& part : parts_of(keys)) width += cap_width(style, part) + style.px(3);
    return width - style.px(3);
}

float draw_keys_left(const Style& style, ImVec2 left_middle, const std::string& keys) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float height = style.px(22), size = style.text->FontSize;
    float left = left_middle.x;
    for (const std::string& part : parts_of(keys)) {
        const float width = cap_width(style, part);
        const ImVec2 low{left, std::round(left_middle.y - 0.5f * height)}, high{left + width, low.y + height};
        list.AddRectFilled(low, high, ImGui::GetColorU32(ImVec4(1, 1, 1, 0.07f)), style.px(4));
        list.AddRect(low, high, ImGui::GetColorU32(ImVec4(1, 1, 1, 0.10f)), style.px(4));
        list.AddText(style.text, size, {left + style.px(6), std::round(left_middle.y - 0.5f * size)},
                     ImGui::GetColorU32(style.muted), part.c_str());
        left += width + style.px(3);
    }
    return left - style.px(3) - left_middle.x;
}

float draw_keys_right(const Style& style, ImVec2 right_middle, const std::string& keys) {
    return draw_keys_left(style, {right_middle.x - width_of_keys(style, keys), right_middle.y}, keys);
}

}  // namespace echolux
