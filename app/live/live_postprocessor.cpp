#include "app/live/live_postprocessor.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "app/seconds_since.h"
#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/reconstructor.h"
#include "compute/voxel_target.h"
#include "engine/memory.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {

// ---- Processing on a GPU

namespace {

// Returns a problem with the volume or the settings as text; the volume is then shown unprocessed. Rethrows failures of
// the GPU.
template <class Work>
std::string obstacle_on_gpu(const Work& work) {
    try {
        work();
        return {};
    } catch (const Error& error) {
        if (error.code() != ErrorCode::bad_setting && error.code() != ErrorCode::out_of_memory) throw;
        return error.line();
    }
}

}  // namespace

void AlignableOnGpu::set_settings(const RegistrationSettings& settings) {
    if (!is_same_registration(settings_, settings)) reference_.reset();
    settings_ = settings;
}

void AlignableOnGpu::take(const VolumeGrid& grid, float* power, VolumeOnGpu& work) {
    if (!(grid == grid_)) mean_.reset();
    grid_ = grid;
    power_ = power;
    work_ = &work;
}

std::vector<RowShift> AlignableOnGpu::find(To to, Progress& progress) {
    if (to == To::reference) return reference_->register_rows(there(), progress);
    if (!registration_) registration_ = required_gpu().registration(choice_);
    return align_neighbours(there(), settings_, progress, *registration_);
}

std::int64_t AlignableOnGpu::move(const std::vector<RowShift>& rows) {
    if (!mean_) mean_ = std::make_unique<RegisteredMean>(grid_, choice_);
    mean_->clear();
    mean_->add(there(), rows);
    mean_->write_on_gpu(power_);
    work_->clear_gaps();
    return mean_->b_scans_used();
}

void AlignableOnGpu::become_reference() {
    reference_ = std::make_unique<const Reference>(there(), settings_, choice_, registration_);
}

void AlignableOnGpu::release_memory() {
    reference_.reset();
    registration_.reset();
    mean_.reset();
}

void GpuPostprocessor::set(const LiveTissue& tissue) {
    check_tissue(tissue);
    tissue_ = tissue;
    power_.set_settings(tissue.registration);
    if (!tissue.stabilises) power_.release_memory();
    work_.reset();
}

// If there is no memory for a filter, volumes are not filtered until the size or the settings change.
void GpuPostprocessor::make_ready(const DeviceVolume& volume) {
    const VolumeGrid& grid = volume.grid;
    if (work_ && grid == grid_ && volume.flow_grid == flow_grid_) return;
    work_.reset();
    power_.forget_reference();
    grid_ = grid;
    flow_grid_ = volume.flow_grid;
    VolumeOnGpuOptions wanted{grid, volume.flow_grid, {}, {}, {}};
    no_power_ = obstacle_on_gpu([&] {
        wanted.stored = stored_power(grid, tissue_.filter.stored_as);
        wanted.power_of_codes = power_of_codes(wanted.stored, grid.type);
        if (grid.type == VoxelType::f16)
            throw Error(ErrorCode::bad_setting, "f16 voxels are for display only", "recipe.voxel", "choose f32");
        if (tissue_.filters) wanted.filter = tables_of({grid.depth, grid.a_scans, grid.b_scans}, tissue_.filter, 0);
    });
    no_filter_ = obstacle_on_gpu([&] { work_ = required_gpu().volume(wanted, choice_); });
    if (work_) return;
    wanted.filter.reset();
    work_ = required_gpu().volume(wanted, choice_);
}

void GpuPostprocessor::stabilise(float* power, DeviceVolume& volume, PostprocessingResult& done, Progress& progress) {
    power_.take(volume.grid, power, *work_);
    done.unsteady = obstacle_on_gpu([&] { stabiliser_.stabilise(power_, tissue_, done, progress); });
    if (done.is_stabilised && volume.flow_grid) work_->move_flow(volume.flow.data, whole_moves(done.rows));
}

void GpuPostprocessor::filter(const std::string& obstacle, PostprocessingResult& done) {
    done.unsmooth = obstacle.empty() ? obstacle_on_gpu([&] { work_->filter(); }) : obstacle;
    done.is_filtered = done.unsmooth.empty();
}

PostprocessingResult GpuPostprocessor::apply(std::int64_t number, DeviceVolume& volume, Progress& progress,
                                             const std::function<void(const Write& write)>& show) {
    PostprocessingResult done{.volume = number,
                              .was_to_be_stabilised = tissue_.stabilises,
                              .was_to_be_filtered = tissue_.filters,
                              .rows = {},
                              .unsteady = {},
                              .unsmooth = {},
                              .provenance = {},
                              .wanted = tissue_};
    make_ready(volume);
    float* power = nullptr;
    std::string obstacle = no_power_;
    if (obstacle.empty()) obstacle = obstacle_on_gpu([&] { power = work_->read(volume.structure.data); });
    if (tissue_.stabilises) {
        if (power == nullptr) done.unsteady = obstacle;
        if (power != nullptr) stabilise(power, volume, done, progress);
    }
    if (tissue_.filters) filter(power == nullptr ? obstacle : no_filter_, done);
    show([&](const VoxelTargets& to) {
        work_->write(volume.structure.data, volume.flow_grid ? volume.flow.data : nullptr, to);
    });
    done.provenance = provenance_of(tissue_, done);
    return done;
}

// ---- Processing stage

static void make_fit(Volume& volume, const VolumeGrid& grid) {
    volume.grid = grid;
    const auto bytes = index(grid.bytes());
    if (volume.voxels.size() == bytes) return;
    require_memory(grid.bytes(), "a volume between reconstruction and display", "use a smaller volume");
    volume.voxels.assign(bytes, std::byte{});
}

static void make_fit(BlockMemory& memory, std::int64_t bytes, const DeviceId& gpu) {
    if (memory.bytes == bytes) return;
    memory = {};
    memory = device_memory(bytes, gpu);
}

// Copies the lines of a volume to the display, and the maximum of each group of lines for skipping.
static void copy_lines(const Volume& from, const VoxelTarget& to, const std::optional<Peaks>& peaks) {
    const VolumeGrid& grid = from.grid;
    parallel_for(0, grid.b_scans, [&](std::int64_t b) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            const auto at = [&](const VoxelTarget& target) {
                return static_cast<std::byte*>(target.data) + (b - target.first_b_scan) * target.b_scan_bytes +
                       a * target.a_scan_bytes;
            };
            const std::byte* line = from.voxels.data() + b * grid.b_scan_bytes() + a * grid.a_scan_bytes();
            std::memcpy(at(to), line, index(grid.a_scan_bytes()));
            if (peaks) store_peaks(grid.type, line, grid.depth, peaks->depths, at(peaks->target));
        }
    });
}

// Lets long work on the CPU stop when its result is no longer needed.
class LivePostprocessor::Cancelling : public SilentProgress {
  public:
    Cancelling(std::mutex& mutex, const QueuedVolume& queued) : mutex_(mutex), queued_(queued) {}
    void advance(std::int64_t) override {
        const std::scoped_lock lock(mutex_);
        if (queued_.is_abandoned) throw Error(ErrorCode::cancelled, "is no longer needed", "volume");
    }

  private:
    std::mutex& mutex_;
    const QueuedVolume& queued_;
};

LivePostprocessor::LivePostprocessor(Show show, ResultCallback on_result)
    : show_(std::move(show)), on_result_(std::move(on_result)) {}

LivePostprocessor::~LivePostprocessor() {
    cancel();
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

// ---- feeding thread

std::optional<VoxelTargets> LivePostprocessor::begin(const VolumeStamp& stamp, const VolumeGrid& grid,
                                                     const std::optional<VolumeGrid>& flow_grid,
                                                     const std::optional<DeviceId>& gpu) {
    if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    QueuedVolume* found = nullptr;
    {
        const std::scoped_lock lock(mutex_);
        for (QueuedVolume& one : queued_) {
            if (one.state == State::free) found = &one;
        }
        if (found != nullptr) found->state = State::coming;
    }
    if (found == nullptr) {
        log_.note_skipped();
        return {};
    }
    try {
        found->stamp = stamp;
        found->tissue = tissue_;
        found->gpu = gpu;
        if (gpu) {
            found->there.grid = grid;
            found->there.flow_grid = flow_grid;
            make_fit(found->there.structure, grid.bytes(), *gpu);
            make_fit(found->there.flow, flow_grid ? flow_grid->bytes() : 0, *gpu);
            VoxelTargets targets(packed_target(found->there.structure.data, grid, 0, TargetKind::device_linear));
            if (flow_grid)
                targets.flow = packed_target(found->there.flow.data, *flow_grid, 0, TargetKind::device_linear);
            return targets;
        }
        make_fit(found->structure, grid);
        if (!flow_grid) found->flow.reset();
        if (flow_grid && !found->flow) found->flow.emplace();
        if (flow_grid) make_fit(*found->flow, *flow_grid);
        VoxelTargets targets(packed_target(found->structure.voxels.data(), grid));
        if (flow_grid) targets.flow = packed_target(found->flow->voxels.data(), *flow_grid);
        return targets;
    } catch (...) {
        drop();
        throw;
    }
}

void LivePostprocessor::hand_over() {
    const std::scoped_lock lock(mutex_);
    for (QueuedVolume& one : queued_) {
        if (one.state != State::coming) continue;
        one.state = State::waiting;
        one.turn = ++turns_;
    }
    changed_.notify_all();
}

void LivePostprocessor::drop() {
    const std::scoped_lock lock(mutex_);
    free_one(State::coming);
}

void LivePostprocessor::free_one(State of) {
    for (QueuedVolume& one : queued_) {
        if (one.state == of) one.state = State::free;
    }
    changed_.notify_all();
}

void LivePostprocessor::rethrow() {
    std::exception_ptr problem;
    {
        const std::scoped_lock lock(mutex_);
        std::swap(problem, problem_);
    }
    if (problem) std::rethrow_exception(problem);
}

// Returns true if no volume remains to be shown.
bool LivePostprocessor::is_idle() const {
    return std::ranges::none_of(queued_, [](const QueuedVolume& one) {
        return one.state == State::waiting || (one.state == State::at_work && !one.is_abandoned);
    });
}

// Also requires that no abandoned work is running.
bool LivePostprocessor::is_quiet() const {
    return std::ranges::none_of(
        queued_, [](const QueuedVolume& one) { return one.state == State::waiting || one.state == State::at_work; });
}

// Waits for a volume that is just being shown.
void LivePostprocessor::cancel() {
    std::unique_lock lock(mutex_);
    for (QueuedVolume& one : queued_) {
        if (one.state == State::waiting) {
            one.state = State::free;
            log_.note_skipped();
        }
        if (one.state == State::at_work && !one.is_showing) one.is_abandoned = true;
    }
    changed_.wait(lock, [this] { return is_idle(); });
    problem_ = nullptr;
}

void LivePostprocessor::clear() {
    cancel();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_quiet(); });
    problem_ = nullptr;
    for (QueuedVolume& one : queued_) one = {};
    on_gpu_.reset();
    set_on_gpu_.reset();
}

// ---- any thread

bool LivePostprocessor::finish(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [this] { return is_idle(); });
}

// ---- processing thread

void LivePostprocessor::work(const std::stop_token& stop) {
    for (;;) {
        QueuedVolume* queued = nullptr;
        {
            std::unique_lock lock(mutex_);
            if (!changed_.wait(lock, stop, [&] { return (queued = next()) != nullptr; })) return;
            queued->state = State::at_work;
            queued->is_abandoned = queued->is_showing = false;
        }
        std::exception_ptr problem;
        try {
            process(*queued);
        } catch (const Error& error) {
            if (error.code() == ErrorCode::cancelled)
                log_.note_skipped();
            else
                problem = std::current_exception();
        } catch (...) {
            problem = std::current_exception();
        }
        const std::scoped_lock lock(mutex_);
        if (problem && !queued->is_abandoned) problem_ = problem;
        free_one(State::at_work);
    }
}

LivePostprocessor::QueuedVolume* LivePostprocessor::next() {
    QueuedVolume* first = nullptr;
    for (QueuedVolume& one : queued_) {
        if (one.state == State::waiting && (first == nullptr || one.turn < first->turn)) first = &one;
    }
    return first;
}

void LivePostprocessor::show(QueuedVolume& queued, const GpuPostprocessor::Write& write) {
    {
        const std::scoped_lock lock(mutex_);
        if (queued.is_abandoned) throw Error(ErrorCode::cancelled, "is no longer needed", "volume");
        queued.is_showing = true;
    }
    show_(queued.stamp, write);
}

void LivePostprocessor::process(QueuedVolume& queued) {
    const auto begun = std::chrono::steady_clock::now();
    Cancelling progress(mutex_, queued);
    const PostprocessingResult done = queued.gpu ? process_on_gpu(queued, progress) : process_on_host(queued, progress);
    log_.note(done, seconds_since(begun));
    if (on_result_) on_result_(done, queued.gpu ? queued.there.grid : queued.structure.grid);
}

PostprocessingResult LivePostprocessor::process_on_host(QueuedVolume& queued, Progress& progress) {
    if (set_on_host_ != queued.tissue) on_host_.set(*queued.tissue);
    set_on_host_ = queued.tissue;
    Volume* const flow = queued.flow ? &*queued.flow : nullptr;
    PostprocessingResult done =
        on_host_.apply(queued.stamp.volume, queued.structure, flow, {.backend = Backend::cpu}, progress);
    show(queued, [&](const VoxelTargets& to) {
        copy_lines(queued.structure, to.structure, to.peaks);
        if (to.flow && flow != nullptr) copy_lines(*flow, *to.flow, {});
    });
    return done;
}

PostprocessingResult LivePostprocessor::process_on_gpu(QueuedVolume& queued, Progress& progress) {
    if (!on_gpu_ || gpu_ != queued.gpu) {
        on_gpu_.emplace(*queued.gpu);
        set_on_gpu_.reset();
        gpu_ = queued.gpu;
    }
    if (set_on_gpu_ != queued.tissue) on_gpu_->set(*queued.tissue);
    set_on_gpu_ = queued.tissue;
    return on_gpu_->apply(queued.stamp.volume, queued.there, progress,
                          [&](const GpuPostprocessor::Write& write) { show(queued, write); });
}

}  // namespace echolux
