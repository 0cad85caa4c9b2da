#include "ui/window/theme.h"

#include <cmath>
#include <vector>

#include "assets/assets.h"

#ifdef ECHOLUX_FREETYPE
#include <imgui_freetype.h>
#endif

namespace echolux {
namespace {

// First and last character of each range.
constexpr ImWchar characters[] = {0x0020, 0x017F,  // Latin, ° ± ² µ ×
                                  0x0391, 0x03C9,  // Greek
                                  0x2010, 0x2027,  // dashes, quotation marks, bullet, ellipsis
                                  0x2032, 0x2033, 0x207B, 0x207B, 0x2080, 0x2089, 0x2190, 0x2193, 0x21BA, 0x21BB,
                                  0x21E7, 0x21E7,  // arrows
                                  0x2126, 0x2126, 0x2206, 0x2206, 0x2212, 0x2212, 0x221E, 0x221E, 0x2248, 0x2248,
                                  0x2264, 0x2265, 0x2318, 0x2318, 0x25A0, 0x25A1, 0x25B2, 0x25B7, 0x25BC, 0x25C4,
                                  0x25CB, 0x25CF, 0x2605, 0x2606, 0x26A0, 0x26A0, 0x2713, 0x2717, 0};

// Fonts are embedded in the program.
ImFont* add_font(std::string_view path, float pixels) {
    const std::string_view font = shipped_file(path);
    ImFontConfig config;
    config.FontDataOwnedByAtlas = false;
    config.OversampleH = 2;
    config.PixelSnapH = false;
    // ImGui takes a non-const pointer but does not modify the font.
    return ImGui::GetIO().Fonts->AddFontFromMemoryTTF(const_cast<char*>(font.data()), static_cast<int>(font.size()),
                                                      std::round(pixels), &config, characters);
}

}  // namespace

void load_fonts(Style& style) {
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    atlas.Clear();
#ifdef ECHOLUX_FREETYPE
    atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
    atlas.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
#endif
    atlas.Flags |= ImFontAtlasFlags_NoBakedLines;
    style.text = add_font("fonts/text", style.px(15));
    style.strong = add_font("fonts/strong", style.px(15));
    style.numbers = add_font("fonts/numbers", style.px(15.5f));
    style.large = add_font("fonts/strong", style.px(30));
    atlas.Build();
}

void set_colours(Style& style, WindowTheme theme) {
    Style colours;  // dark
    if (theme == WindowTheme::light) {
        colours.ground = {0.800f, 0.812f, 0.830f, 1};
        colours.surface = {0.957f, 0.961f, 0.967f, 1};
        colours.raised = {0.900f, 0.908f, 0.920f, 1};
        colours.lit = {0.860f, 0.870f, 0.886f, 1};
        colours.hairline = {0.770f, 0.782f, 0.802f, 1};
        colours.control = {0.865f, 0.874f, 0.890f, 1};
        colours.hovered = {0.815f, 0.827f, 0.848f, 1};
        colours.pressed = {0.760f, 0.775f, 0.802f, 1};
        colours.ink = {0.095f, 0.105f, 0.125f, 1};
        colours.muted = {0.290f, 0.315f, 0.360f, 1};
        colours.accent = {0.050f, 0.350f, 0.680f, 1};
        colours.on_accent = {1, 1, 1, 1};
        colours.warning = {0.640f, 0.220f, 0.020f, 1};
        colours.late = {0.490f, 0.320f, 0.000f, 1};
        colours.good = {0.040f, 0.390f, 0.170f, 1};
        colours.alarm = {0.720f, 0.070f, 0.090f, 1};
        colours.recording = {0.800f, 0.110f, 0.130f, 1};
    }
    colours.scale = style.scale;
    colours.text = style.text;
    colours.strong = style.strong;
    colours.numbers = style.numbers;
    colours.large = style.large;
    style = colours;
}

void apply_theme(const Style& style) {
    ImGuiStyle& look = ImGui::GetStyle();
    look = ImGuiStyle();
    look.WindowPadding = {10, 10};
    look.FramePadding = {8, 4};
    look.ItemSpacing = {8, 6};
    look.ItemInnerSpacing = {6, 4};
    look.IndentSpacing = 14;
    look.ScrollbarSize = 10;
    look.GrabMinSize = 10;
    look.WindowBorderSize = look.ChildBorderSize = look.FrameBorderSize = 0;
    look.PopupBorderSize = 1;
    look.WindowRounding = 0;
    look.ChildRounding = look.PopupRounding = 6;
    look.FrameRounding = look.GrabRounding = look.TabRounding = 4;
    look.ScrollbarRounding = 5;
    look.DisabledAlpha = 0.4f;
    look.ScaleAllSizes(style.scale);
    look.CircleTessellationMaxError = 0.2f;

    const auto faded = [](ImVec4 colour, float alpha) { return ImVec4(colour.x, colour.y, colour.z, alpha); };
    ImVec4* colours = look.Colors;
    for (int i = 0; i < ImGuiCol_COUNT; ++i) colours[i] = style.surface;
    colours[ImGuiCol_Text] = style.ink;
    colours[ImGuiCol_TextDisabled] = style.muted;
    colours[ImGuiCol_WindowBg] = style.surface;
    colours[ImGuiCol_ChildBg] = {0, 0, 0, 0};
    colours[ImGuiCol_PopupBg] = style.raised;
    colours[ImGuiCol_Border] = style.hairline;
    colours[ImGuiCol_BorderShadow] = {0, 0, 0, 0};
    colours[ImGuiCol_FrameBg] = style.control;
    colours[ImGuiCol_FrameBgHovered] = style.hovered;
    colours[ImGuiCol_FrameBgActive] = style.pressed;
    colours[ImGuiCol_TitleBg] = colours[ImGuiCol_TitleBgActive] = colours[ImGuiCol_TitleBgCollapsed] = style.raised;
    colours[ImGuiCol_MenuBarBg] = style.surface;
    colours[ImGuiCol_ScrollbarBg] = {0, 0, 0, 0};
    colours[ImGuiCol_ScrollbarGrab] = style.control;
    colours[ImGuiCol_ScrollbarGrabHovered] = style.hovered;
    colours[ImGuiCol_ScrollbarGrabActive] = style.pressed;
    colours[ImGuiCol_CheckMark] = style.accent;
    colours[ImGuiCol_SliderGrab] = faded(style.accent, 0.85f);
    colours[ImGuiCol_SliderGrabActive] = style.accent;
    colours[ImGuiCol_Button] = style.control;
    colours[ImGuiCol_ButtonHovered] = style.hovered;
    colours[ImGuiCol_ButtonActive] = style.pressed;
    colours[ImGuiCol_Header] = style.control;
    colours[ImGuiCol_HeaderHovered] = style.hovered;
    colours[ImGuiCol_HeaderActive] = style.pressed;
    colours[ImGuiCol_Separator] = style.hairline;
    colours[ImGuiCol_SeparatorHovered] = colours[ImGuiCol_SeparatorActive] = style.accent;
    colours[ImGuiCol_ResizeGrip] = {0, 0, 0, 0};
    colours[ImGuiCol_ResizeGripHovered] = colours[ImGuiCol_ResizeGripActive] = faded(style.accent, 0.5f);
    colours[ImGuiCol_Tab] = style.surface;
    colours[ImGuiCol_TabHovered] = style.hovered;
    colours[ImGuiCol_TabActive] = style.control;
    colours[ImGuiCol_TabUnfocused] = style.surface;
    colours[ImGuiCol_TabUnfocusedActive] = style.control;
    colours[ImGuiCol_PlotLines] = colours[ImGuiCol_PlotHistogram] = style.accent;
    colours[ImGuiCol_PlotLinesHovered] = colours[ImGuiCol_PlotHistogramHovered] = style.ink;
    colours[ImGuiCol_TableHeaderBg] = style.raised;
    colours[ImGuiCol_TableBorderStrong] = colours[ImGuiCol_TableBorderLight] = style.hairline;
    colours[ImGuiCol_TableRowBg] = {0, 0, 0, 0};
    colours[ImGuiCol_TableRowBgAlt] = faded(style.ink, 0.02f);
    colours[ImGuiCol_TextSelectedBg] = faded(style.accent, 0.35f);
    colours[ImGuiCol_DragDropTarget] = style.accent;
    colours[ImGuiCol_NavHighlight] = style.accent;
    colours[ImGuiCol_NavWindowingHighlight] = colours[ImGuiCol_NavWindowingDimBg] = {0, 0, 0, 0};
    colours[ImGuiCol_ModalWindowDimBg] = {0, 0, 0, 0.5f};
}

// ---- Keys drawn

// Splits a combination at each "+". "Ctrl++" is Ctrl and the plus key.
static std::vector<std::string> parts_of(const std::string& keys) {
    std::vector<std::string> parts(1);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i] == '+' && !parts.back().empty() && i + 1 < keys.size())
            parts.emplace_back();
        else
            parts.back() += keys[i];
    }
    return parts;
}

static float cap_width(const Style& style, const std::string& part) {
    return std::round(style.text->CalcTextSizeA(style.text->FontSize, 1e6f, 0, part.c_str()).x + style.px(12));
}

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
        list.AddRectFilled(low, high, shade(style.ink, 0.08f), style.px(4));
        list.AddRect(low, high, shade(style.ink, 0.12f), style.px(4));
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
