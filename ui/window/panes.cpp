// Layout and pictures of the panes. See panes_input.cpp for input and panes_marks.cpp for lines and titles.
#include "ui/window/panes.h"

#include <algorithm>
#include <utility>

#include "app/stage/exhibit.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/window/theme.h"

namespace echolux {
namespace {

constexpr double cross_fade_s = 0.1;
constexpr double volume_share = 0.6;  // share of the frame time if sections are also visible

constexpr ImGuiWindowFlags bare = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground |
                                  ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                                  ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav |
                                  ImGuiWindowFlags_NoScrollWithMouse;

ImVec2 corner(const Region& place) {
    return {static_cast<float>(place.left), static_cast<float>(place.top)};
}
ImVec2 extent(const Region& place) {
    return {static_cast<float>(place.width), static_cast<float>(place.height)};
}

}  // namespace

void Panes::lay_out(const PanelContext& context, const Region& centre) {
    const WindowSettings& settings = context.work.window();
    const bool has_sections = !context.work.stage().exhibit()->has_planes();  // also before the first volume
    const PaneLayout layout = has_sections ? settings.layout : PaneLayout::volume;
    PanePlan plan = plan_panes(centre, layout, settings.pane_split, context.style.scale);
    if (full_size_) {
        const bool is_there =
            std::ranges::any_of(plan.panes, [this](const PanePlace& p) { return p.kind == *full_size_; });
        if (is_there) plan = {{{*full_size_, centre}}, {}};
    }
    for (Pane& pane : panes_) {
        const auto found = std::ranges::find(plan.panes, pane.kind, &PanePlace::kind);
        pane.place = found == plan.panes.end() ? Region{} : found->place;
        if (pane.place.width > 0) pane.view = view_of(context, pane);
    }
    drag_splits(context, plan);
}

// Time for rays in a frame: the rest after the interface, but at least 40 %.
double Panes::rays_ms(const PanelContext& context) {
    const double frame_ms = context.work.view().frame_ms;
    const double interface_ms = 1e3 * context.state.pace.interface_gpu_s.value_or(0);
    constexpr double min_share = 0.4;
    return std::max(min_share * frame_ms, frame_ms - interface_ms);
}

// The frame time is divided between the visible panes.
View Panes::view_of(const PanelContext& context, const Pane& pane) const {
    const auto others = std::ranges::count_if(panes_, [](const Pane& p) { return p.place.width > 0; }) - 1;
    const bool is_volume = pane.kind == PaneKind::volume;
    const double share = others < 1 ? 1 : is_volume ? volume_share : (1 - volume_share) / static_cast<double>(others);
    const View& view = context.work.view();
    PaneWanted wanted{pane.kind,
                      std::max<std::int64_t>(pane.place.width, 1),
                      std::max<std::int64_t>(pane.place.height, 1),
                      context.work.cross_um(),
                      pane.look,
                      std::max(1.0, rays_ms(context) * share),
                      context.style.px(13)};
    const WindowSettings& settings = context.work.window();
    if (!settings.link_levels) wanted.levels = ValueRange{settings.section_low, settings.section_high};
    const std::optional<VolumeGrid> grid = context.work.stage().exhibit()->grid();
    if (grid) wanted.grid = &*grid;
    if (const auto stamp = context.work.stage().exhibit()->stamp()) wanted.moment_s = stamp->time_s;
    return pane_view(view, wanted);
}

void Panes::draw(const PanelContext& context, const Region& centre) {
    Exhibit& exhibit = *context.work.stage().exhibit();
    // Another document: also if it has the same address as the previous one.
    if (&exhibit != shown_ || life_.lock() != exhibit.life().lock()) {
        forget_pictures();
        show_whole_sections();
        context.state.measure.forget();
        shown_ = &exhibit;
        life_ = exhibit.life();
    }
    const std::optional<VolumeGrid> grid = exhibit.grid();
    ImGui::SetNextWindowPos(corner(centre));
    ImGui::SetNextWindowSize(extent(centre));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::Begin("panes", nullptr, bare);
    ImGui::PopStyleVar();
    lay_out(context, centre);
    const std::optional<PaneKind> before = std::exchange(hovered_, std::nullopt);
    for (Pane& pane : panes_) {
        if (pane.place.width == 0) continue;
        ImGui::SetCursorScreenPos(corner(pane.place));
        ImGui::PushID(static_cast<int>(pane.kind));
        ImGui::InvisibleButton(
            "pane", extent(pane.place),
            ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_MouseButtonMiddle);
        constexpr std::array names{"pane.volume", "pane.b-scan", "pane.en-face", "pane.side"};
        note_place(context, names[static_cast<std::size_t>(pane.kind)]);
        if (grid) handle(context, *grid, pane);
        ImGui::PopID();
    }
    if (hovered_ != before) {
        read_out_.clear();
        is_probed_ = !hovered_;
        context.state.measure.under_pointer.reset();
    }
    close_edit(context);
    if (grid) look_under_pointer(context, exhibit);
    for (const Pane& pane : panes_) {
        if (pane.place.width > 0 && grid) draw_marks(context, *grid, pane);
    }
    if (const std::string text = grid ? "" : loading_text(exhibit); !text.empty()) {
        ImGui::SetCursorScreenPos({corner(centre).x + context.style.px(12), corner(centre).y + context.style.px(10)});
        muted_text(context, text);
    }
    ImGui::End();
}

void Panes::drag_splits(const PanelContext& context, const PanePlan& plan) {
    for (const PaneSplit& split : plan.splits) {
        ImGui::SetCursorScreenPos(corner(split.handle));
        ImGui::PushID(static_cast<int>(&split - plan.splits.data()));
        ImGui::InvisibleButton("split", extent(split.handle));
        ImGui::PopID();
        if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
            ImGui::SetMouseCursor(split.is_upright ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
        }
        if (!ImGui::IsItemActive() && !ImGui::IsItemDeactivated()) continue;
        const ImVec2 at = ImGui::GetIO().MousePos;
        std::vector<double> shares = context.work.window().pane_split;
        shares.resize(std::max(shares.size(), split.share + 1), 0.5);
        const double share = (static_cast<double>(split.is_upright ? at.x : at.y) - static_cast<double>(split.begin)) /
                             static_cast<double>(split.length);
        shares[split.share] = std::clamp(share, 0.2, 0.8);
        context.work.change("window.pane_split", shares, ImGui::IsItemActive() ? Edit::under_way : Edit::done);
    }
}

// Starts rays for changed panes. If rays are slow, only one pane is in progress at a time, so that the interface waits
// for at most one pane.
void Panes::follow(const PanelContext& context) {
    Exhibit* exhibit = context.work.stage().exhibit();
    if (exhibit == nullptr || exhibit != shown_) return;
    const Renderer& renderer = context.work.stage().renderer();
    if (!are_rays_done(renderer)) return;
    const double now_s = context.work.now_s();
    if (next_ == 0) {
        if (has_cast_) rays_s_ = now_s - round_s_;
        has_cast_ = false;
        round_s_ = now_s;
    }
    const bool one_by_one = are_rays_slow();
    do {
        Pane& pane = panes_[next_];
        if (pane.place.width > 0) follow(context, pane, *exhibit);
        next_ = (next_ + 1) % panes_.size();
        has_cast_ = !are_rays_done(renderer) || has_cast_;
    } while (next_ != 0 && !(one_by_one && !rays_are_done_));
}

bool Panes::are_rays_slow() const {
    constexpr double soon_s = 0.03;
    return rays_s_ >= soon_s;
}

// With slow rays, displays the last finished picture of a pane instead of waiting.
std::vector<ScreenPane> Panes::shown(const PanelContext& context) const {
    std::vector<ScreenPane> shown;
    const Exhibit* exhibit = context.work.stage().exhibit();
    if (exhibit == nullptr || exhibit != shown_) return shown;
    for (const Pane& pane : panes_) {
        if (pane.place.width == 0 || !pane.picture || pane.picture->drawing.image == nullptr) continue;
        const bool waits = pane.done.image == nullptr || !are_rays_slow();
        shown.push_back({waits ? pane.picture->drawing : pane.done, pane.place});
    }
    return shown;
}

bool Panes::are_rays_done(const Renderer& renderer) {
    bool all = true;
    for (Pane& pane : panes_) {
        if (pane.place.width == 0 || !pane.picture || pane.picture->drawing.image == nullptr) continue;
        const bool is_done = renderer.is_finished(pane.picture->drawing);
        if (is_done) pane.done = pane.picture->drawing;
        all = all && is_done;
    }
    rays_are_done_ = all;
    return all;
}

// If settings are invalid, the pane keeps the previous picture and reports the error.
void Panes::follow(const PanelContext& context, Pane& pane, Exhibit& exhibit) {
    try {
        pane.view = view_of(context, pane);
        View shown = pane.view;
        shown.cross_fade_s = cross_fade_s;
        pane.picture = exhibit.follow(shown, context.work.now_s(), static_cast<std::size_t>(pane.kind));
        if (!pane.problem.empty()) context.work.notices().settle("view");
        pane.problem.clear();
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device) throw;
        if (pane.problem != error.line()) context.work.notices().trouble("view", error);
        pane.problem = error.line();
    }
}

bool Panes::is_final() const {
    return !waits_for_rays() && std::ranges::all_of(panes_, [](const Pane& pane) {
        return pane.place.width == 0 || !pane.problem.empty() || (pane.picture && pane.picture->is_final);
    });
}

bool Panes::wants_turn() const {
    return drag_ != Drag::none || edited_s_ >= 0 || (hovered_ && !is_probed_);
}

std::optional<Region> Panes::place_of(PaneKind kind) const {
    const Pane& pane = panes_[static_cast<std::size_t>(kind)];
    if (pane.place.width == 0) return std::nullopt;
    return pane.place;
}

std::optional<FollowedPicture> Panes::volume_picture() const {
    return panes_[0].picture;
}

void Panes::toggle_full_size(PaneKind kind) {
    full_size_ = full_size_ == kind ? std::nullopt : std::optional(kind);
}

bool Panes::leave_full_size() {
    return std::exchange(full_size_, std::nullopt).has_value();
}

void Panes::show_whole_sections() {
    for (Pane& pane : panes_) pane.look = {};
}

void Panes::hide() {
    for (Pane& pane : panes_) pane.place = {};
}

void Panes::forget_pictures() {
    shown_ = nullptr;
    for (Pane& pane : panes_) {
        pane.picture.reset();
        pane.done = {};
        pane.problem.clear();
    }
}

}  // namespace echolux
