#include "app/session/window_settings.h"

namespace echolux {

template <>
const std::vector<Field<WindowSettings>>& describe<WindowSettings>() {
    using S = WindowSettings;
    constexpr Effect view = Effect::view;
    static const std::vector<Field<S>> fields{
        number("scale", &S::scale, 0, 4, "", view, "of text and controls; 0: as the screen says")
            .special(0, "auto")
            .soft(0.75, 3),
        integer("width", &S::width, 320, 32768, "px", view, "of the window"),
        integer("height", &S::height, 240, 32768, "px", view, "of the window"),
        choice("layout", &S::layout, {"volume", "volume-and-sections", "sections", "alignment"}, view,
               "which panes are in the middle; alignment: spectra and A-scans, for a mirror in the sample arm"),
        flag("left_panels", &S::left_panels, view, "source, processing and statistics are shown"),
        flag("right_panels", &S::right_panels, view, "flow, layers, view, transfer function and the like are shown"),
        number("left_width", &S::left_width, 200, 1000, "px", view, "of the panels on the left, at scale 1"),
        number("right_width", &S::right_width, 200, 1000, "px", view, "of the panels on the right, at scale 1"),
        numbers("pane_split", &S::pane_split, 0.1, 0.9, "", view,
                "the volume's share of the width, and the upper section's of the height"),
        text("open_panels", &S::open_panels, view, "names of the panels that are unfolded, with commas between"),
        flag("cross_hair", &S::cross_hair, view, "the place that all panes show is marked"),
        flag("link_levels", &S::link_levels, view,
             "sections show the same range of values as the volume; false: a right drag in a section changes all "
             "sections and leaves the volume as it is"),
        number("section_low", &S::section_low, -1e12, 1e12, "value", view,
               "what is black in sections, where they have a range of their own")
            .special(-1e12, "auto"),
        number("section_high", &S::section_high, -1e12, 1e12, "value", view, "what is white in sections")
            .special(1e12, "auto"),
        flag("mouse_slicer", &S::mouse_slicer, view, "the mouse turns and moves as in 3D Slicer; false: ParaView"),
        text("record_folder", &S::record_folder, view, "where recordings and pictures go; empty: the current folder")
            .folder(),
        number("series_memory_gb", &S::series_memory_gb, 0, 4096, "GB", view,
               "memory for the time points of a series that are read ahead; from the next file on"),
        number("series_gpu_gb", &S::series_gpu_gb, 0, 1024, "GB", view,
               "memory of the graphics device for time points ahead of their turn, beside the one that is shown"),
        number("autosave_s", &S::autosave_s, 0, 3600, "s", view, "how often the state is kept; 0: never")
            .special(0, "never")
            .soft(0, 120),
    };
    return fields;
}

}  // namespace echolux
