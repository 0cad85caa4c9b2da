#include "bench/rendering.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "app/open/open_volume.h"
#include "bench/run.h"
#include "bench/targets.h"
#include "bench/volume.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/describe.h"
#include "compute/voxel_target.h"
#include "render/renderer.h"

namespace echolux {
namespace {

using Size = std::array<std::int64_t, 3>;
using PictureSize = std::array<std::int64_t, 2>;

constexpr const char* texture_samples = "texture.samples";

struct Plan {
    std::vector<Size> volumes;
    std::vector<PictureSize> pictures;
    Size main_volume;
    PictureSize main_picture;
    int repetitions;
};

Plan plan_of(bool gpu, bool quick) {
    const auto cube = [](std::int64_t edge) { return Size{edge, edge, edge}; };
    if (quick) return {{cube(32), cube(48)}, {{64, 48}, {96, 64}}, cube(48), {64, 48}, 3};
    if (!gpu) return {{cube(64), cube(128), cube(256)}, {{320, 240}, {640, 480}}, cube(256), {640, 480}, 5};
    return {{cube(128), cube(256), cube(512), cube(768), cube(1024), {1024, 1836, 1000}, cube(1536)},
            {{640, 480}, {1280, 720}, {1920, 1080}, {3840, 2160}},
            cube(512),
            {1920, 1080},
            36};
}

std::string name_of(const Size& size) {
    const auto [depth, a_scans, b_scans] = size;
    return depth == a_scans && depth == b_scans ? std::to_string(depth)
                                                : fmt::format("{}x{}x{}", depth, a_scans, b_scans);
}

std::string name_of(const PictureSize& size) {
    return fmt::format("{}x{}", size[0], size[1]);
}

std::string spelled_size(const Size& size) {
    return fmt::format("{} x {} x {}", size[0], size[1], size[2]);
}

View view_of(const PictureSize& size) {
    View view;
    view.width = size[0];
    view.height = size[1];
    return view;
}

View without_savings(View view) {
    view.skip_empty = view.end_early = view.adaptive = false;
    return view;
}

class RenderingBench {
  public:
    RenderingBench(BenchBook& book, Renderer& renderer, const Plan& plan)
        : book_(book), renderer_(renderer), plan_(plan) {}

    void ceiling() {
        book_.begin("texture unit", 1);
        book_.ceiling({texture_samples, "trilinear samples of a texture that caches hold, and nothing else",
                       "samples/s", renderer_.texture_rates(std::max(plan_.repetitions, 5))});
        book_.end();
    }

    // Measures all picture sizes of one volume in the default view: lit compositing.
    void volume(const Size& size, BenchSheet& sheet) {
        book_.begin(fmt::format("pictures of {}", spelled_size(size)), 2 * std::ssize(plan_.pictures));
        BenchSheet::Row row{spelled_size(size), {}};
        const std::string refusal = load(size);
        for (const PictureSize& picture : plan_.pictures) {
            for (const auto& [state, name, meaning] : states) {
                const std::string key = fmt::format("{}/{}/{}", name, name_of(size), name_of(picture));
                if (!refusal.empty()) {
                    book_.skip(key, meaning, refusal);
                    continue;
                }
                book_.figure(key, meaning, "s", [&] { return seconds(view_of(picture), state); });
            }
            const BenchFigure* changing =
                book_.report().find(fmt::format("{}/{}/{}", states[1].name, name_of(size), name_of(picture)));
            row.values.push_back(changing != nullptr ? changing->spread.median : 0);
        }
        sheet.rows.push_back(row);
        book_.end();
    }

    void modes() {
        const Field<Canvas>& mode = describe<Canvas>().front();
        book_.begin("modes", std::ssize(mode.choices));
        const std::string refusal = load(plan_.main_volume);
        for (const std::string_view name : mode.choices) {
            View view = view_of(plan_.main_picture);
            mode.set(view, std::string(name));
            const std::string key = fmt::format("mode.{}/{}", name, name_of(plan_.main_volume));
            if (!refusal.empty()) {
                book_.skip(key, std::string(name), refusal);
                continue;
            }
            book_.figure(key, fmt::format("{}, the volume at rest, {}", name, name_of(plan_.main_picture)), "s",
                         [&] { return seconds(view, VolumeState::still); });
        }
        book_.end();
    }

    // Measures the gains from skipping, early termination and longer steps, and the sample rate without them.
    void samples() {
        book_.begin("samples", 5);
        const std::string refusal = load(plan_.main_volume);
        const std::string name = name_of(plan_.main_volume);
        if (refusal.empty()) {
            saved(name);
            moving(name);
            rate(ViewMode::mip, "mip", name);
            rate(ViewMode::composite, "composite", name);
        } else {
            for (const char* key : {"saved", "moving", "rate.mip", "rate.composite"}) {
                book_.skip(fmt::format("{}/{}", key, name), "the main volume", refusal);
            }
        }
        book_.end();
    }

    void samples_of(const std::filesystem::path& file, Progress& progress) {
        const OpenedVolume opened = open_volume(file, {}, {}, progress);
        renderer_.set_volume(opened.volume.grid, opened.volume.voxels.data());
        loaded_ = {};
        book_.begin("samples", 1);
        saved(file.filename().string());
        book_.end();
    }

  private:
    double samples_taken(const View& view) {
        double sum = 0;
        for (const RayMeasure& ray : renderer_.measure(view)) sum += ray.samples;
        return sum;
    }

    void saved(const std::string& name) {
        const View view = view_of(plan_.main_picture);
        book_.figure("saved/" + name, "samples of brute force beside those taken, default view, light included", "x",
                     [&] { return std::vector{samples_taken(without_savings(view)) / samples_taken(view)}; });
    }

    void rate(ViewMode mode, const char* mode_name, const std::string& name) {
        View view = without_savings(view_of(plan_.main_picture));
        view.mode = mode;
        book_.figure(fmt::format("rate.{}/{}", mode_name, name),
                     fmt::format("samples of {} while none is saved, all gradients included", mode_name), "samples/s",
                     [&] {
                         const double samples = samples_taken(view);
                         warm_up(view, VolumeState::still);
                         std::vector<double> rates;
                         for (int i = 0; i < plan_.repetitions; ++i) {
                             book_.poll();
                             const auto spent = renderer_.seconds_for(view, VolumeState::still);
                             if (spent) rates.push_back(samples / *spent);
                         }
                         return rates;
                     },
                     {{texture_samples}});
    }

    // Draws like a window: the host waits for each picture, and the number of rays adapts to the time.
    void moving(const std::string& name) {
        View view = view_of(plan_.main_picture);
        using Clock = std::chrono::steady_clock;
        const auto start = Clock::now();
        const auto seconds_at = [&](Clock::time_point time) {
            return std::chrono::duration<double>(time - start).count();
        };
        double pitch = 0;
        const auto rates = [&] {
            std::vector<double> found;
            for (int i = -5; i < plan_.repetitions; ++i) {
                book_.poll();
                view.azimuth_deg += 1;
                const auto before = Clock::now();
                const FollowedPicture picture = renderer_.follow(view, seconds_at(before));
                renderer_.wait(picture.drawing);
                pitch = picture.pitch;
                if (i >= 0) found.push_back(1 / (seconds_at(Clock::now()) - seconds_at(before)));
            }
            return found;
        };
        book_.figure("moving/" + name,
                     fmt::format("lit composite while the view turns, {}, coarser where 33 ms ask for it",
                                 name_of(plan_.main_picture)),
                     "pictures/s", rates);
        book_.figure("moving.pitch/" + name, "of these, pixels from ray to ray at the end", "pixels",
                     [&] { return std::vector{pitch}; });
    }

    struct State {
        VolumeState state;
        const char* name;
        const char* meaning;
    };
    static constexpr std::array states{
        State{VolumeState::still, "still", "lit composite, the volume at rest"},
        State{VolumeState::changing, "changing", "lit composite, bricks built anew for every picture"}};

    // Returns why the volume cannot be loaded; "" if it was.
    std::string load(const Size& size) {
        if (loaded_ == size) return "";
        try {
            const BenchVolume volume = speckled_tissue(size);
            renderer_.set_volume(volume.grid, volume.voxels.data());
            renderer_.set_peaks(peaks_of(volume).data());
            loaded_ = size;
            return "";
        } catch (const Error& error) {
            if (error.code() == ErrorCode::cancelled) throw;
            return error.line();
        }
    }

    // Rounded up to whole words, like the buffers.
    std::vector<std::byte> peaks_of(const BenchVolume& volume) const {
        const VolumeGrid& grid = volume.grid;
        const std::int64_t depths = renderer_.peak_depths(), line = grid.a_scan_bytes();
        const std::int64_t of_a_line = echolux::peaks_of(grid.depth, depths) * bytes_of(grid.type);
        const std::int64_t lines = grid.a_scans * grid.b_scans;
        std::vector<std::byte> peaks(index((lines * of_a_line + 3) / 4 * 4));
        const auto* voxels = reinterpret_cast<const std::byte*>(volume.voxels.data());
        parallel_for(0, lines, [&](std::int64_t i) {
            store_peaks(grid.type, voxels + i * line, grid.depth, depths, peaks.data() + i * of_a_line);
        });
        return peaks;
    }

    // A GPU that has waited for the CPU lowers its clock. While drawing pictures, it waits between them and takes a few
    // hundred milliseconds to raise the clock again. Keep it busy until its texture unit is as fast as before.
    void wake() {
        if (renderer_.is_software()) return;
        constexpr double as_fast = 0.98;
        constexpr int most = 100;  // of more than 10 ms each
        const double full = book_.report().find(texture_samples)->spread.median;
        for (int i = 0; i < most; ++i) {
            const std::vector<double> rates = renderer_.texture_rates(1);
            if (rates.empty() || rates.front() >= as_fast * full) return;
            book_.poll();
        }
    }

    void warm_up(const View& view, VolumeState state) {
        for (int i = 0; i < 2; ++i) renderer_.seconds_for(view, state);  // compile shaders and learn the pace
        wake();
        renderer_.seconds_for(view, state);
    }

    // The view makes a full turn, so that no direction is favoured.
    std::vector<double> seconds(View view, VolumeState state) {
        warm_up(view, state);
        std::vector<double> found;
        for (int i = 0; i < plan_.repetitions; ++i) {
            book_.poll();
            view.azimuth_deg = 360.0 * i / plan_.repetitions;
            if (const auto spent = renderer_.seconds_for(view, state)) found.push_back(*spent);
        }
        return found;
    }

    BenchBook& book_;
    Renderer& renderer_;
    Plan plan_;
    Size loaded_{};
};

}  // namespace

BenchReport run(const RenderingBenchJob& job, Progress& progress) {
    GpuDevice choice;
    choice.name = job.device;
    Renderer renderer(choice);
    const bool gpu = !renderer.is_software();
    const Plan plan = plan_of(gpu, job.quick);
    BenchReport report;
    report.machine.threads = thread_count();
    report.machine.backend = renderer.device_name();
    report.machine.processor = processor_name();
    report.quick = job.quick;
    report.conditions = fmt::format(
        "Seconds of the device's own clock, medians over {} pictures while the view turns once round; u8 volumes of "
        "layered tissue in speckle",
        plan.repetitions);
    BenchBook book(report, {}, progress);
    RenderingBench bench(book, renderer, plan);
    bench.ceiling();
    BenchSheet sheet{"lit composite, bricks built anew for every picture", "s", {}, {}};
    for (const PictureSize& size : plan.pictures) sheet.columns.push_back(fmt::format("{} x {}", size[0], size[1]));
    for (const Size& size : plan.volumes) bench.volume(size, sheet);
    report.sheets.push_back(sheet);
    bench.modes();
    bench.samples();
    for (const std::filesystem::path& file : job.volumes) bench.samples_of(file, progress);
    if (job.quick) return report;
    report.targets = gpu ? judged_rendering(report, job.volumes) : judged_rendering_in_software(report);
    return report;
}

}  // namespace echolux
