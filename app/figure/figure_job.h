// The jobs behind `echolux figure`: a volume or scan to a figure with axes, or to tables of its A-scans.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/figure/figure_page.h"
#include "app/open/open_volume.h"
#include "engine/interval.h"
#include "engine/io/output_rule.h"
#include "engine/progress.h"
#include "render/device_choice.h"
#include "render/view/view.h"

namespace echolux {

enum class PanelKind { volume, b_scan, en_face };
using Layout = std::vector<std::vector<PanelKind>>;  // rows of panels

// "volume+bscan/enface": panels of a row are joined by +, rows by /. Throws Error{bad_setting}.
Layout parsed_layout(const std::string& text);

// What of a volume a figure shows.
struct FigureContent {
    Layout layout;
    std::optional<std::int64_t> b_scan;  // nothing: the middle one
    Interval en_face;                    // depth rows; end 0: the last
    bool from_surface = false;           // rows are counted from the surface of the tissue
};

// `view` is the picture of panels that show the volume; it may be empty where there is none. Throws what
// engine/analysis/figures.h throws.
std::vector<FigureRow> panels_of(const FigureContent& content, const Volume& volume, const Picture& view,
                                 const FigureStyle& style);

struct FigureJob : VolumeSource {
    std::filesystem::path output;
    FigureContent content;
    FigureStyle style;
    View view;  // of panels that show the volume
    DeviceChoice device;
    FileNames made_from;      // files besides, in which this job stood: they are inputs as well
    bool overwrites = false;  // replaces what is there, whoever made it
};

// Warnings. Throws Error; nothing is left under the output's name unless it is complete.
std::vector<std::string> run(const FigureJob& job, Progress& progress);

struct TableJob : VolumeSource {
    std::filesystem::path output;                                 // *.csv
    std::optional<std::pair<std::int64_t, std::int64_t>> a_scan;  // A-scan and B-scan; nothing: the strongest echoes
    std::optional<std::int64_t> b_scan;                           // of those: of this one alone
    Interval rows;                                                // and in these depth rows; end 0: all
    bool overwrites = false;                                      // replaces what is there, whoever made it
};

std::vector<std::string> run(const TableJob& job, Progress& progress);

}  // namespace echolux
