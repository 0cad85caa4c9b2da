// Cost of pictures by the device's own clock, of compositing and of traced light, and the time until these are clean.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "app/open/open_volume.h"
#include "app/seconds_since.h"
#include "bench/benches.h"
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

// Every volume is drawn in every picture size. Modes and samples are measured with the main ones only.
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

// Takes every sample of every ray, so that the samples per second can be compared with the texture unit.
View without_savings(View view) {
    view.skip_empty = view.end_early = view.adaptive = false;
    return view;
}

// Loads synthetic tissue. Returns why that is impossible; "" if it is done.
std::string load_refusal(
    Renderer& renderer, const Size& size,
    const std::function<void(const BenchVolume&)>& then = [](const BenchVolume&) {}) {
    try {
        const BenchVolume volume = speckled_tissue(size);
        renderer.set_volume(volume.grid, volume.voxels.data());
        then(volume);
        return "";
    } catch (const Error& error) {
        if (error.code() == ErrorCode::cancelled) throw;
        return error.line();
    }
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

    // Measures every render mode with its default settings.
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

    // Counts samples in a recording, whose empty space and noise differ from those of synthetic tissue.
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

    // Samples are counted before, so that counting does not slow the pictures that are timed.
    void rate(ViewMode mode, const char* mode_name, const std::string& name) {
        View view = without_savings(view_of(plan_.main_picture));
        view.mode = mode;
        book_.figure(fmt::format("rate.{}/{}", mode_name, name),
                     fmt::format("samples of {} while none is saved, all gradients included", mode_name), "samples/s",
                     [&] {
                         const double samples = samples_taken(view);
                         warm_up(view, VolumeState::still);
                         return book_.repeated(0, plan_.repetitions, [&](int) -> std::optional<double> {
                             const auto spent = renderer_.seconds_for(view, VolumeState::still);
                             return spent ? std::optional(samples / *spent) : std::nullopt;
                         });
                     },
                     {{texture_samples}});
    }

    // Draws like a window: the host waits for each picture, and the number of rays adapts to the time.
    void moving(const std::string& name) {
        View view = view_of(plan_.main_picture);
        const auto start = std::chrono::steady_clock::now();
        double pitch = 0;
        const auto rates = [&] {
            return book_.repeated(5, plan_.repetitions, [&](int) {
                view.azimuth_deg += 1;
                return 1 / seconds_of([&] {
                           const PanePicture picture = renderer_.follow(view, seconds_since(start));
                           renderer_.wait(picture.drawing);
                           pitch = picture.pitch;
                       });
            });
        };
        book_.figure("moving/" + name,
                     fmt::format("lit composite while the view turns, {}, coarser where 33 ms ask for it",
                                 name_of(plan_.main_picture)),
                     "pictures/s", rates);
        book_.note("moving.pitch/" + name, "of these, pixels from ray to ray at the end", "pixels", pitch);
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
        const std::string refusal = load_refusal(
            renderer_, size, [&](const BenchVolume& volume) { renderer_.set_peaks(peaks_of(volume).data()); });
        if (refusal.empty()) loaded_ = size;
        return refusal;
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
        return book_.repeated(0, plan_.repetitions, [&](int i) {
            view.azimuth_deg = 360.0 * i / plan_.repetitions;
            return renderer_.seconds_for(view, state);
        });
    }

    BenchBook& book_;
    Renderer& renderer_;
    Plan plan_;
    Size loaded_{};
};

}  // namespace

void run_rendering(const BenchJob& job, BenchReport& report, Progress& progress) {
    GpuDevice choice;
    choice.name = job.device;
    Renderer renderer(choice);
    const bool gpu = !renderer.is_software();
    const Plan plan = plan_of(gpu, job.quick);
    report = report_of(renderer.device_name(), job.quick);
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
    if (job.quick) return;
    report.targets = gpu ? judged_rendering(report, job.volumes) : judged_rendering_in_software(report);
}

namespace {

// ---- Traced light.

struct RestedPicture {
    Image image;
    std::int64_t paths = 0;  // per pixel
};

// Returns the last picture that a window shows within `seconds` after the view has come to rest, or the final picture
// if it is earlier. A picture counts once it has been read. `poll` is called periodically and may throw to stop. Throws
// like Renderer::follow.
RestedPicture rested_picture(Renderer& renderer, const View& view, double seconds, const std::function<void()>& poll) {
    const auto start = std::chrono::steady_clock::now();
    RestedPicture seen;
    for (double now = 0; now < seconds; now = seconds_since(start)) {
        poll();
        const PanePicture shown = renderer.follow(view, now);
        if (shown.passes == seen.paths && !shown.is_final) {
            std::this_thread::sleep_for(std::chrono::microseconds(200));  // yield: the CPU may be rendering
            continue;
        }
        Image image = renderer.read(shown.drawing);
        if (seconds_since(start) > seconds && seen.paths > 0) break;
        seen = {std::move(image), shown.passes};
        if (shown.is_final) break;
    }
    return seen;
}

// Root mean square difference of colours in 8-bit steps. Both pictures must have the same size.
double rms_apart(const Image& a, const Image& b) {
    double squares = 0;
    for (std::size_t i = 0; i < a.pixels.size(); ++i) {
        if (i % 4 != 3) squares += std::pow(int{a.pixels[i]} - int{b.pixels[i]}, 2);
    }
    return std::sqrt(squares / (0.75 * static_cast<double>(a.pixels.size())));
}

// Peak signal-to-noise ratio in dB relative to the correct picture; infinite if they are equal.
double psnr_db(const Image& image, const Image& right) {
    return 20 * std::log10(255 / rms_apart(image, right));
}

struct LightPlan {
    std::vector<Size> volumes;
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

class LightBench {
  public:
    LightBench(BenchBook& book, Renderer& renderer, const LightPlan& plan)
        : book_(book), renderer_(renderer), plan_(plan) {}

    void measure(const Size& size) {
        const std::string name = name_of(size);
        book_.begin("traced pictures of " + name, 3);
        const std::string refusal = load_refusal(renderer_, size);
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

    // Compares two seeds, which follow different paths to the same picture. Their difference has sqrt(2) times the
    // noise of one picture.
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
        view.noise_target = 0;  // do not end before the requested number of paths
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
            return book_.repeated(0, plan_.repetitions, [&](int i) {
                change(i, view);
                return renderer_.seconds_for(view, state);
            });
        });
    }

    // Renders until the clock is high and the renderer knows how much work fits a submission.
    void warm_up(const View& view, VolumeState state) {
        const int passes = plan_.repetitions;
        for (int i = 0; i < passes; ++i) renderer_.seconds_for(view, state);
    }

    BenchBook& book_;
    Renderer& renderer_;
    LightPlan plan_;
};

}  // namespace

void run_light(const BenchJob& job, BenchReport& report, Progress& progress) {
    GpuDevice choice;
    choice.name = job.device;
    Renderer renderer(choice);
    const bool gpu = !renderer.is_software();
    const LightPlan plan = light_plan(gpu, job.quick);
    report = report_of(renderer.device_name(), job.quick);
    report.conditions = fmt::format(
        "Seconds of the device's own clock, medians of {}; u8 volumes of layered tissue in speckle, pictures of {} x "
        "{}",
        plan.repetitions, plan.width, plan.height);
    BenchBook book(report, {}, progress);
    LightBench bench(book, renderer, plan);
    for (const Size& size : plan.volumes) bench.measure(size);
    for (const std::filesystem::path& file : job.volumes) bench.measure(file, progress);
    if (gpu && !job.quick) report.targets = judged_light(report, job.volumes);
}

}  // namespace echolux
