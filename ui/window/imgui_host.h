// Dear ImGui without its platform backends. Takes the events of a NativeWindow, returns triangles for the renderer, and
// rasterizes the fonts for each scale. Use it on the thread of the window.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "render/screen.h"
#include "ui/panels/panel.h"
#include "ui/window/native_window.h"

struct ImGuiContext;

namespace echolux {

class ImguiHost {
  public:
    explicit ImguiHost(NativeWindow& native);
    ~ImguiHost();
    ImguiHost(const ImguiHost&) = delete;
    ImguiHost& operator=(const ImguiHost&) = delete;

    // Loads fonts, colours and sizes for a scale. Returns true if they changed and glyphs() must be uploaded again.
    bool set_scale(double scale);
    void set_theme(WindowTheme theme);
    const Style& style() const { return style_; }

    // Font atlas with one byte of coverage per pixel.
    struct Glyphs {
        std::int64_t width = 0, height = 0;
        std::vector<std::uint8_t> coverage;
    };
    Glyphs glyphs() const;

    // Adds an event for one of the next frames.
    void feed(const TimestampedEvent& event) { waiting_.push_back(event); }

    // Starts a frame and takes queued events up to the first that Dear ImGui could not distinguish within one frame,
    // such as a button that is pressed and released. Returns the taken events in order. The clock of Dear ImGui follows
    // the events, so double clicks do not depend on the frame rate.
    std::vector<WindowEvent> begin(std::int64_t width, std::int64_t height, double now_s);
    bool has_waiting() const { return !waiting_.empty(); }

    // Holds back typed text for a few frames, until a control that just opened can accept it.
    void expect_text() { text_waits_ = max_text_waits; }

    // Ends the frame. The mesh is valid until the next frame ends.
    const InterfaceMesh& end();
    // Aborts the frame after an error, without triangles. All keys are released and pop-ups are closed.
    void abandon();

    // State of the current frame.
    bool accepts_text() const;
    bool had_popup() const { return had_popup_; }  // at its begin: Dear ImGui closes one on Esc
    PointerShape pointer() const;

    // Returns the key with the held modifiers, such as "Ctrl+Shift+S".
    std::string chord(const std::string& key) const;
    bool holds(const std::string& modifier) const;

  private:
    void open_context();
    bool is_for_next(const WindowEvent& event, const std::vector<WindowEvent>& taken) const;
    bool acts(const WindowEvent& event) const;
    void take(const WindowEvent& event);
    void take_key(const KeyPressed& key);
    void release_all();

    NativeWindow& native_;
    ImGuiContext* context_ = nullptr;
    Style style_;
    WindowTheme theme_ = WindowTheme::dark;
    std::deque<TimestampedEvent> waiting_;
    double clock_s_ = 0;  // time of Dear ImGui's clock
    static constexpr int max_text_waits = 5;
    int text_waits_ = 0;  // frames for which typed text is still held back
    bool had_popup_ = false;
    bool ctrl_ = false, shift_ = false, alt_ = false, super_ = false;
    static constexpr int max_tab_waits = 3;
    int tab_waits_ = 0;  // frames for which Tab is still held back
    std::string clipboard_;
    InterfaceMesh mesh_;
};

}  // namespace echolux
