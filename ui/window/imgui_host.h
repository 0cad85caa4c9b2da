// Dear ImGui without its backends: events go in as a window reports them, triangles come out as a screen draws them,
// fonts are made anew for each scale.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "render/screen.h"
#include "ui/panels/style.h"
#include "ui/window/native_window.h"

struct ImGuiContext;

namespace echolux {

class ImguiHost {
  public:
    explicit ImguiHost(NativeWindow& native);
    ~ImguiHost();
    ImguiHost(const ImguiHost&) = delete;
    ImguiHost& operator=(const ImguiHost&) = delete;

    // Fonts, colours and sizes for a scale; true where they were made anew and glyphs() have to be handed on.
    bool set_scale(double scale);
    const Style& style() const { return style_; }

    struct Glyphs {
        std::int64_t width = 0, height = 0;
        std::vector<std::uint8_t> coverage;
    };
    Glyphs glyphs() const;

    void feed(const HeardEvent& event) { waiting_.push_back(event); }

    // A picture begins: takes events that were fed until one that Dear ImGui could not tell apart from those before (a
    // button that goes down and up again), which waits for the next picture. What was taken comes back, in order. Dear
    // ImGui's clock is that of the events: what is a double click does not depend on how long pictures take.
    std::vector<WindowEvent> begin(std::int64_t width, std::int64_t height, double now_s);
    bool has_waiting() const { return !waiting_.empty(); }

    // Something has opened that takes text in a picture or two: what is typed waits for it, but not for long.
    void expect_text() { text_waits_ = 4; }

    // The picture ends: its triangles, valid until the next one ends.
    const InterfaceMesh& end();
    // The picture that was begun ends without triangles, wherever an error left it: all is let go, pop-ups close.
    void give_up();

    // Of what was begun last.
    bool takes_text() const;
    PointerShape pointer() const;

    // "Ctrl+Shift+S" for the key that goes down now, with what is held.
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
    std::deque<HeardEvent> waiting_;
    double clock_s_ = 0;  // of Dear ImGui
    int text_waits_ = 0;  // pictures
    bool ctrl_ = false, shift_ = false, alt_ = false, super_ = false;
    std::string clipboard_;
    InterfaceMesh mesh_;
};

}  // namespace echolux
