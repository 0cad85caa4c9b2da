#include "app/jobs/demo_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/open/show_opened.h"
#include "app/seconds_since.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/analysis/figures.h"
#include "engine/analysis/tissue_structure.h"
#include "engine/interval.h"
#include "engine/io/atomic_file.h"
#include "engine/io/output_rule.h"
#include "engine/offline/reconstruction.h"
#include "engine/simulate/simulator.h"
#include "engine/simulate/truth.h"
#include "render/renderer.h"

namespace echolux {
namespace {

// Use of the grey scale by a picture.
struct PictureQuality {
    double white = 0;       // share of white pixels
    double gray_range = 0;  // range from the 0.1 to the 99.9 percentile, as a share of the grey scale
};

// Uses the luminance (Rec. 709) of every pixel.
PictureQuality quality_of(const Picture& picture) {
    const auto channels = index(picture.channels);
    std::vector<int> grays;
    for (std::size_t i = 0; i + channels <= picture.pixels.size(); i += channels) {
        const std::uint8_t* p = picture.pixels.data() + i;
        const double gray = channels == 1 ? p[0] : 0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2];
        grays.push_back(static_cast<int>(std::lround(gray)));
    }
    if (grays.empty()) return {};
    std::sort(grays.begin(), grays.end());
    const auto count = static_cast<double>(grays.size());
    const auto white = std::ranges::count(grays, 255);
    const auto at = [&](double share) { return grays[static_cast<std::size_t>(share * (count - 1))]; };
    return {static_cast<double>(white) / count, (at(0.999) - at(0.001)) / 255.0};
}

using Clock = std::chrono::steady_clock;

constexpr std::int64_t en_face_enlarged = 4;
constexpr std::int64_t vessel_margin = 20;  // rows between the search for vessels and the surrounding layers

Simulation living_scan() {
    Simulation simulation;
    simulation.scene = "vessel";
    simulation.a_scans = 160;
    simulation.b_scans = 128;
    simulation.volumes = 3;
    return simulation;
}

View demo_view() {
    View view;
    view.width = 1280;
    view.height = 960;
    return view;
}

// Renders the pictures, and collects their facts for the closing table.
class Pictures {
  public:
    explicit Pictures(std::filesystem::path folder) : folder_(std::move(folder)) {}

    void write(const std::string& name, const Picture& picture) {
        write_png(folder_ / name, picture);
        const PictureQuality quality = quality_of(picture);
        worst_.white = std::max(worst_.white, quality.white);
        worst_.gray_range = std::min(worst_.gray_range, quality.gray_range);
        names_ += (names_.empty() ? "" : ", ") + name;
    }

    DemoLine quality_line() const {
        return {"gray values", fmt::format("at most {:.2f} % white, at least {:.0f} % of the range used",
                                           worst_.white * 100, worst_.gray_range * 100)};
    }
    DemoLine files_line() const { return {"pictures", names_ + " in " + folder_.string()}; }

  private:
    std::filesystem::path folder_;
    std::string names_;
    PictureQuality worst_{0, 1};
};

// Rows between the last two boundaries, which contain the vessels.
Interval vessel_rows(const Layers& layers) {
    const std::vector<float>& top = layers.boundaries[layers.boundaries.size() - 2];
    const std::vector<float>& bottom = layers.boundaries.back();
    double above = 0, below = 1e9;
    for (std::size_t i = 0; i < top.size(); ++i) {
        above = std::max(above, static_cast<double>(top[i] - layers.surface()[i]));
        below = std::min(below, static_cast<double>(bottom[i] - layers.surface()[i]));
    }
    return {std::lround(above) + vessel_margin, std::lround(below) - vessel_margin};
}

DemoLine layer_line(const Layers& layers, const Truth& truth) {
    std::vector<double> errors;
    for (std::size_t n = 0; n < layers.boundaries.size(); ++n) {
        for (std::int64_t b = 0; b < layers.b_scans; ++b) {
            for (std::int64_t a = 0; a < layers.a_scans; ++a) {
                const float found = layers.boundaries[n][index(b * layers.a_scans + a)];
                errors.push_back(
                    std::abs(static_cast<double>(found) - truth.boundary_bin(static_cast<std::int64_t>(n), a, b)));
            }
        }
    }
    std::sort(errors.begin(), errors.end());
    const auto within = std::upper_bound(errors.begin(), errors.end(), 1.0) - errors.begin();
    return {"layer boundaries",
            fmt::format("{} found, median error {:.2f} voxels, {:.1f} % within 1 voxel of the truth",
                        layers.boundaries.size(), errors[errors.size() / 2],
                        100.0 * static_cast<double>(within) / static_cast<double>(errors.size()))};
}

std::vector<DemoLine> measured(const Volume& volume, const Truth& truth, Pictures& pictures) {
    const Layers layers = find_layers(volume, truth.facts.boundaries);
    const Interval rows = vessel_rows(layers);
    const std::vector<std::uint8_t> vessels = find_vessels(volume, layers.surface(), rows.begin, rows.end);
    pictures.write("en-face.png", gray_picture(enlarged(en_face_figure(volume, layers.surface(), rows.begin, rows.end),
                                                        en_face_enlarged)));
    return {layer_line(layers, truth),
            {"vessels en face", fmt::format("Dice {:.2f} with the truth", dice(vessels, truth.en_face))}};
}

std::string picture_name(std::int64_t volume) {
    return volume == 0 ? "volume.png" : fmt::format("volume_t{}.png", volume);
}

// Removes what a demo that does not finish has made: its files that were not there before, and then empty folders.
class UnfinishedDemo {
  public:
    UnfinishedDemo(const DemoJob& job, const std::vector<Output>& outputs) {
        std::error_code problem;
        for (const Output& output : outputs) {
            if (!std::filesystem::exists(output.path, problem)) new_.push_back(output.path);
        }
        for (std::filesystem::path made = job.folder / "scan"; !made.empty() && !std::filesystem::exists(made, problem);
             made = made.parent_path())
            folders_.push_back(made);
    }
    ~UnfinishedDemo() {
        if (is_finished_) return;
        std::error_code problem;
        for (const std::filesystem::path& path : new_) std::filesystem::remove_all(path, problem);
        for (const std::filesystem::path& folder : folders_) std::filesystem::remove(folder, problem);  // if empty
    }
    UnfinishedDemo(const UnfinishedDemo&) = delete;
    UnfinishedDemo& operator=(const UnfinishedDemo&) = delete;

    void finish() { is_finished_ = true; }

  private:
    std::vector<std::filesystem::path> new_, folders_;  // folders: inner ones first
    bool is_finished_ = false;
};

std::vector<Output> outputs_of(const DemoJob& job, const std::filesystem::path& scan_file, std::int64_t volumes) {
    std::vector<Output> outputs = outputs_of_simulation(scan_file);
    outputs.push_back({job.folder / "volume.nrrd", is_own_volume});
    for (const char* name : {"b-scan.png", "en-face.png"}) outputs.push_back({job.folder / name, is_own_picture});
    for (std::int64_t v = 0; v < volumes; ++v) outputs.push_back({job.folder / picture_name(v), is_own_picture});
    return outputs;
}

// Both the folder and the files in it are outputs.
void check_names(const DemoJob& job, const std::vector<Output>& outputs) {
    for (const std::filesystem::path& made : {job.folder, job.folder / "scan"}) make_folder_for(made);
    check_outputs(outputs, {}, job.overwrites);
}

}  // namespace

std::vector<DemoLine> run(const DemoJob& job, Progress& progress) {
    const std::filesystem::path scan_file = job.folder / "scan" / "scan.toml";
    const Simulation simulation = living_scan();
    const std::vector<Output> outputs = outputs_of(job, scan_file, simulation.volumes);
    UnfinishedDemo unfinished(job, outputs);
    check_names(job, outputs);
    Renderer renderer(job.device);
    auto start = Clock::now();
    simulate(simulation, scan_file, progress);
    const double simulated_s = seconds_since(start);

    Pictures pictures(job.folder);
    Reconstruction reconstruction(open_scan(scan_file));
    std::vector<DemoLine> measures;
    double rendered_s = 0;
    for (std::int64_t v = 0; v < simulation.volumes; ++v) {
        const Volume volume = reconstruction.run({v, 0, 0}, progress);
        renderer.set_volume(volume.grid, volume.voxels.data());
        start = Clock::now();
        progress.begin(fmt::format("render volume {}", v), demo_view().height, "rows");
        const Picture picture =
            picture_of(renderer.render(demo_view(), {}, [&](std::int64_t rows) { progress.advance(rows); }));
        progress.end();
        rendered_s += seconds_since(start);
        pictures.write(picture_name(v), picture);
        if (v > 0) continue;
        pictures.write("b-scan.png", gray_picture(b_scan_figure(volume, volume.grid.b_scans / 2)));
        measures = measured(volume, read_truth(scan_file.parent_path() / "truth"), pictures);
        write_volume(job.folder / "volume.nrrd", volume);
    }

    const ReconstructionStats& stats = reconstruction.stats();
    std::vector<DemoLine> lines{
        {"scan", fmt::format("{} of {} of {} of {}, simulated in {:.1f} s", plural(simulation.volumes, "volumes"),
                             plural(simulation.b_scans, "B-scans"), plural(simulation.a_scans, "A-scans"),
                             plural(simulation.samples, "samples"), simulated_s)},
        {"reconstruction", fmt::format("{}: {:.0f} k A-scans/s, {:.1f} volumes/s", stats.backend,
                                       static_cast<double>(stats.a_scans) / stats.seconds / 1e3,
                                       static_cast<double>(simulation.volumes) / stats.seconds)},
        {"ray casting", fmt::format("Vulkan on {}: {:.0f} ms a picture of {} x {}", renderer.device_name(),
                                    rendered_s * 1e3 / static_cast<double>(simulation.volumes), demo_view().width,
                                    demo_view().height)}};
    lines.insert(lines.end(), measures.begin(), measures.end());
    lines.push_back(pictures.quality_line());
    lines.push_back(pictures.files_line());
    lines.push_back({"scan and volume", scan_file.string() + ", " + (job.folder / "volume.nrrd").string()});
    unfinished.finish();
    return lines;
}

}  // namespace echolux
