// A turntable compared with only drawing and with only encoding its pictures.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <vector>

#include "app/movie/movie_encoding.h"
#include "app/movie/movie_plan.h"
#include "bench/benches.h"
#include "bench/targets.h"
#include "bench/volume.h"
#include "engine/memory.h"

namespace echolux {
namespace {

struct Plan {
    std::int64_t edge, width, height, frames;
    int repetitions;
};

// Full HD on a GPU. Software Vulkan is so slow that a small and short movie must suffice.
Plan plan_of(bool gpu, bool quick) {
    if (quick) return {32, 64, 48, 6, 1};
    if (!gpu) return {96, 640, 360, 48, 1};
    return {512, 1920, 1080, 300, 3};
}

// Deleted on destruction.
struct ScratchFile {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() /
        fmt::format("echolux-bench-{}.mp4", std::chrono::steady_clock::now().time_since_epoch().count());
    ScratchFile() = default;
    ~ScratchFile() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;
};

class MovieBench {
  public:
    MovieBench(BenchBook& book, Renderer& renderer, const Plan& plan)
        : book_(book), renderer_(renderer), plan_(plan), path_({.frames = plan.frames}, view(), volume()) {
        require_memory(plan.frames * plan.width * plan.height * 4, "the pictures of the movie", "close something else");
        renderer_.render(path_.view(0));  // exclude one-time setup
    }

    // Measures the whole, drawing alone and encoding alone, for the same number of pictures.
    void measure() {
        const std::string what = fmt::format("{} pictures of {} x {}", plan_.frames, plan_.width, plan_.height);
        book_.begin("movie", 4);
        book_.figure("movie.rendering", what + ", drawn and read back", "s", [&] { return repeated([&] { draw(); }); });
        book_.figure("movie.encoding", "the same, encoded and written", "s",
                     [&] { return repeated([&] { encode(); }); });
        book_.figure("movie.together", fmt::format("both, by {}", encoder_), "s",
                     [&] { return repeated([&] { make(); }); }, {{"movie.rendering"}, {"movie.encoding"}});
        const auto median = [&](const char* key) { return book_.report().find(key)->spread.median; };
        book_.figure("movie.share", "that, beside the slower of the two alone", "x", [&] {
            return std::vector{median("movie.together") /
                               std::max(median("movie.rendering"), median("movie.encoding"))};
        });
        book_.end();
    }

  private:
    View view() const {
        View view;
        view.width = plan_.width;
        view.height = plan_.height;
        return view;
    }

    MovieTimePoints volume() {
        const BenchVolume made = speckled_tissue({plan_.edge, plan_.edge, plan_.edge});
        renderer_.set_volume(made.grid, made.voxels.data());
        return {.grid = made.grid};
    }

    std::vector<double> repeated(const std::function<void()>& work) {
        return book_.repeated(0, plan_.repetitions, [&](int) { return seconds_of(work); });
    }

    // Keeps all pictures for encode(), so that both parts process the same ones.
    void draw() {
        images_.clear();
        std::deque<std::function<Image()>> coming;
        const auto take = [&] {
            images_.push_back(coming.front()());
            coming.pop_front();
        };
        for (std::int64_t frame = 0; frame < plan_.frames; ++frame) {
            book_.poll();
            coming.push_back(renderer_.begin(path_.view(frame)));
            if (coming.size() > MovieEncoding::max_waiting) take();  // as many in flight as when both parts overlap
        }
        while (!coming.empty()) take();
    }

    std::unique_ptr<MovieWriter> movie() {
        auto made = create_movie(
            file_.path,
            {.width = plan_.width, .height = plan_.height, .rate = path_.rate(), .max_pictures = plan_.frames});
        encoder_ = made->encoder();
        return made;
    }

    void encode() {
        const auto made = movie();
        for (const Image& image : images_) {
            book_.poll();
            made->add(image.pixels);
        }
        made->finish();
    }

    void make() {
        MovieEncoding encoding(movie());
        for (std::int64_t frame = 0; frame < plan_.frames; ++frame) {
            book_.poll();
            encoding.add(renderer_.begin(path_.view(frame)));
        }
        encoding.finish();
    }

    BenchBook& book_;
    Renderer& renderer_;
    Plan plan_;
    MoviePlan path_;
    ScratchFile file_;
    std::string encoder_;
    std::vector<Image> images_;
};

}  // namespace

void run_movie(const BenchJob& job, BenchReport& report, Progress& progress) {
    GpuDevice choice;
    choice.name = job.device;
    Renderer renderer(choice);
    const bool gpu = !renderer.is_software();
    report = report_of(renderer.device_name(), job.quick);
    const Plan plan = plan_of(gpu, job.quick);
    report.conditions = fmt::format(
        "A turntable of a u8 volume of {0} x {0} x {0} voxels of layered tissue in speckle, lit composite, H.264 at "
        "its default quality, one file after the other",
        plan.edge);
    BenchBook book(report, {}, progress);
    MovieBench(book, renderer, plan).measure();
    if (gpu && !job.quick) report.targets = judged_movie(report);
}

}  // namespace echolux
