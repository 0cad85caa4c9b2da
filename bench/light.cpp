#include "bench/light.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "app/open/open_volume.h"
#include "bench/noise.h"
#include "bench/run.h"
#include "bench/targets.h"
#include "bench/volume.h"
#include "compute/error.h"
#include "compute/parallel_for.h"
#include "render/renderer.h"

namespace echolux {
namespace {

using VolumeSize = std::array<std::int64_t, 3>;

struct LightPlan {
    std::vector<VolumeSize> volumes;
    std::int64_t width, height;
    int repetitions;
    bool is_noise_of_first;              // measure noise here too, not only for files
    double timeout_s;                    // time at rest after which a picture should be clean
    std::int64_t few_paths, many_paths;  // compares pictures with this many paths:
    std::int64_t compared_width, compared_height;
};

LightPlan light_plan(bool gpu, bool quick) {
    if (quick) return {{{48, 48, 48}}, 64, 48, 3, true, 0.5, 4, 32, 64, 48};
    if (!gpu) return {{{128, 128, 128}, {256, 256, 256}}, 640, 480, 5, false, 60, 32, 4096, 256, 192};
    return {{{512, 512, 512}, {1024, 1836, 1000}}, 1920, 1080, 36, true, 1, 32, 4096, 1920, 1080};
}

std::string short_name(const VolumeSize& size) {
    const auto [depth, a_scans, b_scans] = size;
    return depth == a_scans && depth == b_scans ? std::to_string(depth)
                                                : fmt::format("{}x{}x{}", depth, a_scans, b_scans);
}

class LightBench {
  public:
    LightBench(BenchBook& book, Renderer& renderer, const LightPlan& plan)
        : book_(book), renderer_(renderer), plan_(plan) {}

    void measure(const VolumeSize& size) {
        const std::string name = short_name(size);
        book_.begin("traced pictures of " + name, 3);
        const std::string refusal = load(size);
        const std::string picture = fmt::format("picture.traced/{}/{}x{}", name, plan_.width, plan_.height);
        measured(
            refusal, picture, "a path a pixel, up to 4 bounces, while the view turns once round",
            [&](int i, View& view) { view.azimuth_deg = 360.0 * i / plan_.repetitions; }, traced_view());
        measured(
            refusal, "majorants/" + name, "what a changed curve costs before the first path",
            [](int i, View& view) { view.opacity = 1 + 1e-3 * (i + 1); }, empty_view());
        measured(
            refusal, "majorants.changing/" + name, "what a changed volume costs before the first path",
            [](int, View&) {}, empty_view(), VolumeState::changing);
        book_.end();
        if (plan_.is_noise_of_first && size == plan_.volumes.front()) noise(refusal, name);
    }

    void measure(const std::filesystem::path& file, Progress& progress) {
        const OpenedVolume opened = open_volume(file, {}, {}, progress);
        renderer_.set_volume(opened.volume.grid, opened.volume.voxels.data());
        noise("", file.filename().string());
    }

  private:
    View traced_view() const {
        View view = default_view();
        view.bounces = 4;
        return view;
    }

    View default_view() const {
        View view;
        view.mode = ViewMode::traced;
        view.width = plan_.width;
        view.height = plan_.height;
        view.fit = true;
        return view;
    }

    // Compares two seeds, which follow different paths to the same picture.
    void noise(const std::string& refusal, const std::string& name) {
        book_.begin("noise in pictures of " + name, 3);
        const std::string clean = "clean/" + name, paths = "clean.paths/" + name, psnr = "psnr/" + name;
        const std::string clean_is =
            fmt::format("rms between two seeds' pictures {:g} s after the view came to rest", plan_.timeout_s);
        const std::string paths_is = "paths a pixel by then";
        const std::string psnr_is = fmt::format("{} paths, denoised, beside {}, in {} x {}", plan_.few_paths,
                                                plan_.many_paths, plan_.compared_width, plan_.compared_height);
        if (!refusal.empty()) {
            for (const auto& [key, meaning] : {std::pair{clean, clean_is}, {paths, paths_is}, {psnr, psnr_is}}) {
                book_.skip(key, meaning, refusal);
            }
            return book_.end();
        }
        std::array<RestedPicture, 2> seen;
        book_.figure(clean, clean_is, "of 255", [&] {
            View view = default_view();
            const auto rested = [&](double seconds) {
                return rested_picture(renderer_, view, seconds, [&] { book_.poll(); });
            };
            rested(std::min(plan_.timeout_s, 0.5));  // compile shaders and learn the pace
            for (RestedPicture& picture : seen) {
                ++view.seed;
                picture = rested(plan_.timeout_s);
            }
            return std::vector{rms_apart(seen[0].image, seen[1].image)};
        });
        book_.figure(paths, paths_is, "paths", [&] {
            return std::vector{static_cast<double>(seen[0].paths), static_cast<double>(seen[1].paths)};
        });
        book_.figure(psnr, psnr_is, "dB", [&] { return std::vector{psnr_of_few()}; });
        book_.end();
    }

    double psnr_of_few() {
        View view = default_view();
        view.width = plan_.compared_width;
        view.height = plan_.compared_height;
        view.noise_target = 0;
        const auto rendered = [&](std::int64_t paths) {
            ++view.seed;
            view.paths = paths;
            return renderer_.render(view, {}, [&](std::int64_t) { book_.poll(); });
        };
        const Image right = rendered(plan_.many_paths);
        return psnr_db(rendered(plan_.few_paths), right);
    }

    // The single path starts behind the volume, so only the fixed cost remains.
    View empty_view() const {
        View view = traced_view();
        view.width = view.height = 1;
        view.near_um = 1e9;
        return view;
    }

    template <class Change>
    void measured(const std::string& refusal, const std::string& key, const std::string& meaning, const Change& change,
                  View view, VolumeState state = VolumeState::still) {
        if (!refusal.empty()) return book_.skip(key, meaning, refusal);
        book_.figure(key, meaning, "s", [&] {
            warm_up(view, state);
            std::vector<double> found;
            for (int i = 0; i < plan_.repetitions; ++i) {
                book_.poll();
                change(i, view);
                if (const auto spent = renderer_.seconds_for(view, state)) found.push_back(*spent);
            }
            return found;
        });
    }

    // Renders until the clock is high and the renderer knows how much work fits a submission.
    void warm_up(const View& view, VolumeState state) {
        const int passes = plan_.repetitions;
        for (int i = 0; i < passes; ++i) renderer_.seconds_for(view, state);
    }

    // Returns why the volume cannot be loaded; "" if it was.
    std::string load(const VolumeSize& size) {
        try {
            const BenchVolume volume = speckled_tissue(size);
            renderer_.set_volume(volume.grid, volume.voxels.data());
            return "";
        } catch (const Error& error) {
            if (error.code() == ErrorCode::cancelled) throw;
            return error.line();
        }
    }

    BenchBook& book_;
    Renderer& renderer_;
    LightPlan plan_;
};

}  // namespace

BenchReport run(const LightBenchJob& job, Progress& progress) {
    GpuDevice choice;
    choice.name = job.device;
    Renderer renderer(choice);
    const bool gpu = !renderer.is_software();
    const LightPlan plan = light_plan(gpu, job.quick);
    BenchReport report;
    report.machine.threads = thread_count();
    report.machine.backend = renderer.device_name();
    report.machine.processor = processor_name();
    report.quick = job.quick;
    report.conditions = fmt::format(
        "Seconds of the device's own clock, medians of {}; u8 volumes of layered tissue in speckle, pictures of {} x "
        "{}",
        plan.repetitions, plan.width, plan.height);
    BenchBook book(report, {}, progress);
    LightBench bench(book, renderer, plan);
    for (const VolumeSize& size : plan.volumes) bench.measure(size);
    for (const std::filesystem::path& file : job.volumes) bench.measure(file, progress);
    if (gpu && !job.quick) report.targets = judged_light(report, job.volumes);
    return report;
}

}  // namespace echolux
