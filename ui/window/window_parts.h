// Implementation of the window, shared by its source files: window.cpp has the loop, window_picture.cpp the frame,
// window_actions.cpp the actions.
#pragma once

#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/error.h"
#include "ui/panels/panel.h"
#include "ui/window/bars.h"
#include "ui/window/file_dialog.h"
#include "ui/window/imgui_host.h"
#include "ui/window/panel_columns.h"
#include "ui/window/panes.h"
#include "ui/window/raw_dialog.h"
#include "ui/window/sheets.h"
#include "ui/window/start_page.h"
#include "ui/window/window.h"

namespace echolux {

struct MainWindow::Parts {
    static constexpr double never = std::numeric_limits<double>::infinity();

    // A lost device and the next attempt to restore it.
    struct DeviceLoss {
        Error error;
        double since, tries_at;
    };

    Parts(NativeWindow& native_window, Workspace& workspace);

    // ---- window.cpp: schedule
    bool turn(double max_wait_s);
    std::vector<HeardEvent> events_until_due(double max_wait_s);
    void note(const HeardEvent& event);
    void watch();      // detects changes without an event
    void draw();       // draws what is due
    void plan_next();  // schedules the next frame
    void show(const std::vector<ScreenPane>& shown);
    void make_screen();
    void lose_device(const Error& error);
    bool revive();  // true if the device is restored
    void ask_to_close();
    double seconds() const { return native.now_s(); }
    PanelContext context() { return {work, host.style(), state}; }

    // ---- window_picture.cpp: content
    void lay_out();  // lays out the interface as triangles, with all input up to now
    void lay_out_once();
    void draw_interface(const std::vector<WindowEvent>& taken);
    void draw_middle(const PanelContext& panel_context, const Region& centre);
    void draw_overlays(const PanelContext& panel_context);
    void take_keys(const std::vector<WindowEvent>& taken);
    void press(const std::string& chord);
    void escape();
    bool types() const;
    bool has_sheet() const;
    bool aligns() const;

    // ---- window_actions.cpp
    void add_actions();
    void add_measure_actions();
    void add_panel_actions();
    void add_source_actions();
    void grant_file_wish();

    NativeWindow& native;
    Workspace& work;
    ImguiHost host;
    PanelState state;
    PanelColumns columns;
    std::unique_ptr<Panel> alignment = make_alignment_view();
    Panes panes;
    TopBar top_bar;
    StatusLine status_line;
    StartPage start_page;
    Tour tour;
    CommandPalette palette;
    KeyMap key_map;
    About about;
    FileDialog files;
    RawDialog raw;
    std::unique_ptr<Screen> screen;  // destroyed before the renderer, see revive()

    bool closes = false;
    double asked_to_close_at = -never;  // during a recording
    std::optional<DeviceLoss> loss;     // if set, nothing is drawn
    bool is_full_screen = false;
    std::string title;

    // Times on the clock of seconds(). The interface is laid out again when it may have changed; pictures are updated
    // as long as they improve.
    double layout_at = 0, pictures_at = never;
    double shown_at = -1, laid_out_at = -1;
    double news_at = -never;  // last change of the document by itself
    std::uint64_t news_seen = 0;
    double help_at = 0;  // time at which a tooltip may appear
    const InterfaceMesh* mesh = nullptr;
    std::vector<std::uint64_t> shown_values;     // timeline values of the displayed drawings
    bool had_text = false;                       // a sheet or text box was open in the last frame
    std::string watched;                         // last text of watch()
    std::optional<std::int64_t> turns_of_input;  // turns since an event that no frame displays yet
    double input_s = 0;                          // time of that event
    std::deque<double> shown_lately;
    WindowStats stats;
};

}  // namespace echolux
