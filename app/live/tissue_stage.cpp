#include "app/live/tissue_stage.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "app/seconds_since.h"
#include "compute/error.h"
#include "compute/parallel_for.h"
#include "compute/place.h"
#include "compute/reconstructor.h"
#include "engine/memory.h"

namespace echolux {
namespace {

void make_fit(Volume& volume, const VolumeGrid& grid) {
    volume.grid = grid;
    const auto bytes = static_cast<std::size_t>(grid.bytes());
    if (volume.voxels.size() == bytes) return;
    require_memory(grid.bytes(), "a volume between reconstruction and display", "take a smaller volume");
    volume.voxels.assign(bytes, std::byte{});
}

void make_fit(BlockMemory& memory, std::int64_t bytes, const DeviceId& gpu) {
    if (memory.bytes == bytes) return;
    memory = {};
    memory = device_memory(bytes, gpu);
}

// Copies the lines of a volume to the display, and the maximum of each group of lines for skipping.
void copy_lines(const Volume& from, const Place& to, const std::optional<Peaks>& peaks) {
    const VolumeGrid& grid = from.grid;
    parallel_for(0, grid.b_scans, [&](std::int64_t b) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            const auto at = [&](const Place& place) {
                return static_cast<std::byte*>(place.data) + (b - place.first_b_scan) * place.b_scan_bytes +
                       a * place.a_scan_bytes;
            };
            const std::byte* line = from.voxels.data() + b * grid.b_scan_bytes() + a * grid.a_scan_bytes();
            std::memcpy(at(to), line, static_cast<std::size_t>(grid.a_scan_bytes()));
            if (peaks) store_peaks(grid.type, line, grid.depth, peaks->depths, at(peaks->place));
        }
    });
}

}  // namespace

// Lets long work on the CPU stop when its result is no longer needed.
class TissueStage::Cancelling : public SilentProgress {
  public:
    Cancelling(std::mutex& mutex, const Staged& staged) : mutex_(mutex), staged_(staged) {}
    void advance(std::int64_t) override {
        const std::scoped_lock lock(mutex_);
        if (staged_.is_given_up) throw Error(ErrorCode::cancelled, "is not wanted any more", "volume");
    }

  private:
    std::mutex& mutex_;
    const Staged& staged_;
};

TissueStage::TissueStage(Show show, Hear hear) : show_(std::move(show)), hear_(std::move(hear)) {}

TissueStage::~TissueStage() {
    cancel();
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

// ---- feeding thread

std::optional<Places> TissueStage::begin(const VolumeStamp& stamp, const VolumeGrid& grid,
                                         const std::optional<VolumeGrid>& flow_grid,
                                         const std::optional<DeviceId>& gpu) {
    if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    Staged* found = nullptr;
    {
        const std::scoped_lock lock(mutex_);
        for (Staged& one : staged_) {
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
            Places places(packed_place(found->there.structure.data, grid, 0, PlaceKind::device_linear));
            if (flow_grid) places.flow = packed_place(found->there.flow.data, *flow_grid, 0, PlaceKind::device_linear);
            return places;
        }
        make_fit(found->structure, grid);
        if (!flow_grid) found->flow.reset();
        if (flow_grid && !found->flow) found->flow.emplace();
        if (flow_grid) make_fit(*found->flow, *flow_grid);
        Places places(packed_place(found->structure.voxels.data(), grid));
        if (flow_grid) places.flow = packed_place(found->flow->voxels.data(), *flow_grid);
        return places;
    } catch (...) {
        drop();
        throw;
    }
}

void TissueStage::hand_over() {
    const std::scoped_lock lock(mutex_);
    for (Staged& one : staged_) {
        if (one.state != State::coming) continue;
        one.state = State::waiting;
        one.turn = ++turns_;
    }
    changed_.notify_all();
}

void TissueStage::drop() {
    const std::scoped_lock lock(mutex_);
    free_one(State::coming);
}

void TissueStage::free_one(State of) {
    for (Staged& one : staged_) {
        if (one.state == of) one.state = State::free;
    }
    changed_.notify_all();
}

void TissueStage::rethrow() {
    std::exception_ptr problem;
    {
        const std::scoped_lock lock(mutex_);
        std::swap(problem, problem_);
    }
    if (problem) std::rethrow_exception(problem);
}

// Returns true if no volume remains to be shown.
bool TissueStage::is_idle() const {
    return std::ranges::none_of(staged_, [](const Staged& one) {
        return one.state == State::waiting || (one.state == State::at_work && !one.is_given_up);
    });
}

// Also requires that no abandoned work is running.
bool TissueStage::is_quiet() const {
    return std::ranges::none_of(
        staged_, [](const Staged& one) { return one.state == State::waiting || one.state == State::at_work; });
}

// Waits for a volume that is just being shown.
void TissueStage::cancel() {
    std::unique_lock lock(mutex_);
    for (Staged& one : staged_) {
        if (one.state == State::waiting) {
            one.state = State::free;
            log_.note_skipped();
        }
        if (one.state == State::at_work && !one.is_showing) one.is_given_up = true;
    }
    changed_.wait(lock, [this] { return is_idle(); });
    problem_ = nullptr;
}

void TissueStage::clear() {
    cancel();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_quiet(); });
    problem_ = nullptr;
    for (Staged& one : staged_) one = {};
    on_gpu_.reset();
    set_on_gpu_.reset();
}

// ---- any thread

bool TissueStage::finish(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [this] { return is_idle(); });
}

// ---- processing thread

void TissueStage::work(const std::stop_token& stop) {
    for (;;) {
        Staged* staged = nullptr;
        {
            std::unique_lock lock(mutex_);
            if (!changed_.wait(lock, stop, [&] { return (staged = next()) != nullptr; })) return;
            staged->state = State::at_work;
            staged->is_given_up = staged->is_showing = false;
        }
        std::exception_ptr problem;
        try {
            process(*staged);
        } catch (const Error& error) {
            if (error.code() == ErrorCode::cancelled)
                log_.note_skipped();
            else
                problem = std::current_exception();
        } catch (...) {
            problem = std::current_exception();
        }
        const std::scoped_lock lock(mutex_);
        if (problem && !staged->is_given_up) problem_ = problem;
        free_one(State::at_work);
    }
}

TissueStage::Staged* TissueStage::next() {
    Staged* first = nullptr;
    for (Staged& one : staged_) {
        if (one.state == State::waiting && (first == nullptr || one.turn < first->turn)) first = &one;
    }
    return first;
}

void TissueStage::show(Staged& staged, const TissueOnGpu::Write& write) {
    {
        const std::scoped_lock lock(mutex_);
        if (staged.is_given_up) throw Error(ErrorCode::cancelled, "is not wanted any more", "volume");
        staged.is_showing = true;
    }
    show_(staged.stamp, write);
}

void TissueStage::process(Staged& staged) {
    const auto begun = std::chrono::steady_clock::now();
    Cancelling progress(mutex_, staged);
    const TissueDone done = staged.gpu ? process_on_gpu(staged, progress) : process_on_host(staged, progress);
    log_.note(done, seconds_since(begun));
    if (hear_) hear_(done, staged.gpu ? staged.there.grid : staged.structure.grid);
}

TissueDone TissueStage::process_on_host(Staged& staged, Progress& progress) {
    if (set_on_host_ != staged.tissue) on_host_.set(*staged.tissue);
    set_on_host_ = staged.tissue;
    Volume* const flow = staged.flow ? &*staged.flow : nullptr;
    TissueDone done = on_host_.apply(staged.stamp.volume, staged.structure, flow, {.backend = Backend::cpu}, progress);
    show(staged, [&](const Places& to) {
        copy_lines(staged.structure, to.structure, to.peaks);
        if (to.flow && flow != nullptr) copy_lines(*flow, *to.flow, {});
    });
    return done;
}

TissueDone TissueStage::process_on_gpu(Staged& staged, Progress& progress) {
    if (!on_gpu_ || gpu_ != staged.gpu) {
        on_gpu_.emplace(*staged.gpu);
        set_on_gpu_.reset();
        gpu_ = staged.gpu;
    }
    if (set_on_gpu_ != staged.tissue) on_gpu_->set(*staged.tissue);
    set_on_gpu_ = staged.tissue;
    return on_gpu_->apply(staged.stamp.volume, staged.there, progress,
                          [&](const TissueOnGpu::Write& write) { show(staged, write); });
}

}  // namespace echolux
