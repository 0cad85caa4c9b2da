#include "engine/live/host_volumes.h"

#include <chrono>
#include <exception>
#include <utility>

#include "compute/calibrate/calibrate.h"
#include "compute/indexing.h"
#include "compute/missing_voxels.h"
#include "compute/plan/choices.h"
#include "compute/plan/tables.h"
#include "engine/memory.h"

namespace echolux {
namespace {

constexpr std::size_t max_in_flight = 64;  // blocks; reconstructors never work on as many at a time

// Throws Error{out_of_memory} if the volume does not fit.
Volume empty_volume(const VolumeGrid& grid) {
    require_memory(grid.bytes(), "a volume", "read fewer at a time");
    return {grid, std::vector<std::byte>(index(grid.bytes())), {}};
}

// Returns whether the noise floor must be measured first.
bool is_open(const ReconstructionSpec& spec) {
    return needs_noise_floor(spec.recipe, spec.flow);
}

VoxelTarget place_in(Volume& volume) {
    return packed_target(volume.voxels.data(), volume.grid);
}

}  // namespace

HostVolumes::HostVolumes(const ReconstructionSpec& spec, const BackendChoice& backend, VolumeReceiver receiver)
    : receiver_(std::move(receiver)), spec_(std::make_shared<const ReconstructionSpec>(spec)), recovery_(backend),
      maker_([this](ReconstructionSpec& wanted) {
          return is_open(wanted) ? ChosenReconstructor{} : choose_reconstructor(wanted, this->backend());
      }) {
    planned_grid(spec);
    require_backend(backend);
    if (!is_open(spec)) install(spec, choose_reconstructor(spec, backend));
}

HostVolumes::~HostVolumes() {
    abandon();
}

std::string HostVolumes::describe() const {
    const std::scoped_lock lock(mutex_);
    return description_;
}

BackendChoice HostVolumes::backend() const {
    const std::scoped_lock lock(mutex_);
    return recovery_.backend();
}

void HostVolumes::install(const ReconstructionSpec& spec, ChosenReconstructor chosen) {
    spec_ = std::make_shared<const ReconstructionSpec>(spec);
    chosen_ = std::move(chosen);
    note_description();
}

void HostVolumes::note_description() {
    const std::scoped_lock lock(mutex_);
    description_.clear();
    if (!chosen_.reconstructor) return;
    description_ = chosen_.reconstructor->backend_description() + (chosen_.reason.empty() ? "" : "; " + chosen_.reason);
}

bool HostVolumes::feed(const Block& block) try {
    const bool follows = coming_ && block.volume == coming_->number && block.first_b_scan == next_b_scan_;
    if (!follows) abandon();
    if (block.first_b_scan == 0) begin(block);
    if (!coming_) {
        if (chosen_.reconstructor) chosen_.reconstructor->prime(block);
        return false;
    }
    if (in_flight_.size() == max_in_flight) {
        chosen_.reconstructor->wait(in_flight_.front());  // completed long ago
        in_flight_.pop_front();
    }
    in_flight_.push_back(chosen_.reconstructor->submit(block, targets()));
    next_b_scan_ += block.b_scans;
    if (next_b_scan_ < spec_->geometry.b_scans) return true;
    finish();
    hand_on(*std::exchange(coming_, std::nullopt));
    return true;
} catch (const Error& problem) {
    abandon();
    if (!recovers(problem)) throw;
    return false;
} catch (...) {
    abandon();
    throw;
}

void HostVolumes::hand_on(HostVolume made) {
    if (!tissue_.settings().is_empty_recipe()) {
        const auto begun = std::chrono::steady_clock::now();
        const bool on_gpu = chosen_.reconstructor->backend() == Backend::cuda;
        const BackendChoice choice = on_gpu ? backend() : BackendChoice{.backend = Backend::cpu};
        SilentProgress silent;
        Volume* const flow = made.flow ? &*made.flow : nullptr;
        const PostprocessingResult done = tissue_.apply(made.number, made.structure, flow, choice, silent);
        made.structure.provenance = done.provenance;
        tissue_log_.note(done, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    }
    receiver_.take(std::move(made));
}

void HostVolumes::set_tissue(const LiveTissue& tissue) {
    check_tissue(tissue);
    const std::scoped_lock lock(mutex_);
    wanted_tissue_ = tissue;
}

void HostVolumes::begin(const Block& block) {
    if (!chosen_.reconstructor) {
        if (is_missing(block)) return;  // nothing to measure the noise of
        ReconstructionSpec spec = *spec_;
        check_block(block, spec);
        if (is_open(spec)) spec.recipe.noise_floor_db = noise_floor_for_recipe(spec, block);
        install(spec, choose_reconstructor(spec, backend()));
    }
    if (!receiver_.has_room()) return;
    const Reconstructor& work = *chosen_.reconstructor;
    HostVolume fresh{block.volume, block.time_s, empty_volume(work.grid()), {},
                     spec_,        plan_,        work.backend_description()};
    if (work.flow_grid()) fresh.flow = empty_volume(*work.flow_grid());
    coming_ = std::move(fresh);
    next_b_scan_ = 0;
}

VoxelTargets HostVolumes::targets() {
    VoxelTargets targets(place_in(coming_->structure));
    if (coming_->flow) targets.flow = place_in(*coming_->flow);
    return targets;
}

// Waits until nothing writes to memory that will be freed.
void HostVolumes::abandon() {
    for (; !in_flight_.empty(); in_flight_.pop_front()) {
        try {
            chosen_.reconstructor->wait(in_flight_.front());
        } catch (const std::exception&) {  // the volume is lost anyway
        }
    }
    coming_.reset();
}

void HostVolumes::collect() {
    if (chosen_.reconstructor) chosen_.reconstructor->collect();
}

void HostVolumes::finish() {
    for (; !in_flight_.empty(); in_flight_.pop_front()) chosen_.reconstructor->wait(in_flight_.front());
}

bool HostVolumes::take_change(SwapPoint swap_point) {
    bool is_other_tissue = false;
    if (swap_point == SwapPoint::between_volumes) {
        const std::scoped_lock lock(mutex_);
        is_other_tissue = wanted_tissue_.has_value();
        if (is_other_tissue) {
            if (!tissue_.settings().is_empty_recipe() || !wanted_tissue_->is_empty_recipe()) ++plan_;
            tissue_.set(*std::exchange(wanted_tissue_, std::nullopt));
        }
    }
    std::optional<PreparedPlan> made = maker_.take();
    if (!made) return is_other_tissue;
    if (swap_point == SwapPoint::within_volume) {
        maker_.put_back(std::move(*made));
        return false;
    }
    abandon();
    install(made->spec, std::move(made->chosen));
    ++plan_;
    return true;
}

bool HostVolumes::recovers(const Error& problem) {
    if (chosen_.reconstructor && chosen_.reconstructor->continues_after(problem)) {
        const std::vector<DeviceWork> devices = chosen_.reconstructor->device_work();
        chosen_.reason = left_out(devices);
        {
            const std::scoped_lock lock(mutex_);
            recovery_.leave_out_failed(devices);
        }
        note_description();
        return true;
    }
    const Backend processor = chosen_.reconstructor ? chosen_.reconstructor->backend() : Backend::cpu;
    {
        const std::scoped_lock lock(mutex_);
        if (!recovery_.recovers(problem, processor)) return false;
    }
    chosen_ = {};
    ChosenReconstructor again = choose_reconstructor(*spec_, backend());
    again.reason = "after a failure: " + problem.problem();
    install(*spec_, std::move(again));
    return true;
}

}  // namespace echolux
