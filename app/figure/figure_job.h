// Jobs of the operation `figure` and of the window: a figure with axes, or tables of A-scans, from a volume or scan.
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
#include "render/gpu_device.h"
#include "render/view/view.h"

namespace echolux {

enum class PanelKind { volume, b_scan, en_face };
using Layout = std::vector<std::vector<PanelKind>>;  // rows of panels

// Parses "volume+bscan/enface": + joins panels of a row, / separates rows. Throws Error{bad_setting}.
Layout parsed_layout(const std::string& text);

// Part of a volume that a figure shows.
struct FigureContent {
    Layout layout;                       // empty: the B-scan, beside an en-face projection if there are several B-scans
    std::optional<std::int64_t> b_scan;  // std::nullopt: the middle one
    Interval en_face;                    // depth rows; `end` 0: to the last
    bool from_surface = false;           // rows are counted from the tissue surface
};

struct FigureJob : VolumeSource {
    std::filesystem::path output;
    FigureContent content;
    FigureStyle style;
    View view;  // of panels that show the volume
    GpuDevice device;
    FileNames made_from;      // further input files from which this job was read
    bool overwrites = false;  // replaces any existing file
};

// Returns warnings. Throws Error. An output file only appears once it is complete.
std::vector<std::string> run(const FigureJob& job, Progress& progress);

struct TableJob : VolumeSource {
    std::filesystem::path output;  // *.csv
    // A-scan and B-scan; std::nullopt: those with the strongest echoes.
    std::optional<std::pair<std::int64_t, std::int64_t>> a_scan;
    std::optional<std::int64_t> b_scan;  // search only this B-scan
    Interval rows;                       // search only these depth rows; `end` 0: all
    bool overwrites = false;             // replaces any existing file
};

std::vector<std::string> run(const TableJob& job, Progress& progress);

}  // namespace echolux
