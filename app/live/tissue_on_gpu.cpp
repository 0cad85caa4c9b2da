#include "app/live/tissue_on_gpu.h"

#include <utility>

#include "compute/error.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {
namespace {

// Returns problems with a volume or settings as text, and the volume is then shown unprocessed. Failures of the GPU are
// thrown.
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
    if (!registration_) registration_ = registration_on_gpu(choice_);
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

void AlignableOnGpu::give_memory_back() {
    reference_.reset();
    registration_.reset();
    mean_.reset();
}

void TissueOnGpu::set(const LiveTissue& tissue) {
    check_tissue(tissue);
    tissue_ = tissue;
    power_.set_settings(tissue.registration);
    if (!tissue.stabilises) power_.give_memory_back();
    work_.reset();
}

// If there is no memory for a filter, volumes are not filtered until the size or the settings change.
void TissueOnGpu::make_ready(const VolumeThere& volume) {
    const VolumeGrid& grid = volume.grid;
    if (work_ && grid == grid_ && volume.flow_grid == flow_grid_) return;
    work_.reset();
    power_.forget_reference();
    grid_ = grid;
    flow_grid_ = volume.flow_grid;
    VolumeOnGpuWanted wanted{grid, volume.flow_grid, {}, {}, {}};
    no_power_ = obstacle_on_gpu([&] {
        wanted.stored = stored_power(grid, tissue_.filter.stored_as);
        wanted.power_of_codes = power_of_codes(wanted.stored, grid.type);
        if (grid.type == VoxelType::f16)
            throw Error(ErrorCode::bad_setting, "f16 voxels are for display only", "recipe.voxel", "choose f32");
        if (tissue_.filters) wanted.filter = tables_of({grid.depth, grid.a_scans, grid.b_scans}, tissue_.filter, 0);
    });
    no_filter_ = obstacle_on_gpu([&] { work_ = volume_on_gpu(wanted, choice_); });
    if (work_) return;
    wanted.filter.reset();
    work_ = volume_on_gpu(wanted, choice_);
}

void TissueOnGpu::stabilise(float* power, VolumeThere& volume, TissueDone& done, Progress& progress) {
    power_.take(volume.grid, power, *work_);
    done.unsteady = obstacle_on_gpu([&] { stabiliser_.stabilise(power_, tissue_, done, progress); });
    if (done.is_stabilised && volume.flow_grid) work_->move_flow(volume.flow.data, whole_moves(done.rows));
}

void TissueOnGpu::filter(const std::string& obstacle, TissueDone& done) {
    done.unsmooth = obstacle.empty() ? obstacle_on_gpu([&] { work_->filter(); }) : obstacle;
    done.is_filtered = done.unsmooth.empty();
}

TissueDone TissueOnGpu::apply(std::int64_t number, VolumeThere& volume, Progress& progress,
                              const std::function<void(const Write& write)>& show) {
    TissueDone done{.volume = number,
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
    show([&](const Places& to) {
        work_->write(volume.structure.data, volume.flow_grid ? volume.flow.data : nullptr, to);
    });
    done.provenance = provenance_of(tissue_, done);
    return done;
}

}  // namespace echolux
