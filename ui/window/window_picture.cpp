// One frame of the interface: panels, panes, overlays and key presses.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <utility>

#include "app/seconds_since.h"
#include "app/stage/exhibit.h"
#include "ui/panels/controls.h"
#include "ui/window/bars.h"
#include "ui/window/layout.h"
#include "ui/window/theme.h"
#include "ui/window/window_parts.h"

namespace echolux {
namespace {

constexpr double help_after_s = 0.55;  // rest of the pointer
constexpr double blink_s = 0.4;        // text cursor

// Keys that repeat while held.
bool repeats(const std::string& key) {
    return key == "Left" || key == "Right" || key == "Up" || key == "Down" || key == "PageUp" || key == "PageDown";
}

// Letters, digits and named keys act when pressed. Signs such as "?" act when typed, because the key that produces them
// depends on the keyboard layout.
bool acts_when_typed(const std::string& key) {
    return key.size() == 1 && std::isalnum(static_cast<unsigned char>(key[0])) == 0;
}

bool is_modifier(const std::string& key) {
    return key == "Ctrl" || key == "Shift" || key == "Alt" || key == "Super";
}

}  // namespace

// Lays out the interface until all events are consumed, and displays the last frame. A click takes two frames (down and
// up), and neither waits for rays.
void MainWindow::Parts::lay_out() {
    do {
        lay_out_once();
    } while (host.has_waiting());
    if (const std::string wanted = window_title(work); wanted != title) native.set_title(title = wanted);
    native.set_pointer(host.pointer());
    state.pace.interface_cpu_s = stats.interface_cpu_s;
    state.pace.interface_gpu_s = stats.interface_gpu_s;
    state.pace.pictures_per_s = shown_at > laid_out_at - 0.5 ? static_cast<double>(shown_lately.size()) : 0;
    if (const auto picture = panes.volume_picture()) {
        state.pace.pitch = picture->pitch;
        state.pace.passes = picture->passes;
        state.pace.is_final = picture->is_final;
    }
}

void MainWindow::Parts::lay_out_once() {
    const auto begun = std::chrono::steady_clock::now();
    const double now = seconds();
    const WindowSettings& settings = work.window();
    if (host.set_scale(settings.scale > 0 ? settings.scale : native.scale())) {
        const ImguiHost::Glyphs glyphs = host.glyphs();
        screen->set_glyphs(glyphs.width, glyphs.height, glyphs.coverage);
    }
    state.controls.places.clear();
    state.plays_keys = false;
    if (!std::exchange(state.is_picked_there, false)) state.picked = 0;
    const std::vector<WindowEvent> taken = host.begin(native.width(), native.height(), now);
    laid_out_at = now;
    try {
        draw_interface(taken);
    } catch (...) {
        host.give_up();
        state.rest = {};
        throw;
    }
    mesh = &host.end();
    const bool opens_text = has_sheet() || (state.active.is_typed && !state.active.goes_on);
    if (opens_text && !std::exchange(had_text, opens_text)) host.expect_text();
    had_text = opens_text;
    // A click changes the next frame.
    if (!taken.empty()) layout_at = 0;
    if (taken.empty() && types()) layout_at = std::min(layout_at, now + blink_s);
    if (!taken.empty()) help_at = now + help_after_s;
    if (now < help_at) layout_at = std::min(layout_at, help_at);
    stats.interface_cpu_s = seconds_since(begun);
    grant_file_wish();
}

void MainWindow::Parts::draw_interface(const std::vector<WindowEvent>& taken) {
    take_keys(taken);
    const PanelContext panel_context = context();
    const WindowSettings& settings = work.window();
    const bool is_open = work.stage().exhibit() != nullptr;
    const WindowPlan plan = plan_window(settings, {.width = native.width(),
                                                   .height = native.height(),
                                                   .scale = static_cast<double>(host.style().scale),
                                                   .is_open = is_open,
                                                   .bottom = is_open ? columns.bottom_height(panel_context) : 0,
                                                   .aligns = aligns()});
    state.has_sheet = palette.is_open() || files.is_open() || raw.is_open() || key_map.is_open() || about.is_open();
    top_bar.draw(panel_context, plan.top);
    if (is_open && work.stage().exhibit() != nullptr) {  // a menu may have closed the document
        columns.draw_side(panel_context, PanelSide::left, plan.left);
        columns.draw_side(panel_context, PanelSide::right, plan.right);
        columns.draw_bottom(panel_context, plan.bottom);
    }
    draw_middle(panel_context, plan.centre);
    status_line.draw(panel_context, plan.status);
    if (!has_sheet()) draw_trouble(panel_context, plan.centre);
    draw_overlays(panel_context);
    if (work.stage().exhibit() != nullptr && columns.bottom_height(panel_context) != plan.bottom.height) layout_at = 0;
}

void MainWindow::Parts::draw_middle(const PanelContext& panel_context, const Region& centre) {
    Exhibit* exhibit = work.stage().exhibit();
    if (exhibit == nullptr) {
        start_page.draw(panel_context, centre);
    } else if (aligns()) {
        panes.hide();
        ImGui::SetNextWindowPos({static_cast<float>(centre.left), static_cast<float>(centre.top)});
        ImGui::SetNextWindowSize({static_cast<float>(centre.width), static_cast<float>(centre.height)});
        ImGui::Begin("alignment", nullptr,
                     ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                         ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                         ImGuiWindowFlags_NoNav);
        alignment->draw(panel_context);
        ImGui::End();
    } else {
        panes.draw(panel_context, centre);
    }
}

// The alignment view needs spectra, so volumes from files keep their panes and panels.
bool MainWindow::Parts::aligns() const {
    Exhibit* exhibit = work.stage().exhibit();
    return exhibit != nullptr && work.window().layout == PaneLayout::alignment && exhibit->live() != nullptr;
}

void MainWindow::Parts::draw_overlays(const PanelContext& panel_context) {
    const ImVec2 size{static_cast<float>(native.width()), static_cast<float>(native.height())};
    tour.draw(panel_context, size);
    raw.draw(panel_context, size);
    files.draw(panel_context, size);
    key_map.draw(panel_context, size);
    about.draw(panel_context, size);
    palette.draw(panel_context, size);
}

bool MainWindow::Parts::has_sheet() const {
    return palette.is_open() || files.is_open() || raw.is_open();
}

bool MainWindow::Parts::types() const {
    return host.takes_text() || state.active.is_typed;
}

void MainWindow::Parts::take_keys(const std::vector<WindowEvent>& taken) {
    for (const WindowEvent& event : taken) {
        if (const auto* key = std::get_if<KeyPressed>(&event)) {
            if (!key->down || is_modifier(key->name)) continue;
            if (key->repeated && !repeats(key->name)) continue;
            if (acts_when_typed(key->name) && !host.holds("Ctrl") && !host.holds("Alt")) continue;
            press(host.chord(key->name));
        } else if (const auto* typed = std::get_if<TextTyped>(&event)) {
            if (typed->character < 0x21 || typed->character > 0x7E) continue;
            const std::string sign(1, static_cast<char>(typed->character));
            if (acts_when_typed(sign)) press(sign);
        }
    }
}

// Runs the action of a key combination. While text is typed or a sheet is open, only Esc, function keys and Ctrl+K act.
void MainWindow::Parts::press(const std::string& chord) {
    if (chord == "Esc") {
        escape();
        return;
    }
    if (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel)) return;
    const bool is_function_key =
        chord.size() > 1 && chord[0] == 'F' && std::isdigit(static_cast<unsigned char>(chord[1])) != 0;
    const bool is_typed_next =
        state.picked != 0 && chord.size() == 1 && is_of_number(static_cast<unsigned char>(chord[0]));
    if (is_typed_next) return;  // digits replace the value of the selected number
    if ((types() || has_sheet()) && !is_function_key && chord != "Ctrl+K") return;
    if (const Action* action = work.actions().for_key(chord)) {
        const std::string id = action->id;
        try {
            work.actions().run(id);
        } catch (const Error& error) {
            if (error.code() == ErrorCode::device) throw;
            work.notices().trouble("", error);
        }
    }
}

// Esc closes one thing at a time, the most recent first. It never stops, discards or quits.
void MainWindow::Parts::escape() {
    for (Overlay* overlay : std::initializer_list<Overlay*>{&palette, &about, &key_map, &files}) {
        if (!overlay->is_open()) continue;
        overlay->close();
        return;
    }
    state.picked = 0;
    if (raw.is_open() && !types()) return raw.close(context());
    if (tour.is_open()) return tour.close();
    if (types() || ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel)) return;
    if (state.measure.kind() != MeasureTool::Kind::none) {
        state.measure.cancel();
    } else if (!panes.leave_full_size() && is_full_screen) {
        native.set_full_screen(is_full_screen = false);
    }
}

}  // namespace echolux
