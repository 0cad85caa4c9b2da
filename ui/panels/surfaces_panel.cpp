// Panel for tissue layers: the search, the surfaces found, editing by hand in the sections, and the slab between two
// surfaces with its thickness map.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "compute/reason.h"
#include "render/transfer_function.h"
#include "render/view/curve.h"
#include "ui/panels/panel.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/workspace/filtering.h"
#include "ui/workspace/layering.h"

namespace echolux {

// ---- Lateral map in a panel: A-scans to the right, B-scans downwards, with a colour bar below.

namespace {

// Map and its size.
struct MapDisplay {
    const std::vector<float>& values;  // [b_scan][a_scan]; NaN: unknown
    std::int64_t a_scans, b_scans;
    std::string unit;                            // "µm"
    const std::vector<std::uint8_t>& ambiguous;  // 1: ambiguous, drawn faded; empty: no value is ambiguous
};

// Returns the 1 and 99 percentiles of the known values, or nullopt without any.
std::optional<ValueRange> range_of_map(const std::vector<float>& values);

// Draws the map at the width of the panel. Cells of a few pixels display the mean of their values. Tests find the map
// under `name` and the bar under `name`.bar. The height is the same without values.
void draw_map(const PanelContext& context, const char* name, const MapDisplay& map);

constexpr float cell_px = 3;

constexpr float faded = 0.35f;  // opacity of ambiguous cells

ImU32 colour_of_share(const ColourMap& map, double share, float opacity = 1) {
    const glm::dvec3 colour = colour_at(map, share);
    return ImGui::GetColorU32(
        {static_cast<float>(colour.r), static_cast<float>(colour.g), static_cast<float>(colour.b), opacity});
}

struct Cell {
    double mean;        // of the finite values; NaN: none
    bool is_ambiguous;  // more than half of the values are ambiguous
};

// Summarises a rectangle of the map.
Cell cell_of(const MapDisplay& map, std::int64_t a_begin, std::int64_t a_end, std::int64_t b_begin,
             std::int64_t b_end) {
    double sum = 0;
    std::int64_t count = 0, ambiguous = 0;
    for (std::int64_t b = b_begin; b < b_end; ++b) {
        for (std::int64_t a = a_begin; a < a_end; ++a) {
            const auto place = index(b * map.a_scans + a);
            const float value = map.values[place];
            if (!std::isfinite(value)) continue;
            sum += static_cast<double>(value);
            ambiguous += !map.ambiguous.empty() && map.ambiguous[place] != 0;
            ++count;
        }
    }
    return {count > 0 ? sum / static_cast<double>(count) : std::nan(""), 2 * ambiguous > count};
}

// Returns the range of positions in cell `cell` of `cells`, with at least one position.
std::pair<std::int64_t, std::int64_t> in_cell(std::int64_t cell, std::int64_t cells, std::int64_t places) {
    const std::int64_t begin = cell * places / cells;
    return {begin, std::max(begin + 1, (cell + 1) * places / cells)};
}

// Draws the cells, except those with unknown values. Returns whether a cell is faded.
bool draw_cells(const MapDisplay& map, const ColourMap& colours, const ValueRange& range, ImVec2 at, ImVec2 size,
                float cell) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const std::int64_t across = std::clamp<std::int64_t>(std::lround(size.x / cell), 1, map.a_scans);
    const std::int64_t down = std::clamp<std::int64_t>(std::lround(size.y / cell), 1, map.b_scans);
    bool has_faded = false;
    for (std::int64_t y = 0; y < down; ++y) {
        const auto [b_begin, b_end] = in_cell(y, down, map.b_scans);
        for (std::int64_t x = 0; x < across; ++x) {
            const auto [a_begin, a_end] = in_cell(x, across, map.a_scans);
            const auto [mean, is_ambiguous] = cell_of(map, a_begin, a_end, b_begin, b_end);
            if (std::isnan(mean)) continue;
            has_faded = has_faded || is_ambiguous;
            const double share = range.high > range.low ? (mean - range.low) / (range.high - range.low) : 0.5;
            const auto place = [](float from, float extent, std::int64_t cell_number, std::int64_t cells) {
                return from + extent * static_cast<float>(cell_number) / static_cast<float>(cells);
            };
            list.AddRectFilled({place(at.x, size.x, x, across), place(at.y, size.y, y, down)},
                               {place(at.x, size.x, x + 1, across), place(at.y, size.y, y + 1, down)},
                               colour_of_share(colours, share, is_ambiguous ? faded : 1));
        }
    }
    return has_faded;
}

void draw_bar(const PanelContext& context, const char* name, const ColourMap& colours, const ValueRange& range,
              const std::string& unit) {
    const Style& style = context.style;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = style.px(10);
    ImGui::Dummy({width, height});
    note_place(context, std::string(name) + ".bar");
    constexpr int pieces = 64;
    for (int i = 0; i < pieces; ++i) {
        ImGui::GetWindowDrawList()->AddRectFilled({at.x + width * static_cast<float>(i) / pieces, at.y},
                                                  {at.x + width * static_cast<float>(i + 1) / pieces, at.y + height},
                                                  colour_of_share(colours, (i + 0.5) / pieces));
    }
    const std::string high = short_number(range.high) + " " + unit;
    ImGui::PushFont(style.numbers);
    ImGui::TextColored(style.muted, "%s", short_number(range.low).c_str());
    const float high_width = ImGui::CalcTextSize(high.c_str()).x;
    ImGui::SameLine(ImGui::GetCursorPosX() + width - high_width);
    ImGui::TextColored(style.muted, "%s", high.c_str());
    ImGui::PopFont();
}

std::optional<ValueRange> range_of_map(const std::vector<float>& values) {
    std::vector<float> known;
    std::ranges::copy_if(values, std::back_inserter(known), [](float value) { return std::isfinite(value); });
    if (known.empty()) return {};
    const auto at = [&](double share) {
        // nth_element is enough, because only single percentiles are needed.
        const auto place = known.begin() + std::lround(share * static_cast<double>(known.size() - 1));
        std::ranges::nth_element(known, place);
        return static_cast<double>(*place);
    };
    return ValueRange{at(0.01), at(0.99)};
}

void draw_map(const PanelContext& context, const char* name, const MapDisplay& map) {
    const std::optional<ValueRange> range = range_of_map(map.values);
    const float width = ImGui::GetContentRegionAvail().x;
    const ImVec2 size{width, 0.6f * width};
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy(size);
    note_place(context, name);
    ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + size.x, at.y + size.y}, ImGui::GetColorU32(ImGuiCol_FrameBg),
                                              ImGui::GetStyle().FrameRounding);
    if (!range) {
        if (map.values.empty())
            text_if_empty(context, name, "Find layers, then choose two of them", at, {at.x + size.x, at.y + size.y});
        ImGui::Dummy({width, context.style.px(10)});
        state_text(context, map.values.empty() ? "" : "The two surfaces do not overlap.");
        return state_text(context, "");
    }
    const ColourMap colours = colour_map("viridis");
    const bool has_faded = draw_cells(map, colours, *range, at, size, context.style.px(cell_px));
    draw_bar(context, name, colours, *range, map.unit);
    state_text(context, has_faded ? "Faded: ambiguous, another depth fits almost as well." : "");
    if (has_faded) note_place(context, std::string(name) + ".ambiguous");
}

// ---- The panel

constexpr const char* file_help =
    "CSV table with one row per position, or volume file (.nrrd, ...) with one slice per surface";

void draw_presets_of_layers(const PanelContext& context) {
    static const std::vector<std::string> presets = Layering::presets();
    const float gap = context.style.px(4);
    const std::string used = context.work.layering().used_preset(context.work);
    muted_text(context, used.empty() ? "Preset: none, own settings" : ("Preset: " + used).c_str());
    for (const std::string& preset : presets) {
        const LitButtons lit(context.style, preset == used);
        const float width = ImGui::CalcTextSize(preset.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x;
        if (&preset != presets.data()) same_line_where_fits(context, width, gap);
        if (plain_button(context, "layers.preset=" + preset, preset.c_str(), "use the settings of this preset"))
            attempt(context, "layers", [&] { context.work.layering().take_preset(context.work, preset); });
    }
}

// One line in every state, so that the layout does not change.
std::string state_of_search(Workspace& work) {
    const Layering& layering = work.layering();
    const std::string obstacle = Filtering::obstacle(work);
    if (layering.is_finding(work)) return "Searching for surfaces ...";
    if (const Surfaces* found = layering.surfaces())
        return fmt::format("{} surfaces, found at {:.0f} % of all positions, {:.1f} % ambiguous", found->all.size(),
                           100 * share_found(*found), 100 * share_of(*found, Reason::ambiguous));
    if (layering.has_others()) return "These surfaces belong to another volume";
    return obstacle.empty() ? "No layers yet: choose settings, then Find layers" : obstacle;
}

void draw_search(const PanelContext& context) {
    Workspace& work = context.work;
    Layering& layering = work.layering();
    const float gap = context.style.px(4);
    const bool runs = layering.is_finding(work), has_surfaces = layering.surfaces() != nullptr;
    if (plain_button(context, "layers.find", "Find layers", "search the current volume, unfiltered",
                     layering.can_find(work)))
        layering.find(work);
    ImGui::SameLine(0, gap);
    if (plain_button(context, "layers.cancel", "Cancel", "cancel the search", runs)) work.jobs().cancel(layering.job());
    const auto width_of = [](const char* label) {
        return ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
    };
    same_line_where_fits(context, width_of("Open..."), gap);
    if (plain_button(context, "layers.open", "Open...", "open surfaces from a file", !runs)) {
        context.state.file_request =
            FileRequest{.kind = FileRequest::Kind::open,
                        .title = "Open surfaces",
                        .endings = written_endings(),
                        .chosen = [&work](const auto& path) { work.layering().open(work, path); }};
    }
    same_line_where_fits(context, width_of("Save..."), gap);
    if (plain_button(context, "layers.save", "Save...", file_help, has_surfaces)) {
        std::vector<std::string> endings = written_endings();
        endings.insert(endings.begin(), ".csv");
        context.state.file_request =
            FileRequest{.kind = FileRequest::Kind::save,
                        .title = "Save surfaces",
                        .suggested = "surfaces.csv",
                        .endings = endings,
                        .chosen = [&work](const auto& path) { work.layering().save(work, path); }};
    }
    state_text(context, state_of_search(work), 2);
}

// Colour and name of each surface, and the share of A-scans in which it is known, in a list of fixed height.
void draw_found(const PanelContext& context, const Surfaces& found) {
    ImGui::BeginChild("found", {0, 6 * ImGui::GetTextLineHeightWithSpacing()});
    if (found.all.empty()) muted_text(context, "Surfaces are listed here.");
    for (std::size_t k = 0; k < found.all.size(); ++k) {
        const Surface& surface = found.all[k];
        const auto known = std::ranges::count_if(surface.rows, [](float row) { return std::isfinite(row); });
        const double share = static_cast<double>(known) / static_cast<double>(std::max<std::int64_t>(found.lines(), 1));
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float line = ImGui::GetTextLineHeight(), length = context.style.px(14);
        ImGui::GetWindowDrawList()->AddLine({at.x, at.y + 0.5f * line}, {at.x + length, at.y + 0.5f * line},
                                            ImGui::GetColorU32(drawn_colour_of_surface(k)), context.style.px(2));
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + length + context.style.px(6));
        figure(context, surface.name.c_str(), fmt::format("{:.0f}", 100 * share), "%");
        note_place(context, "layers.surface=" + surface.name);
        tooltip(context, "fraction of A-scans with this surface");
    }
    ImGui::EndChild();
}

// While editing is on, the pointer drags surfaces in the section panes.
void draw_editing(const PanelContext& context, Layering& layering) {
    const LitButtons lit(context.style, layering.edits);
    if (plain_button(context, "layers.edit", layering.edits ? "Done editing" : "Edit by hand",
                     "drag a surface in the B-scan or the side view: its neighbourhood follows, surfaces never cross, "
                     "Ctrl+Z undoes",
                     layering.surfaces() != nullptr))
        layering.edits = !layering.edits;
}

class SurfacesPanel : public NamedPanel {
  public:
    SurfacesPanel()
        : NamedPanel("surfaces", "Layers", PanelSide::right,
                     "segment segmentation retina boundaries thickness surface en face slab") {}
    bool is_available(Workspace& work) const override {
        return work.viewer().is_open() && !work.viewer().view_source()->has_planes();
    }

    void draw(const PanelContext& context) override {
        draw_presets_of_layers(context);
        if (section(context, "Settings", false)) draw_group(context, {"layers"}, "Layers");
        draw_search(context);
        Layering& layering = context.work.layering();
        static const Surfaces none{};
        const Surfaces& found = layering.surfaces() != nullptr ? *layering.surfaces() : none;
        draw_found(context, found);
        setting_row(context, "layers.shown");
        draw_editing(context, layering);
        draw_group(context, {"layers"}, "Editing");
        if (section(context, "Between two surfaces", true)) draw_between(context, found);
    }

  private:
    // Box to choose one of the surfaces.
    void choose(const PanelContext& context, const char* key, const char* label, const Surfaces& found,
                std::size_t& chosen) {
        const RowColumns places = row_places(context.style);
        row_label(context, label);
        ImGui::SameLine(places.control);
        ImGui::SetNextItemWidth(places.right - places.control);
        const std::string name = found.all.empty() ? "–" : found.all[chosen].name;
        const bool is_open = ImGui::BeginCombo((std::string("##") + key).c_str(), name.c_str());
        note_place(context, key);
        if (!is_open) return;
        for (std::size_t k = 0; k < found.all.size(); ++k) {
            if (ImGui::Selectable(found.all[k].name.c_str(), k == chosen)) chosen = k;
            note_place(context, std::string(key) + "=" + found.all[k].name);
        }
        ImGui::EndCombo();
    }

    // The map covers the lateral plane; its mean ignores unknown values.
    void draw_between(const PanelContext& context, const Surfaces& found) {
        const std::size_t last = std::max<std::size_t>(found.all.size(), 1) - 1;
        const std::size_t lower = lower_, upper = upper_;
        lower_ = std::min(lower_, last);
        upper_ = std::min(upper_, last);
        choose(context, "layers.upper", "from", found, upper_);
        choose(context, "layers.lower", "to", found, lower_);
        Layering& layering = context.work.layering();
        const bool is_layer = upper_ < lower_ && !found.all.empty();
        draw_cut(context, found, is_layer);
        static const std::vector<float> no_map;
        const std::vector<float>& map = is_layer ? layering.thickness(upper_, lower_) : no_map;
        const std::string unit = is_layer ? unit_text(DepthScale(layering.grid()).unit()) : "µm";
        double sum = 0;
        std::int64_t known = 0;
        for (const float value : map) {
            if (!std::isfinite(value)) continue;
            sum += static_cast<double>(value);
            ++known;
        }
        figure(context, "mean thickness", known > 0 ? short_number(sum / static_cast<double>(known)) : "–",
               unit.c_str());
        const std::vector<std::uint8_t> ambiguous =
            is_layer ? ambiguous_between(found, upper_, lower_) : std::vector<std::uint8_t>();
        draw_map(context, "layers.thickness", {map, found.a_scans, found.b_scans, unit, ambiguous});
        tooltip(context, "thickness along the A-scan: A-scans to the right, B-scans downwards");
        const bool is_wrong = !found.all.empty() && !is_layer;
        state_text(context, is_wrong ? "The second surface must be below the first." : "");
        if (!found.all.empty()) return;
        lower_ = lower;  // kept for the surfaces to come
        upper_ = upper;
    }

    void draw_cut(const PanelContext& context, const Surfaces& found, bool is_layer) {
        const View& view = context.work.view();
        const std::string prefix(layer_prefix);
        const bool is_cut = is_layer && view.top_from == prefix + found.all[upper_].name &&
                            view.bottom_from == prefix + found.all[lower_].name;
        const LitButtons lit(context.style, is_cut);
        const char* help = "clip the volume to the slab between the surfaces and show it in the en-face view";
        if (!plain_button(context, "layers.between", is_cut ? "Show whole volume" : "Show slab", help, is_layer))
            return;
        if (is_cut)
            context.work.layering().show_all(context.work);
        else
            context.work.layering().show_between(context.work, upper_, lower_);
    }

    std::size_t upper_ = 0, lower_ = 100;  // clamped to the first and last surface
};

}  // namespace

std::unique_ptr<Panel> make_surfaces_panel() {
    return std::make_unique<SurfacesPanel>();
}

}  // namespace echolux
