#include "engine/acquire/paced_source.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <sstream>
#include <string_view>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/describe.h"
#include "engine/acquire/source.h"
#include "engine/acquire/stream.h"
#include "engine/memory.h"
#include "engine/simulate/instrument.h"
#include "engine/simulate/scene.h"
#include "engine/simulate/truth.h"

namespace echolux {

namespace {

// Blocks that start later, because of a slow disk, are dropped until the schedule is met again.
constexpr double max_late_s = 1;

}  // namespace

Pacing paced(const SourceSettings& settings, const Scan& scan, double line_rate_hz) {
    if (!(line_rate_hz > 0)) {
        throw Error(ErrorCode::bad_setting, "is required: the scan does not state its line rate", "source.line_rate_hz",
                    "for example source.line_rate_hz=70000");
    }
    const std::int64_t b_scans = block_size(settings, scan, line_rate_hz);
    return {line_rate_hz, b_scans, pool_size(settings, scan, b_scans), 0};
}

PacedSource::PacedSource(std::string name, Scan scan, const SourceCapabilities& capabilities, const Pacing& pacing,
                         std::unique_ptr<BlockFeed> feed, std::shared_ptr<PacingClock> clock)
    : name_(std::move(name)), scan_(std::move(scan)), capabilities_(capabilities), pacing_(pacing),
      layout_(spectra_layout(scan_.file, scan_.format, scan_.geometry, scan_.path.string())),
      blocks_per_volume_((scan_.geometry.b_scans + pacing.block_b_scans - 1) / pacing.block_b_scans),
      feed_(std::move(feed)), clock_(std::move(clock)) {}

PacedSource::~PacedSource() {
    stop();
}

void PacedSource::start() {
    stop();
    {
        const std::lock_guard lock(mutex_);
        finished_ = false;
        problem_ = nullptr;
        lost_ = 0;
    }
    feed_->begin();
    sending_ = std::jthread([this, start_s = clock_->now_s()](const std::stop_token& stop) {
        try {
            send(start_s, stop);
            finish();
        } catch (...) {
            finish(std::current_exception());
        }
    });
}

void PacedSource::stop() noexcept {
    sending_ = {};  // requests a stop and joins
    const std::lock_guard lock(mutex_);
    ready_.clear();
    finished_ = true;
}

void PacedSource::finish(std::exception_ptr problem) {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    problem_ = std::move(problem);
    changed_.notify_all();
}

Arrival PacedSource::next(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [this] { return !ready_.empty() || finished_; });
    if (!ready_.empty()) {
        Arrival arrival{Arrival::Kind::block, std::move(ready_.front())};
        ready_.pop_front();
        return arrival;
    }
    if (problem_) std::rethrow_exception(problem_);
    if (!finished_) return {};
    Arrival end{Arrival::Kind::ended, {}};
    end.block.lost_before = std::exchange(lost_, 0);
    return end;
}

// `number` counts blocks since the start.
BlockContent PacedSource::content(std::int64_t number) const {
    BlockContent content;
    content.volume = number / blocks_per_volume_;
    content.first_b_scan = number % blocks_per_volume_ * pacing_.block_b_scans;
    content.b_scans = std::min(pacing_.block_b_scans, scan_.geometry.b_scans - content.first_b_scan);
    content.first_frame = content.volume * layout_.frames_per_volume + content.first_b_scan * scan_.geometry.b_repeats;
    content.frame_lines = scan_.geometry.lines_per_frame();
    content.line_rate_hz = pacing_.line_rate_hz;
    return content;
}

double PacedSource::end_s(const BlockContent& content) const {
    return content.time_s(content.b_scans * scan_.geometry.b_repeats);
}

// Thread function. Fills each block when its first line is due and sends it when its last line is due. All times are
// relative to start_s, so errors do not accumulate.
void PacedSource::send(double start_s, const std::stop_token& stop) {
    const std::int64_t end = pacing_.volumes * blocks_per_volume_;
    for (std::int64_t number = 0; end == 0 || number < end; ++number) {
        const BlockContent wanted = content(number);
        if (!clock_->sleep_until(start_s + wanted.time_s(), stop)) return;
        const double late_s = clock_->now_s() - start_s - wanted.time_s();
        std::optional<Block> block;
        if (late_s <= max_late_s) block = filled(wanted);
        if (!block) {
            const std::lock_guard lock(mutex_);
            ++lost_;
            continue;
        }
        block->sequence = static_cast<std::uint64_t>(number);
        if (!clock_->sleep_until(start_s + end_s(wanted), stop)) return;
        const std::lock_guard lock(mutex_);
        block->lost_before = std::exchange(lost_, 0);
        ready_.push_back(std::move(*block));
        changed_.notify_all();
    }
}

// Returns std::nullopt if pool_blocks are in use or the feed has no memory. The block's keeper decrements the count.
std::optional<Block> PacedSource::filled(const BlockContent& content) {
    if (in_use_->load(std::memory_order_acquire) >= pacing_.pool_blocks) return std::nullopt;
    std::optional<BlockMemory> memory = feed_->fill(content);
    if (!memory) return std::nullopt;
    in_use_->fetch_add(1, std::memory_order_relaxed);
    Block block;
    block.data = memory->data;
    block.bytes = memory->bytes;
    block.frames = {layout_.frame_offset_bytes, layout_.frame_stride()};
    block.memory = memory->kind;
    block.volume = content.volume;
    block.first_b_scan = content.first_b_scan;
    block.b_scans = content.b_scans;
    block.time_s = content.time_s();
    block.keeper = std::shared_ptr<const void>(
        memory->data, [in_use = in_use_, keeper = std::move(memory->keeper)](const void*) mutable {
            keeper.reset();
            in_use->fetch_sub(1, std::memory_order_release);
        });
    return block;
}

// Sleeps as long as the work took, to leave half of the processor time to the display.
static void leave_time(std::chrono::steady_clock::duration worked, const std::stop_token& stop) {
    constexpr std::chrono::milliseconds moment{5};
    const auto end = std::chrono::steady_clock::now() + worked;
    while (!stop.stop_requested() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(moment);
}

StoredVolumes::StoredVolumes(const Scan& scan, std::int64_t block_b_scans, MemoryKind memory, const Load& load,
                             bool begins_early)
    : geometry_(scan.geometry), layout_(spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string())),
      stamp_(static_cast<std::uint32_t>(layout_.frame_bytes + layout_.flyback_bytes)), block_b_scans_(block_b_scans) {
    if (layout_.frame_offset_bytes != frame_header_bytes) {
        throw Error(ErrorCode::bad_setting,
                    "only recordings of the simulator can be opened as sim:", scan.path.string(),
                    "replay:" + scan.path.string() + " plays it as it was recorded");
    }
    const std::int64_t copies = (volumes_in_use + geometry_.volumes - 1) / geometry_.volumes;
    require_memory(copies * geometry_.volumes * layout_.volume_bytes(), "source",
                   "choose fewer volumes, B-scans or A-scans");
    const std::int64_t loaded = begins_early ? 1 : geometry_.volumes;
    for (std::int64_t volume = 0; volume < copies * geometry_.volumes; ++volume) {
        std::vector<Stored>& blocks = volumes_.emplace_back();
        for (std::int64_t first = 0; first < geometry_.b_scans; first += block_b_scans_) {
            const std::int64_t count = std::min(block_b_scans_, geometry_.b_scans - first);
            blocks.push_back(stored(first, count, memory, [&](std::span<std::byte> bytes) {
                if (volume < loaded) return load(volume, first, count, bytes);
                const auto original = index(volume % loaded);
                const BlockMemory same = volumes_[original][blocks.size()].memory->take();
                std::memcpy(bytes.data(), same.data, bytes.size());
            }));
        }
    }
    if (loaded == geometry_.volumes) return;
    others_ = std::jthread([this, load](const std::stop_token& stop) {
        try {
            load_others(load, stop);
        } catch (const std::exception&) {  // the first volume keeps replacing the others
        }
    });
}

// Thread function: simulates the other volumes block by block and replaces the copies of the first.
void StoredVolumes::load_others(const Load& load, const std::stop_token& stop) {
    std::vector<std::byte> bytes;
    for (std::int64_t volume = 1; volume < geometry_.volumes; ++volume) {
        std::int64_t first = 0;
        for (std::size_t i = 0; first < geometry_.b_scans; ++i, first += block_b_scans_) {
            if (stop.stop_requested()) return;
            bytes.resize(index(volumes_[0][i].bytes));
            const auto begun = std::chrono::steady_clock::now();
            load(volume, first, std::min(block_b_scans_, geometry_.b_scans - first), bytes);
            leave_time(std::chrono::steady_clock::now() - begun, stop);
            for (auto copy = index(volume); copy < volumes_.size(); copy += index(geometry_.volumes)) {
                if (!replace(volumes_[copy][i], bytes, stop)) return;
            }
        }
    }
}

// Waits until the block is not in use and replaces its content. Returns false if stopped.
bool StoredVolumes::replace(Stored& stored, std::span<const std::byte> bytes, const std::stop_token& stop) {
    constexpr std::chrono::milliseconds pause{2};
    while (!stop.stop_requested()) {
        {
            const std::scoped_lock lock(mutex_);
            if (const std::optional<BlockMemory> block = stored.memory->take_below(1)) {
                std::memcpy(block->data, bytes.data(), bytes.size());
                sum_up(stored, block->data);
                return true;
            }
        }
        std::this_thread::sleep_for(pause);
    }
    return false;
}

std::span<std::byte> StoredVolumes::frame_at(std::byte* block, std::int64_t frame) const {
    return {block + frame * layout_.frame_stride() + frame_header_bytes,
            index(layout_.frame_bytes + layout_.flyback_bytes)};
}

StoredVolumes::Stored StoredVolumes::stored(std::int64_t first, std::int64_t count, MemoryKind memory,
                                            const std::function<void(std::span<std::byte>)>& load) const {
    const bool is_last = first + count == geometry_.b_scans;
    const std::int64_t frames = count * geometry_.b_repeats + (is_last ? geometry_.flyback_frames : 0);
    Stored stored;
    stored.bytes = frames * layout_.frame_stride();
    stored.memory = std::make_unique<BlockPool>(stored.bytes, memory);
    const BlockMemory block = stored.memory->take();
    load({block.data, index(stored.bytes)});
    stored.frame_crcs.resize(index(frames));
    sum_up(stored, block.data);
    return stored;
}

// Computes the checksums of all frames, without their headers.
void StoredVolumes::sum_up(Stored& stored, std::byte* block) const {
    parallel_for(0, std::ssize(stored.frame_crcs),
                 [&](std::int64_t frame) { stored.frame_crcs[index(frame)] = crc32_of(frame_at(block, frame)); });
}

// Returns the stored block with new frame headers, or std::nullopt while it is in use.
std::optional<BlockMemory> StoredVolumes::fill(const BlockContent& content) {
    const auto stored_volumes = std::ssize(volumes_);
    const std::int64_t number = (first_ + content.volume) % stored_volumes;
    next_ = (number + 1) % stored_volumes;
    std::vector<Stored>& volume = volumes_[index(number)];
    Stored& stored = volume[index(content.first_b_scan / block_b_scans_)];
    const std::scoped_lock lock(mutex_);
    std::optional<BlockMemory> memory = stored.memory->take_below(1);
    if (!memory) return std::nullopt;
    memory->bytes = stored.bytes;
    for (std::size_t frame = 0; frame < stored.frame_crcs.size(); ++frame) {
        const auto offset = static_cast<std::int64_t>(frame);
        const auto header = stamp_.header(static_cast<std::uint64_t>(content.first_frame + offset),
                                          content.time_s(offset), stored.frame_crcs[frame]);
        std::memcpy(memory->data + offset * layout_.frame_stride(), header.data(), header.size());
    }
    return memory;
}

// ---- The simulator as a live source. Simulating while displaying would slow down both, so a few volumes are simulated
// once or taken from an earlier recording, and are sent repeatedly. Blood flow is continuous between volumes, and jumps
// where the first volume follows the last.

namespace {

class LiveSimulator : public PacedSource {
  public:
    LiveSimulator(const Simulation& simulation, Scan scan, const Pacing& pacing, std::unique_ptr<BlockFeed> feed,
                  std::shared_ptr<PacingClock> clock)
        : PacedSource("simulator (" + std::get<std::string>(value_of(simulation, "scene")) + ")", std::move(scan),
                      {.sets_line_rate = true, .has_truth = true}, pacing, std::move(feed), std::move(clock)),
          simulation_(simulation) {}

    void write_truth(const std::filesystem::path& folder) const override {
        const Instrument instrument(simulation_);
        echolux::write_truth(folder, instrument.simulation(), instrument.scenery(), instrument.pitch_um());
    }

  private:
    Simulation simulation_;
};

// Small enough to simulate within a few seconds on two cores.
Simulation live_defaults() {
    Simulation simulation;
    simulation.a_scans = 96;
    simulation.b_scans = 64;
    simulation.volumes = 4;
    return simulation;
}

// The prefixes simulation and scan are equivalent.
bool is_of_scan(std::string_view assignment) {
    return assignment.starts_with("simulation.") || assignment.starts_with("scan.");
}

// Returns the scene's recommended settings, followed by the user's.
std::vector<std::string> assignments_of(const SourceRequest& wanted, const std::string& scene) {
    std::vector<std::string> all;
    std::istringstream words(scene.empty() ? "" : scene_named(scene).scene.live);
    for (std::string word; words >> word;) all.push_back(word);
    all.insert(all.end(), wanted.assignments.begin(), wanted.assignments.end());
    return all;
}

// Applies scene, assignments and line rate to the defaults, in this order.
Simulation simulation_of(const SourceRequest& wanted, const std::string& scene) {
    Simulation simulation = live_defaults();
    Settings settings;
    settings.bind("simulation", simulation);
    if (!scene.empty()) settings.set("simulation.scene", scene, "source");
    for (const std::string& assignment : assignments_of(wanted, scene)) {
        const std::string key = assignment.substr(assignment.find('.') + 1);
        if (is_of_scan(assignment)) settings.set_assignment("simulation." + key);
    }
    if (wanted.settings.line_rate_hz > 0) simulation.line_rate_hz = wanted.settings.line_rate_hz;
    return simulation;
}

// Assignments outside of simulation and scan are calibration and recipe settings.
void set_processing(Scan& scan, const std::vector<std::string>& assignments) {
    Settings settings;
    settings.bind("calibration", scan.calibration);
    bind_recipe(settings, scan);
    for (const std::string& assignment : assignments) {
        if (!is_of_scan(assignment)) settings.set_assignment(assignment);
    }
}

// Copies lines of B-scans after the space for their headers.
void expose(Instrument& instrument, std::int64_t volume, std::int64_t first_frame, std::span<std::byte> block,
            Progress& progress) {
    const std::int64_t frame_samples = instrument.pattern().lines_per_frame() * instrument.simulation().samples;
    const std::int64_t stride = frame_header_bytes + 2 * frame_samples;
    const std::int64_t frames = std::ssize(block) / stride;
    std::vector<std::uint16_t> counts(index(frames * frame_samples));
    instrument.record(volume, first_frame, frames, counts, progress);
    for (std::int64_t frame = 0; frame < frames; ++frame) {
        std::memcpy(block.data() + frame * stride + frame_header_bytes, counts.data() + frame * frame_samples,
                    index(2 * frame_samples));
    }
}

// Simulates volumes of a scene. Background, dark spectrum and wavelengths are those of the simulated instrument.
std::unique_ptr<Source> simulated(const SourceRequest& wanted, const std::string& scene,
                                  std::shared_ptr<PacingClock> clock) {
    const auto shared = std::make_shared<Instrument>(simulation_of(wanted, scene));  // also used by the thread
    Instrument& instrument = *shared;
    const Simulation& s = instrument.simulation();
    Scan scan = instrument.scan();
    scan.path = "simulator";
    const std::vector<float> background = instrument.camera().background();
    const std::vector<float> dark = instrument.camera().dark();
    scan.calibration.background.assign(background.begin(), background.end());
    scan.calibration.dark.assign(dark.begin(), dark.end());
    scan.calibration.wavelengths_nm = instrument.spectrometer().wavelengths_nm;
    set_processing(scan, assignments_of(wanted, scene));
    const Pacing pacing = paced(wanted.settings, scan, s.line_rate_hz);

    SilentProgress silent;
    Progress& progress = wanted.progress != nullptr ? *wanted.progress : silent;
    const std::int64_t made_first = wanted.begins_early ? 1 : s.volumes;
    progress.begin("simulate", instrument.pattern().lines() * made_first, "A-scans");
    const auto load = [shared, made_first, initial_progress = &progress](std::int64_t volume, std::int64_t first,
                                                                         std::int64_t, std::span<std::byte> block) {
        SilentProgress no_progress;
        // The caller's progress object may not exist later.
        Progress& volume_progress = volume < made_first ? *initial_progress : no_progress;
        expose(*shared, volume, first * shared->simulation().b_repeats, block, volume_progress);
    };
    auto feed = std::make_unique<StoredVolumes>(scan, pacing.block_b_scans, wanted.memory, load, wanted.begins_early);
    progress.end();
    return std::make_unique<LiveSimulator>(s, std::move(scan), pacing, std::move(feed), std::move(clock));
}

// Loads the volumes from a recording of the simulator.
std::unique_ptr<Source> simulated_before(const SourceRequest& wanted, const std::string& path,
                                         std::shared_ptr<PacingClock> clock) {
    Scan scan = open_scan(path, wanted.assignments);
    const double wanted_hz = wanted.settings.line_rate_hz;
    const Pacing pacing = paced(wanted.settings, scan, wanted_hz > 0 ? wanted_hz : scan.geometry.line_rate_hz);
    SpectraReader reader(scan);
    auto feed = std::make_unique<StoredVolumes>(
        scan, pacing.block_b_scans, wanted.memory,
        [&](std::int64_t volume, std::int64_t first, std::int64_t count, std::span<std::byte> block) {
            reader.read_recorded(volume, first, count, block);
        });
    return std::make_unique<PacedSource>("simulator (" + path + ")", std::move(scan),
                                         SourceCapabilities{.sets_line_rate = true}, pacing, std::move(feed),
                                         std::move(clock));
}

}  // namespace

std::unique_ptr<Source> open_simulator(const SourceRequest& wanted, std::shared_ptr<PacingClock> clock) {
    const std::string what = SourceName(wanted.name).rest;
    const bool is_file = what.find_first_of("./") != std::string::npos;
    return is_file ? simulated_before(wanted, what, std::move(clock)) : simulated(wanted, what, std::move(clock));
}

}  // namespace echolux
