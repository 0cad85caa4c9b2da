#include "ui/window/raw_dialog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compute/counted.h"
#include "compute/plan/describe.h"
#include "ui/panels/widgets.h"
#include "ui/window/theme.h"
#include "ui/workspace/raw_proposal.h"

namespace echolux {
namespace {

constexpr std::int64_t cells = 160;  // resolution of a preview in both directions

constexpr std::array first_settings{"scan.sample_format", "scan.offset_bytes", "scan.samples",
                                    "scan.a_scans",       "scan.b_scans",      "scan.volumes"};
constexpr std::array more_settings{"recipe.background", "recipe.window",         "recipe.depth_samples",
                                   "scan.spacing_um",   "scan.refractive_index", "scan.line_rate_hz"};

// Draws a gray picture as a mesh of triangles with vertex colours, because the renderer has no textures except the font
// atlas.
void draw_gray(ImDrawList& list, const Picture& picture, std::int64_t first_row, std::int64_t rows, ImVec2 at,
               float edge) {
    const ImVec2 white = ImGui::GetIO().Fonts->TexUvWhitePixel;
    list.PrimReserve(static_cast<int>(6 * (cells - 1) * (cells - 1)), static_cast<int>(cells * cells));
    const auto first = static_cast<ImDrawIdx>(list._VtxCurrentIdx);
    for (std::int64_t y = 0; y < cells - 1; ++y) {
        for (std::int64_t x = 0; x < cells - 1; ++x) {
            const auto corner = static_cast<ImDrawIdx>(first + y * cells + x);
            for (const std::int64_t step :
                 {std::int64_t{0}, std::int64_t{1}, cells + 1, std::int64_t{0}, cells + 1, cells}) {
                list.PrimWriteIdx(static_cast<ImDrawIdx>(corner + step));
            }
        }
    }
    for (std::int64_t y = 0; y < cells; ++y) {
        for (std::int64_t x = 0; x < cells; ++x) {
            const std::int64_t row = first_row + y * rows / cells, column = x * picture.width / cells;
            const std::uint8_t gray = picture.pixels[static_cast<std::size_t>(row * picture.width + column)];
            const float step = edge / static_cast<float>(cells - 1);
            list.PrimWriteVtx({at.x + static_cast<float>(x) * step, at.y + static_cast<float>(y) * step}, white,
                              IM_COL32(gray, gray, gray, 255));
        }
    }
}

// The preview picture contains the spectra above the reconstruction.
void draw_square(const PanelContext& context, const Picture& picture, bool is_lower, float edge, const char* caption) {
    ImGui::BeginGroup();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, {at.x + edge, at.y + edge}, ImGui::GetColorU32(surface), context.style.px(4));
    const std::int64_t half = picture.height / 2;
    if (picture.width > 0 && half > 0) draw_gray(list, picture, is_lower ? half : 0, half, at, edge);
    ImGui::Dummy({edge, edge});
    muted_text(context, caption);
    ImGui::EndGroup();
}

std::string guess_text(const RawGuess& guess) {
    return fmt::format("{} × {} × {}   {}", counted(guess.samples, "samples"), guess.a_scans, guess.b_scans,
                       std::get<std::string>(value_of(RawFormat{guess.sample_format}, "sample_format")));
}

}  // namespace

// Open as long as there is a proposal.
void RawDialog::draw(const PanelContext& context, ImVec2 size) {
    Workspace::RawProposal* proposal = context.work.raw_proposal();
    if (proposal == nullptr) {
        if (is_open()) Overlay::close();
        return;
    }
    if (!is_open()) open();
    begin_sheet(context, size, "raw file", {900, 640});
    title(context, ("What is in " + proposal->file.filename().string() + "?").c_str());
    muted_text(context,
               "Nothing describes this file. Its size and how alike neighbouring lines are suggest this; the pictures "
               "show whether it is right: lines of one width stand upright, tissue looks like tissue.");
    ImGui::Dummy({0, context.style.px(6)});
    const float height =
        ImGui::GetContentRegionAvail().y - ImGui::GetFrameHeight() - 2 * ImGui::GetStyle().ItemSpacing.y;
    ImGui::BeginChild("settings", {context.style.px(320), height});
    draw_guesses(context);
    draw_settings(context);
    ImGui::EndChild();
    ImGui::SameLine(0, context.style.px(20));
    ImGui::BeginChild("preview", {0, height});
    draw_preview(context, ImGui::GetContentRegionAvail());
    ImGui::EndChild();
    draw_answer(context);
    end_sheet();
}

void RawDialog::close(const PanelContext& context) {
    Overlay::close();
    context.work.drop_raw_proposal();
}

void RawDialog::draw_guesses(const PanelContext& context) {
    Workspace::RawProposal& proposal = *context.work.raw_proposal();
    ImGui::TextColored(context.style.muted, "Proposals by how alike lines are");
    for (std::size_t i = 0; i < proposal.guesses.size(); ++i) {
        const RawGuess& guess = proposal.guesses[i];
        const ScanGeometry& geometry = proposal.scan.geometry;
        const bool is_taken = geometry.samples == guess.samples && geometry.a_scans == guess.a_scans &&
                              geometry.b_scans == guess.b_scans &&
                              proposal.scan.format.sample_format == guess.sample_format;
        ImGui::PushID(static_cast<int>(i));
        if (ImGui::Selectable(guess_text(guess).c_str(), is_taken)) proposal.take(guess);
        ImGui::PopID();
        note_place(context, fmt::format("raw.guess{}", i));
        ImGui::SameLine(ImGui::GetContentRegionMax().x - context.style.px(44));
        ImGui::TextColored(context.style.muted, "%s", fmt::format("{:.0f} %", 100 * guess.likeness).c_str());
    }
    if (proposal.guesses.empty()) muted_text(context, "No shape fits well: enter it below.");
    ImGui::Dummy({0, context.style.px(8)});
}

void RawDialog::draw_settings(const PanelContext& context) {
    Workspace::RawProposal& proposal = *context.work.raw_proposal();
    const auto row = [&](const char* key) {
        const auto found = std::ranges::find(proposal.settings.fields(), std::string(key), &BoundField::key);
        if (found == proposal.settings.fields().end()) return;
        setting_row(context, *found, [&](const Value& value, Edit) {
            return attempt(context, "raw", [&] {
                found->set(checked(*found, found->get(), value, key));
                // A changed setting invalidates the preview, which a job computes again.
                proposal.is_stale = true;
            });
        });
    };
    for (const char* key : first_settings) row(key);
    if (section(context, "More", false)) {
        for (const char* key : more_settings) row(key);
    }
}

void RawDialog::draw_preview(const PanelContext& context, ImVec2 size) const {
    const Workspace::RawProposal& proposal = *context.work.raw_proposal();
    const float gap = context.style.px(14), captions = context.style.px(26);
    const float edge = std::max(context.style.px(60), std::min(0.5f * (size.x - gap), size.y - 2 * captions));
    draw_square(context, proposal.preview, false, edge, "Spectra: a line each A-scan");
    ImGui::SameLine(0, gap);
    draw_square(context, proposal.preview, true, edge, "Reconstructed, depth downwards");
    if (proposal.problem.empty()) return;
    ImGui::PushStyleColor(ImGuiCol_Text, context.style.trouble);
    ImGui::TextWrapped("%s", proposal.problem.c_str());
    ImGui::PopStyleColor();
}

void RawDialog::draw_answer(const PanelContext& context) {
    const Workspace::RawProposal& proposal = *context.work.raw_proposal();
    const Style& style = context.style;
    const float button = style.px(150);
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(style.muted, "%s",
                       ("Writes " + proposal.scan.path.filename().string() + " beside the file").c_str());
    ImGui::SameLine(ImGui::GetWindowWidth() - style.px(20) - 2 * button - ImGui::GetStyle().ItemSpacing.x);
    const bool drops = ImGui::Button("Cancel", {button, 0});
    note_place(context, "raw.cancel");
    ImGui::SameLine();
    ImGui::BeginDisabled(!proposal.problem.empty());
    const bool accepts = primary_button(context, "raw.accept", "Write and open", button);
    ImGui::EndDisabled();
    if (drops)
        close(context);
    else if (accepts)
        attempt(context, "files", [&] { context.work.accept_raw_proposal(); });
}

}  // namespace echolux
