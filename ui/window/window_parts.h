// What the window is made of, for its own files: the loop is in window.cpp, the picture of the interface in
// window_picture.cpp, what it adds to the actions in window_actions.cpp.
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

    // Of a device that is waited for.
    struct DeviceLoss {
        Error error;
        double since, tries_at;
    };

    Parts(NativeWindow& native_window, Workspace& workspace);

    // ---- window.cpp: when what is done
    bool turn(double max_wait_s);
    std::vector<HeardEvent> events_until_due(double max_wait_s);
    void note(const HeardEvent& event);
    void watch();      // what changed without an event
    void draw();       // what is due
    void plan_next();  // when the next picture is due
    void show(const std::vector<ScreenPane>& shown);
    void make_screen();
    void lose_device(const Error& error);
    bool revive();  // whether the device is back
    void ask_to_close();
    double seconds() const { return native.now_s(); }
    PanelContext context() { return {work, host.style(), state}; }

    // ---- window_picture.cpp: what it looks like
    void lay_out();  // the interface, as triangles, with everything that hands have done so far
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
    std::unique_ptr<Screen> screen;  // goes before the renderer does: see revive()

    bool closes = false;
    double asked_to_close_at = -never;  // while a recording ran
    std::optional<DeviceLoss> loss;     // nothing is drawn
    bool is_full_screen = false;
    std::string title;

    // Times of seconds(). The interface is laid out anew when something in it may have changed, pictures are followed
    // as long as they become better.
    double layout_at = 0, pictures_at = never;
    double shown_at = -1, laid_out_at = -1;
    double news_at = -never;  // when the exhibit had something new by itself
    std::uint64_t news_seen = 0;
    double help_at = 0;  // when the pointer has rested long enough for help to appear
    const InterfaceMesh* mesh = nullptr;
    std::vector<std::uint64_t> shown_values;     // of the panes' drawings
    bool had_text = false;                       // a sheet or a box that takes text was open
    std::string watched;                         // what watch() saw
    std::optional<std::int64_t> turns_of_input;  // since an event that no picture shows yet
    double input_s = 0;                          // its time
    std::deque<double> shown_lately;
    WindowStats stats;
};

}  // namespace echolux
