#include "app/figure/figure_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "app/figure/figure_page.h"
#include "app/open/open_volume.h"
#include "app/open/patient_view.h"
#include "app/open/show_opened.h"
#include "app/transfer/transfer_file.h"
#include "compute/error.h"
#include "compute/plan/choices.h"
#include "compute/plural.h"
#include "engine/analysis/figures.h"
#include "engine/analysis/tissue_structure.h"
#include "engine/build.h"
#include "engine/io/atomic_file.h"
#include "engine/io/output_rule.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

PanelKind kind_named(const std::string& name) {
    if (name == "volume") return PanelKind::volume;
    if (name == "bscan") return PanelKind::b_scan;
    if (name == "enface") return PanelKind::en_face;
    throw Error(ErrorCode::bad_setting, "'" + name + "' is not a figure part", "layout",
                "join volume, bscan and enface with + side by side and with / below each other");
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    if (parts.empty() || text.back() == separator) parts.emplace_back();
    return parts;
}

bool shows(const Layout& layout, PanelKind kind) {
    return std::ranges::any_of(layout, [&](const auto& row) { return std::ranges::count(row, kind) > 0; });
}

Interval rows_of(const FigureContent& content, const VolumeGrid& grid) {
    return {content.en_face.begin, content.en_face.end == 0 ? grid.depth : content.en_face.end};
}

Figure projection(const FigureContent& content, const Volume& volume) {
    const auto [begin, end] = rows_of(content, volume.grid);
    if (content.from_surface) return en_face_figure(volume, tissue_surface(volume), begin, end);
    return en_face_figure(volume, begin, end);
}

std::int64_t b_scan_of(const FigureContent& content, const VolumeGrid& grid) {
    return content.b_scan.value_or(grid.b_scans / 2);
}

// A projection of one B-scan is a line.
void choose_layout(FigureContent& content, const VolumeGrid& grid) {
    if (!content.layout.empty()) return;
    content.layout = {{PanelKind::b_scan}};
    if (grid.b_scans > 1) content.layout.front().push_back(PanelKind::en_face);
}

// Checks everything that can be rejected before the work.
void check_content(const FigureContent& content, const VolumeGrid& grid) {
    if (shows(content.layout, PanelKind::b_scan)) check_b_scan(grid, b_scan_of(content, grid));
    if (!shows(content.layout, PanelKind::en_face)) return;
    if (content.from_surface && content.en_face.end == 0) {
        throw Error(ErrorCode::bad_setting, "rows below the surface need an end", "en_face", "set both ends: Z0:Z1");
    }
    if (content.from_surface) {
        const auto [begin, end] = content.en_face;
        if (begin < end && begin > -grid.depth && end <= grid.depth) return;
        throw Error(ErrorCode::bad_setting,
                    fmt::format("rows {} to {} from the surface are outside a volume of {}", begin, end - 1,
                                plural(grid.depth, "rows")),
                    "en_face", "choose rows nearer to the surface");
    }
    check_en_face(grid, rows_of(content, grid).begin, rows_of(content, grid).end);
}

// Only this B-scan of a scan is reconstructed. `b_scan` becomes its index in the result.
ScanPart part_of_b_scan(const VolumeSource& source, const Scan& scan, std::int64_t& b_scan) {
    const VolumeGrid whole = planned_grid(scan);
    check_b_scan(whole, b_scan);
    const std::int64_t slices = slices_per_b_scan(whole, scan.geometry);
    const std::int64_t position = std::exchange(b_scan, b_scan % slices) / slices;
    return {source.part.volume, position, position + 1};
}

bool is_scan(const VolumeSource& source) {
    return !source.shown && is_scan_name(source.input);
}

ScanPart part_for(const FigureJob& job, FigureContent& content) {
    if (!is_scan(job)) return job.part;
    const Scan scan = open_scan(job.input, job.settings);
    const VolumeGrid whole = planned_grid(scan);
    choose_layout(content, whole);
    check_content(content, whole);
    if (shows(content.layout, PanelKind::volume) || shows(content.layout, PanelKind::en_face)) return job.part;
    std::int64_t b_scan = b_scan_of(content, whole);
    const ScanPart part = part_of_b_scan(job, scan, b_scan);
    content.b_scan = b_scan;
    return part;
}

// Call last: flattening moves the voxels that other panels also show.
Picture view_of(OpenedVolume& opened, const View& view, const GpuDevice& device, Progress& progress) {
    Renderer renderer(device);
    show_opened(renderer, opened, {}, view, progress);
    progress.begin("render", view.height, "rows");
    Image image = renderer.render(view, {}, [&](std::int64_t rows) { progress.advance(rows); });
    progress.end();
    return picture_of(std::move(image));
}

PictureTexts texts_of(const FigureJob& job) {
    return {{text_program, version},
            {"source", job.input.filename().string()},
            {"figure", section_toml("figure", job.style)}};
}

void check_table_name(const std::filesystem::path& path) {
    if (path.extension() != ".csv" && path.extension() != ".CSV") {
        throw Error(ErrorCode::bad_setting, "tables are CSV files", path.string(), "name it *.csv");
    }
    check_can_be_written(path);
}

// Recognises our tables by the headings that csv_of() writes.
bool is_own_profile(const std::filesystem::path& path) {
    return begins_with(path, "depth_um,value") || begins_with(path, "depth_row,value");
}

bool is_own_echoes(const std::filesystem::path& path) {
    return begins_with(path, "b_scan,a_scan,depth_");
}

}  // namespace

Layout parsed_layout(const std::string& text) {
    Layout layout;
    for (const std::string& row : parts_of(text, '/')) {
        layout.emplace_back();
        for (const std::string& name : parts_of(row, '+')) layout.back().push_back(kind_named(name));
    }
    return layout;
}

// `view` is the picture of panels that show the volume; it may be empty without such panels. Throws what
// engine/analysis/figures.h throws.
static std::vector<FigureRow> panels_of(const FigureContent& content, const Volume& volume, const Picture& view,
                                        const FigureStyle& style) {
    check_content(content, volume.grid);
    const auto panel = [&](PanelKind kind) {
        if (kind == PanelKind::volume) return view_panel(view);
        if (kind == PanelKind::en_face) return en_face_panel(projection(content, volume), volume.grid, style);
        return b_scan_panel(b_scan_figure(volume, b_scan_of(content, volume.grid)), volume.grid, style);
    };
    std::vector<FigureRow> rows;
    for (const std::vector<PanelKind>& kinds : content.layout) {
        rows.emplace_back();
        for (const PanelKind kind : kinds) rows.back().push_back(panel(kind));
    }
    return rows;
}

std::vector<std::string> run(const FigureJob& job, Progress& progress) {
    check(job.style, "figure");
    if (job.style.low >= job.style.high) {
        throw Error(ErrorCode::bad_setting, fmt::format("{:g} is not below {:g}", job.style.low, job.style.high),
                    "figure.low, figure.high", "give the lower value first, or only one of them");
    }
    FileNames inputs = files_read(job);
    add_files_of_view(job.view, inputs);
    inputs.insert(inputs.end(), job.made_from.begin(), job.made_from.end());
    check_outputs({{job.output, is_own_figure}}, inputs, job.overwrites);
    check_figure_name(job.output);
    FigureContent content = job.content;
    VolumeSource source = job;
    source.part = part_for(job, content);
    const bool has_view = shows(content.layout, PanelKind::volume);
    View view = job.view;
    load_transfer(view);
    load_channels(view);
    check_view(view);
    OpenedVolume opened = open_volume(source, progress);
    if (has_view) check_channels_of(view, opened.volume.grid, job.input.string());
    face_patient(view, opened.volume);
    choose_layout(content, opened.volume.grid);
    check_content(content, opened.volume.grid);
    const Picture still = has_view ? view_of(opened, view, job.device, progress) : Picture{};
    progress.begin("draw", 0, "");
    write_figure(job.output, panels_of(content, opened.volume, still, job.style), job.style, texts_of(job));
    progress.end();
    return opened.warnings;
}

std::vector<std::string> run(const TableJob& job, Progress& progress) {
    check_outputs({{job.output, job.a_scan ? is_own_profile : is_own_echoes}}, files_read(job), job.overwrites);
    check_table_name(job.output);
    VolumeSource source = job;
    auto a_scan = job.a_scan;
    if (a_scan && is_scan(job)) source.part = part_of_b_scan(job, open_scan(job.input, job.settings), a_scan->second);
    const OpenedVolume opened = open_volume(source, progress);
    const Volume& volume = opened.volume;
    if (a_scan) {
        write_text(job.output, csv_of(depth_profile(volume, a_scan->first, a_scan->second)));
        return opened.warnings;
    }
    const Interval b_scans = job.b_scan ? Interval{*job.b_scan, *job.b_scan + 1} : Interval{};
    write_text(job.output, csv_of(strongest_echoes(volume, b_scans, job.rows), volume.grid));
    return opened.warnings;
}

}  // namespace echolux
