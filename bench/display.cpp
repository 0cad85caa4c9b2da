#include "bench/display.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <thread>

#include "app/live/live_pipeline.h"
#include "app/seconds_since.h"
#include "compute/error.h"

namespace echolux {

void feed_volume(LivePipeline& path, const std::vector<Block>& blocks, std::int64_t number, std::size_t end) {
    constexpr double max_seconds = 10;
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < end; ++i) {
        Block block = blocks[i];
        block.volume = number;
        while (!path.feeder.feed(block)) {
            if (i > 0 || seconds_since(start) > max_seconds) {
                throw Error(ErrorCode::device, "a volume was given up on its way to the texture", "bench");
            }
            std::this_thread::yield();
        }
    }
}

std::string texture_refusal(const BackendChoice& choice, const std::string& device) {
    GpuDevice wanted;
    wanted.name = device;
    try {
        const Renderer renderer(beside(wanted, choice));
        return "";
    } catch (const Error& error) {
        return error.line();
    }
}

namespace {

// A-scans per second of a volume that is fed repeatedly. `number` is that of the next volume.
std::vector<double> rates_through(LivePipeline& path, BenchBook& book, const BenchSize& size,
                                  const BenchSpectra& spectra, std::int64_t& number) {
    const auto volume = [&] {
        book.poll();
        feed_volume(path, spectra.blocks(), number++, spectra.blocks().size());
    };
    return rates_of(static_cast<double>(size.lines()), book.effort(), volume, [&] { path.feeder.finish(); });
}

}  // namespace

std::vector<double> texture_rates(BenchBook& book, const BenchSize& size, const ReconstructionSpec& spec,
                                  const BackendChoice& choice, const std::string& device, const BenchSpectra& spectra) {
    GpuDevice wanted;
    wanted.name = device;
    LivePipeline path(spec, choice, wanted);
    std::int64_t number = 0;
    return rates_through(path, book, size, spectra, number);
}

namespace {

using Clock = std::chrono::steady_clock;

// Draws at a steady pace on its own thread while the view turns.
class PacedPictures {
  public:
    static constexpr std::int64_t enough = 5;  // pictures needed to compute rates

    PacedPictures(LivePipeline& path, const BenchDisplay& display)
        : path_(path), display_(display), thread_([this](const std::stop_token& stop) { draw(stop); }) {}

    std::int64_t count() const { return count_; }

    // Picture rates per second, from each finished picture to the next.
    std::vector<double> rates() {
        thread_.request_stop();
        thread_.join();
        if (failure_) std::rethrow_exception(failure_);
        return rates_;
    }

  private:
    void draw(const std::stop_token& stop) try {
        const auto pace = std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(1 / display_.pictures_per_second));
        View view;
        view.width = display_.width;
        view.height = display_.height;
        auto due = Clock::now();
        std::optional<Clock::time_point> last;
        while (!stop.stop_requested()) {
            view.azimuth_deg += 0.5;
            if (const auto picture = path_.display.picture(view)) {
                path_.display.wait(*picture);
                if (last) rates_.push_back(1 / seconds_since(*last));
                last = Clock::now();
                ++count_;
            }
            // A late picture delays the next ones, because a burst of pictures would slow the reconstruction more.
            due = std::max(due + pace, Clock::now());
            std::this_thread::sleep_until(due);
        }
    } catch (...) {
        failure_ = std::current_exception();
        count_ = enough;  // do not wait for more
    }

    LivePipeline& path_;
    BenchDisplay display_;
    std::vector<double> rates_;
    std::exception_ptr failure_;
    std::atomic<std::int64_t> count_ = 0;
    std::jthread thread_;  // last, so that it stops before the members it uses are destroyed
};

// The kind of spectra and the target of a measurement.
struct DisplayVariant {
    SampleFormat format = SampleFormat::u16;
    SpectraPath spectra = SpectraPath::copied;
    FlowMethod flow = FlowMethod::none;
    Precision precision = Precision::exact;

    bool operator==(const DisplayVariant&) const = default;
};

class DisplayBench {
  public:
    DisplayBench(BenchBook& book, const BenchSize& size, const BackendChoice& choice, const BenchDisplay& display)
        : book_(book), size_(size), choice_(choice), display_(display) {}

    // Returns the path from spectra to textures. It is created on first use and reused while `variant` stays the same.
    LivePipeline& path(const DisplayVariant& variant = {}) {
        if (!path_ || variant != variant_) {
            path_.reset();
            variant_ = variant;
            choice_.spectra = variant.spectra;
            GpuDevice device;
            device.name = display_.device;
            ReconstructionSpec spec = chain_spec(size_, variant.format);
            spec.flow.method = variant.flow;
            spec.recipe.precision = variant.precision;
            path_ = std::make_unique<LivePipeline>(spec, choice_, device);
        }
        return *path_;
    }

    std::vector<double> rates(const DisplayVariant& variant, const BenchSpectra& spectra) {
        return rates_through(path(variant), book_, size_, spectra, volume_);
    }

    // A first volume makes pictures possible. Repeats until there are enough of them.
    std::vector<double> rates_beside_pictures(const BenchSpectra& spectra) {
        LivePipeline& to = path();
        feed_volume(to, spectra.blocks(), volume_++, spectra.blocks().size());
        PacedPictures pictures(to, display_);
        std::vector<double> found;
        do {
            const std::vector<double> more = rates({}, spectra);
            found.insert(found.end(), more.begin(), more.end());
        } while (pictures.count() < PacedPictures::enough);
        picture_rates_ = pictures.rates();
        return found;
    }

    const std::vector<double>& picture_rates() const { return picture_rates_; }

    // Seconds from the last block of a volume to the picture that shows it. All earlier blocks are finished before the
    // clock starts, as with an instrument that is slower than the GPU.
    std::vector<double> latencies(const BenchSpectra& spectra) {
        LivePipeline& to = path();
        View view;
        view.width = display_.width;
        view.height = display_.height;
        return book_.repeated(2, display_.volumes, [&](int) {
            const std::int64_t number = volume_++;
            feed_volume(to, spectra.blocks(), number, spectra.blocks().size() - 1);
            to.feeder.finish();
            Block last = spectra.blocks().back();
            last.volume = number;
            return seconds_of([&] {
                const bool is_published = to.feeder.feed(last);
                const auto picture = to.display.picture(view);
                if (!is_published || !picture || picture->stamp.volume != number) {
                    throw Error(ErrorCode::device, "a picture does not show the newest volume", "bench");
                }
                to.display.wait(*picture);
            });
        });
    }

    std::string path_description() const { return path_ ? path_->feeder.describe() : ""; }

  private:
    BenchBook& book_;
    BenchSize size_;
    BackendChoice choice_;
    BenchDisplay display_;
    DisplayVariant variant_;
    std::unique_ptr<LivePipeline> path_;
    std::vector<double> picture_rates_;
    std::int64_t volume_ = 0;
};

}  // namespace

std::string measure_display(BenchBook& book, const BenchSize& size, const BenchProcessor& processor,
                            const BenchDisplay& display) {
    const auto n = std::to_string(size.samples);
    const double u16_bytes = static_cast<double>(size.samples) * 2, packed_bytes = u16_bytes * 0.75;  // per A-scan
    // Limits of texture.write are bytes per A-scan as well: half as many voxels as samples, of one byte each for the
    // structure and two more for Doppler.
    const std::string a_second = "A-scans/s", from = processor.source_name();
    const auto spectra = [&](SampleFormat format, MemoryKind kind) {
        return BenchSpectra(size, format, kind, processor.choice.gpu);
    };
    DisplayBench bench(book, size, processor.choice, display);
    std::optional<BenchSpectra> arriving;
    const auto from_source = [&]() -> const BenchSpectra& {
        if (!arriving) arriving.emplace(spectra(SampleFormat::u16, processor.source()));
        return *arriving;
    };
    const auto only_on_a_gpu = [&](const std::string& key, const std::string& meaning,
                                   const std::function<std::vector<double>()>& values,
                                   std::initializer_list<BenchLimit> limits) -> void {
        if (!processor.is_gpu()) return book.skip(key, meaning, "needs a GPU");
        book.figure(key, meaning, a_second, values, limits);
    };
    book.figure("texture/" + n, fmt::format("spectra in {}, into the texture", processor.home_name()), a_second,
                [&] { return bench.rates({}, spectra(SampleFormat::u16, processor.home())); },
                {{"linear/" + n}, {"separate/" + n}, {"texture.write", static_cast<double>(size.samples) / 2}});
    only_on_a_gpu(
        "texture.fast/" + n, "the same in half precision",
        [&] { return bench.rates({.precision = Precision::fast}, spectra(SampleFormat::u16, processor.home())); },
        {{"fast/" + n}, {"texture/" + n}, {"texture.write", static_cast<double>(size.samples) / 2}});
    book.figure(
        "doppler/" + n, "the same, and Doppler into a texture beside it", a_second,
        [&] { return bench.rates({.flow = FlowMethod::doppler}, spectra(SampleFormat::u16, processor.home())); },
        {{"texture/" + n}, {"texture.write", static_cast<double>(size.samples) * 3 / 2}});
    only_on_a_gpu("pinned/" + n, "spectra in pinned memory, into the texture",
                  [&] { return bench.rates({}, from_source()); }, {{"link.to_device", u16_bytes}});
    book.figure("rendering/" + n,
                fmt::format("spectra in {}, while {} pictures/s of {} x {} are drawn", from,
                            display.pictures_per_second, display.width, display.height),
                a_second, [&] { return bench.rates_beside_pictures(from_source()); },
                {{(processor.is_gpu() ? "pinned/" : "texture/") + n}});
    book.figure("pictures/" + n, "of these, finished", "pictures/s", [&] { return bench.picture_rates(); });
    book.figure(
        "latency/" + n,
        fmt::format("last of {} blocks in {} to a finished picture of the volume, {} x {}",
                    (size.b_scans + size.block_b_scans - 1) / size.block_b_scans, from, display.width, display.height),
        "s", [&] { return bench.latencies(from_source()); });
    book.figure("packed12/" + n, fmt::format("packed 12-bit samples from {} into the texture", from), a_second,
                [&] {
                    return bench.rates({.format = SampleFormat::packed12},
                                       spectra(SampleFormat::packed12, processor.source()));
                },
                {{"link.to_device", packed_bytes}});
    only_on_a_gpu("direct/" + n, "pinned memory, read by the kernel, into the texture",
                  [&] { return bench.rates({.spectra = SpectraPath::direct}, from_source()); },
                  {{"link.read", u16_bytes}, {"link.to_device", u16_bytes}});
    return bench.path_description();
}

}  // namespace echolux
