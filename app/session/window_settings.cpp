#include "app/session/window_settings.h"
#include "compute/plan/describe.h"

namespace echolux {

template <>
const std::vector<Field<WindowSettings>>& describe<WindowSettings>() {
    using S = WindowSettings;
    constexpr Effect view = Effect::view;
    static const std::vector<Field<S>> fields{
        number("scale", &S::scale, 0, 4, "", view, "scale of text and controls; 0: that of the screen")
            .special(0, "auto")
            .soft(0.75, 3),
        integer("width", &S::width, 320, 32768, "px", view, "width of the window"),
        integer("height", &S::height, 240, 32768, "px", view, "height of the window"),
        choice("layout", &S::layout, {"volume", "volume-and-sections", "sections", "alignment"}, view,
               "panes in the middle; alignment: spectra and A-scans, for a mirror in the sample arm"),
        flag("left_panels", &S::left_panels, view, "show source, processing and statistics"),
        flag("right_panels", &S::right_panels, view, "show flow, layers, view, transfer function and related panels"),
        number("left_width", &S::left_width, 200, 1000, "px", view, "width of the panels on the left, at scale 1"),
        number("right_width", &S::right_width, 200, 1000, "px", view, "width of the panels on the right, at scale 1"),
        numbers("pane_split", &S::pane_split, 0.1, 0.9, "", view,
                "share of the width for the volume, and of the height for the upper section"),
        text("open_panels", &S::open_panels, view, "names of the unfolded panels, separated by commas"),
        flag("cross_hair", &S::cross_hair, view, "mark the position of the cross-hair"),
        flag("light_handles", &S::light_handles, view,
             "handles of lights in the volume's pane, that are dragged about it; Shift drags farther and nearer"),
        flag("time_line", &S::time_line, view, "time line of key frames below the panes"),
        text("key_frames", &S::key_frames, view, "key frames on the time line, in the TOML of a key frame file"),
        flag("link_levels", &S::link_levels, view,
             "sections show the same range of values as the volume; false: a right drag in a section changes all "
             "sections and leaves the volume as it is"),
        number("section_low", &S::section_low, -1e12, 1e12, "value", view,
               "value shown black in sections that have their own range")
            .special(-1e12, "auto"),
        number("section_high", &S::section_high, -1e12, 1e12, "value", view,
               "value shown white in sections that have their own range")
            .special(1e12, "auto"),
        flag("mouse_slicer", &S::mouse_slicer, view, "use the mouse as in 3D Slicer; false: as in ParaView"),
        text(
            "record_folder", &S::record_folder, view,
            "folder for recordings, pictures and other files named automatically; empty: the desktop's folders Videos, "
            "Pictures and Documents")
            .folder(),
        text("stripe_folders", &S::stripe_folders, view,
             "folders on further disks, with semicolons between them: recordings go in stripes to their own disk and "
             "these, all at once"),
        text("save_folder", &S::save_folder, view, "folder of the last saved file, where dialogs open").folder(),
        number("series_memory_gb", &S::series_memory_gb, 0, 4096, "GB", view,
               "memory for reading ahead time points of a series; takes effect with the next file"),
        number("series_gpu_gb", &S::series_gpu_gb, 0, 1024, "GB", view,
               "graphics memory for time points prepared ahead of the one shown"),
        number("autosave_s", &S::autosave_s, 0, 3600, "s", view, "interval at which the state is saved; 0: never")
            .special(0, "never")
            .soft(0, 120),
    };
    return fields;
}

}  // namespace echolux
