// Operation `reconstruct`: turns scans into volumes, series, B-scan pictures or en-face pictures.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "app/operations/operation.h"
#include "app/settings/short_texts.h"
#include "compute/error.h"
#include "compute/plan/choices.h"
#include "compute/plan/params.h"
#include "compute/plural.h"
#include "compute/repeat_report.h"
#include "engine/acquire/scan_player.h"
#include "engine/analysis/figures.h"
#include "engine/analysis/intensity.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/png_file.h"
#include "engine/offline/reconstruction.h"

namespace echolux {
namespace {

// Becomes "name_t003.png" for "name.png" if there are several volumes.
std::filesystem::path numbered(const std::filesystem::path& path, std::int64_t volume) {
    return path.parent_path() / fmt::format("{}_t{:03}{}", path.stem().string(), volume, path.extension().string());
}

// Destination of consecutive volumes: one file if the format holds several time points, otherwise one file per volume.
// One volume can be kept in memory.
class VolumeFiles {
  public:
    VolumeFiles(OperationOutput& output, const Interval& volumes, double step_s)
        : output_(output), volumes_(volumes), step_s_(step_s) {}

    void add(Volume volume, std::int64_t number, Progress& progress) {
        if (!output_.file.empty()) write(volume, number, progress);
        if (output_.is_kept) output_.volume = std::make_shared<const Volume>(std::move(volume));
    }

    const std::vector<std::filesystem::path>& files() const { return files_; }

  private:
    void write(const Volume& volume, std::int64_t number, Progress& progress) {
        constexpr std::int64_t mebibyte = 1 << 20;
        const std::filesystem::path& path = output_.file;
        const bool several = volumes_.end - volumes_.begin > 1, together = several && holds_time_points(path);
        if (!together || !writer_) files_.push_back(several && !together ? numbered(path, number) : path);
        progress.begin("write " + files_.back().filename().string(), volume.grid.bytes() / mebibyte + 1, "MiB");
        if (!together) {
            write_volume(files_.back(), volume);
        } else {
            if (!writer_) start_series(volume);
            writer_->write(volume.voxels);
            if (number + 1 == volumes_.end) writer_->finish();
        }
        progress.end();  // the file is complete: too late for cancelling
    }

    void start_series(const Volume& first) {
        SeriesHeader header{first.grid, volumes_.end - volumes_.begin, step_s_, {}, first.provenance};
        header.provenance["volume"] = fmt::format("{} to {}", volumes_.begin, volumes_.end - 1);
        writer_ = std::make_unique<SeriesWriter>(output_.file, std::move(header));
    }

    OperationOutput& output_;
    Interval volumes_;
    double step_s_;
    std::vector<std::filesystem::path> files_;
    std::unique_ptr<SeriesWriter> writer_;
};

[[noreturn]] void refuse(const char* what, const std::string& where, const char* remedy) {
    throw Error(ErrorCode::bad_setting, what, where, remedy);
}

struct Reconstruct {
    VolumeInput scan;
    Recipe recipe;  // for its description
    std::string volume, blocks, en_face, range;
    std::int64_t b_scan = -1;
    OperationOutput output, flow, repeats;

    ReconstructionStats stats;
    std::int64_t volumes_in_scan = 1;

    static void describe(OperationParts<Reconstruct>& parts);
    static void describe_outputs(OperationParts<Reconstruct>& parts);
    static std::string streamed(const Settings& settings);
    void run(Context& context);

  private:
    bool makes_picture() const { return b_scan >= 0 || !en_face.empty(); }
    Interval rows(const VolumeGrid& grid) const;
    Interval chosen_volumes(const ScanGeometry& geometry) const;
    std::vector<Output> outputs(const Interval& volumes) const;
    ScanPart part(std::int64_t number, std::int64_t slices) const;

    void read_texts();
    void check_request() const;
    void check_output(const VolumeGrid& grid, const Interval& volumes) const;
    void check_flow(const Scan& opened) const;
    void check_repeats(const Scan& opened) const;

    void write_all(Reconstruction& reconstruction, const Interval& volumes, std::int64_t slices, Context& context);
    void write_pictures(Reconstruction& reconstruction, const Interval& volumes, std::int64_t slices, Context& context);
    void write_with_flow(Reconstruction& reconstruction, const Interval& volumes, std::int64_t slices,
                         VolumeFiles& structures, Context& context);
    void report(Context& context) const;

    Interval b_scans, depth;        // `end` 0: to the last
    std::optional<GrayRange> gray;  // of a picture
};

// ---- Checks before work starts

Interval Reconstruct::rows(const VolumeGrid& grid) const {
    return {depth.begin, depth.end == 0 ? grid.depth : depth.end};
}

// Without a choice, the first volume.
Interval Reconstruct::chosen_volumes(const ScanGeometry& geometry) const {
    if (volume == "all") return {0, geometry.volumes};
    const std::int64_t number = volume.empty() ? 0 : number_argument(volume, "volume", "a number, or all");
    return {number, number + 1};
}

void Reconstruct::read_texts() {
    if (!blocks.empty()) std::tie(b_scans.begin, b_scans.end) = interval_argument(blocks, "blocks");
    if (!en_face.empty()) std::tie(depth.begin, depth.end) = interval_argument(en_face, "en_face");
    if (range.empty()) return;
    const auto [black, white] = range_argument(range, "range");
    gray = GrayRange{black, white};
}

void Reconstruct::check_request() const {
    const bool png = lower_ending(output.file) == ".png";
    if (png && !makes_picture()) {
        refuse("a PNG holds one picture, not a volume", output.file.string(),
               "add `b_scan` N or `en_face` Z0:Z1, or name a volume file");
    }
    if (!output.file.empty() && !png && makes_picture())
        refuse("images are written as PNG", output.file.string(), "name it *.png");
    if (!range.empty() && !makes_picture()) {
        refuse("applies to pictures only: a volume keeps all values", "range",
               "leave it out, or use `convert` with `type` u8 and `range` LOW:HIGH on the volume");
    }
    if (b_scan >= 0 && !en_face.empty())
        refuse("a picture shows either a B-scan or a projection", "b_scan", "give only one of them");
    if (b_scan >= 0 && !blocks.empty()) refuse("cannot be combined with one B-scan", "blocks", "leave it out");
}

// Checks everything else that can be rejected before the work starts.
void Reconstruct::check_output(const VolumeGrid& grid, const Interval& volumes) const {
    if (b_scan >= 0) check_b_scan(grid, b_scan);
    if (!en_face.empty()) check_en_face(grid, rows(grid).begin, rows(grid).end);
    if (volumes.end - volumes.begin > 1 && (output.is_kept || flow.is_kept))
        refuse("several volumes cannot be kept in memory", "volume", "choose one, or name a file");
    if (makes_picture() && grid.type == VoxelType::f16) {
        refuse("f16 voxels are for display only and cannot be written as a picture", output.file.string(),
               "set recipe.voxel = f32");
    }
    if (output.file.empty()) return;
    if (makes_picture())
        check_can_be_written(output.file);
    else
        check_volume_output(output.file, grid.type);
}

void Reconstruct::check_flow(const Scan& opened) const {
    if (!flow.is_wanted()) return;
    if (opened.flow.method == FlowMethod::none)
        refuse("the scan computes no flow", "flow", "set flow.method = doppler, or another one");
    if (makes_picture())
        refuse("flow is written beside a volume, not beside a picture", "flow", "leave it out, or write a volume");
    if (!flow.file.empty()) check_volume_output(flow.file, VoxelType::f32);
}

void Reconstruct::check_repeats(const Scan& opened) const {
    if (!repeats.is_wanted()) return;
    if (!repeats.file.empty() && lower_ending(repeats.file) != ".csv")
        refuse("alignment results are a table", repeats.file.string(), "name it *.csv");
    if (!opened.flow.align || opened.flow.method == FlowMethod::none || !flow.is_wanted()) {
        refuse("no repeats are aligned", "repeats", "name a volume with `flow`, and set flow.align = true");
    }
    if (!repeats.file.empty()) check_can_be_written(repeats.file);
}

// Returns all files that will be written.
std::vector<Output> Reconstruct::outputs(const Interval& volumes) const {
    const bool has_several = volumes.end - volumes.begin > 1;
    std::vector<Output> outputs;
    const auto add = [&](const std::filesystem::path& path, bool is_picture) {
        const auto is_own = is_picture ? is_own_picture : is_own_volume;
        if (path.empty() || !has_several || (!is_picture && holds_time_points(path))) {
            outputs.push_back({path, is_own});
            return;
        }
        for (std::int64_t v = volumes.begin; v < volumes.end; ++v) outputs.push_back({numbered(path, v), is_own});
    };
    add(output.file, makes_picture());
    add(flow.file, false);
    outputs.push_back({repeats.file, is_own_repeats_table});
    return outputs;
}

// ---- Work

// A picture of one B-scan requires only that B-scan.
ScanPart Reconstruct::part(std::int64_t number, std::int64_t slices) const {
    if (b_scan >= 0) return {number, b_scan / slices, b_scan / slices + 1};
    return {number, b_scans.begin, b_scans.end};
}

void Reconstruct::write_pictures(Reconstruction& reconstruction, const Interval& volumes, std::int64_t slices,
                                 Context& context) {
    for (std::int64_t v = volumes.begin; v < volumes.end; ++v) {
        const Volume made = reconstruction.run(part(v, slices), context.progress);
        const Interval summed = rows(made.grid);
        Picture picture = gray_picture(
            b_scan >= 0 ? b_scan_figure(made, b_scan % slices) : en_face_figure(made, summed.begin, summed.end), gray);
        picture.text = made.provenance;
        OperationOutput one = output;
        if (volumes.end - volumes.begin > 1) one.file = numbered(output.file, v);
        context.write(one, ".png", [&](const std::filesystem::path& path) { write_png(path, picture); });
        output.bytes = std::move(one.bytes);
    }
}

void Reconstruct::write_with_flow(Reconstruction& reconstruction, const Interval& volumes, std::int64_t slices,
                                  VolumeFiles& structures, Context& context) {
    const Scan& opened = reconstruction.scan();
    const std::int64_t b_repeats = opened.geometry.b_repeats;
    VolumeFiles flows(flow, volumes, volume_seconds(opened));
    std::vector<RepeatReport> reports;  // of all volumes
    std::string table = repeats_table_heading();
    for (std::int64_t v = volumes.begin; v < volumes.end; ++v) {
        const ScanPart here = part(v, slices);
        FlowedVolume made = reconstruction.run_with_flow(here, context.progress);
        table += repeats_table_rows({v, here.begin, b_repeats, made.repeats}, made.structure.grid);
        reports.insert(reports.end(), made.repeats.begin(), made.repeats.end());
        structures.add(std::move(made.structure), v, context.progress);
        flows.add(flow_values(made.flow.value()), v, context.progress);
    }
    context.files.insert(context.files.end(), structures.files().begin(), structures.files().end());
    context.files.insert(context.files.end(), flows.files().begin(), flows.files().end());
    if (repeats.is_wanted()) context.write(repeats, table);
    const std::string left_out = left_out_of(reports, b_repeats, opened.flow.align);
    if (!left_out.empty()) context.warnings.push_back(left_out);
}

void Reconstruct::write_all(Reconstruction& reconstruction, const Interval& volumes, std::int64_t slices,
                            Context& context) {
    if (makes_picture()) return write_pictures(reconstruction, volumes, slices, context);
    VolumeFiles structures(output, volumes, volume_seconds(reconstruction.scan()));
    if (flow.is_wanted()) return write_with_flow(reconstruction, volumes, slices, structures, context);
    if (reconstruction.scan().flow.method != FlowMethod::none) {
        context.warnings.push_back(fmt::format("flow.method: {} is not written; name a volume for it with `flow`",
                                               std::get<std::string>(value_of(reconstruction.scan().flow, "method"))));
    }
    for (std::int64_t v = volumes.begin; v < volumes.end; ++v)
        structures.add(reconstruction.run(part(v, slices), context.progress), v, context.progress);
    context.files.insert(context.files.end(), structures.files().begin(), structures.files().end());
}

void Reconstruct::report(Context& context) const {
    const double rate = static_cast<double>(stats.a_scans) / stats.seconds / 1e3;
    context.say(fmt::format("{}: {} in {:.2f} s, {:.0f} k A-scans/s", stats.backend, plural(stats.a_scans, "A-scans"),
                            stats.seconds, rate));
    if (volume.empty() && volumes_in_scan > 1)
        context.say(fmt::format("volume 0 of {}; `volume` all makes a series of all of them", volumes_in_scan));
}

void Reconstruct::run(Context& context) {
    read_texts();
    check_request();
    const std::string& name = scan.names.front();
    Scan opened = open_scan(name, scan.settings);
    const Interval volumes = chosen_volumes(opened.geometry);
    check_outputs(outputs(volumes), files_read(name, scan.settings), context.overwrites);
    const VolumeGrid whole = planned_grid(opened);
    check_output(whole, volumes);
    check_flow(opened);
    check_repeats(opened);
    Reconstruction reconstruction(std::move(opened), context.backend);
    context.warn(reconstruction.warnings());
    const auto before = static_cast<std::ptrdiff_t>(reconstruction.warnings().size());
    volumes_in_scan = reconstruction.scan().geometry.volumes;
    write_all(reconstruction, volumes, slices_per_b_scan(whole, reconstruction.scan().geometry), context);
    context.warn({reconstruction.warnings().begin() + before, reconstruction.warnings().end()});
    stats = reconstruction.stats();
    report(context);
}

// ---- Description

std::string Reconstruct::streamed(const Settings& settings) {
    const auto value = [&](const char* key) { return settings.field(key)->get(); };
    const bool is_picture = std::get<std::int64_t>(value("reconstruct.b_scan")) >= 0 ||
                            !std::get<std::string>(value("reconstruct.en_face")).empty();
    return is_picture ? ".png" : ".npy";
}

void Reconstruct::describe(OperationParts<Reconstruct>& parts) {
    parts.info.summary = "Reconstruct volumes, B-scans or en-face pictures";
    parts.info.examples = {"scan=scan.toml output=v.nrrd", "scan=scan.toml b_scan=64 output=b-scan.png",
                           "scan=scan.toml volume=all output=v.ome.zarr"};
    parts.info.details =
        "Settings that are not given are those of the scan's file. Parts of a volume are bit-identical to the whole, "
        "and `convert` joins them. See docs/scan-files.md and docs/algorithms.md.";
    parts
        .input({.name = "scan", .help = "scan TOML, or a raw file that describes itself (SD01RAW2)", .is_file = true},
               &Reconstruct::scan)
        .argument(text("volume", &Reconstruct::volume, Effect::file,
                       "volume, counted from 0, or all as one series; default: 0")
                      .written_as("N|all"))
        .argument(text("blocks", &Reconstruct::blocks, Effect::file,
                       "only B-scans A to B-1; parts are bit-identical to the whole")
                      .written_as("A:B"))
        .argument(integer("b_scan", &Reconstruct::b_scan, -1, 1'000'000'000, "", Effect::file,
                          "write a picture of this B-scan")
                      .special(-1, "none")
                      .written_as("N"))
        .argument(text("en_face", &Reconstruct::en_face, Effect::file,
                       "write a picture of the mean over depth rows Z0 to Z1-1")
                      .written_as("Z0:Z1"))
        .argument(
            text("range", &Reconstruct::range, Effect::file,
                 "values displayed as black and white; default: noise floor and 99.9 percentile of a B-scan in dB, "
                 "otherwise 0.3 and 99.7 percentiles")
                .written_as("LOW:HIGH"))
        .section("recipe", "Recipe", &Reconstruct::recipe, true);
    describe_outputs(parts);
    parts.uses_backend("reconstructs", true)
        .result("backend", "", "device that reconstructed", [](const Reconstruct& one) { return one.stats.backend; })
        .result("a_scans", "", "number of A-scans", [](const Reconstruct& one) { return one.stats.a_scans; })
        .result("seconds", "s", "time of reconstruction alone",
                [](const Reconstruct& one) { return one.stats.seconds; })
        .result("volumes_in_scan", "", "number of volumes of the scan", &Reconstruct::volumes_in_scan);
}

void Reconstruct::describe_outputs(OperationParts<Reconstruct>& parts) {
    parts
        .output({.name = "output",
                 .kind = OutputKind::volume_or_figure,
                 .help = "volume to write, or *.png for a picture of a B-scan or projection",
                 .is_required = true,
                 .placeholder = "FILE",
                 .is_checked_by_run = true,
                 .streamed = &Reconstruct::streamed},
                &Reconstruct::output)
        .output({.name = "flow",
                 .help = "also write the flow of flow.method, as velocities or contrast",
                 .is_checked_by_run = true},
                &Reconstruct::flow)
        .output({.name = "repeats",
                 .kind = OutputKind::table,
                 .help = "also write the positions of the repeats of each B-scan, and which were left out, as found by "
                         "flow.align",
                 .is_checked_by_run = true},
                &Reconstruct::repeats);
}

}  // namespace

ECHOLUX_OPERATION(reconstruct, Reconstruct)

}  // namespace echolux
