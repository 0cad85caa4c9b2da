// Converts codes to power and back on a GPU, and writes codes and their peaks to a display's textures. The bright power
// that determines the margin is selected bit by bit: only three histograms of 2048 bins are copied to the host.
#include "compute/cuda/entry.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "compute/cuda/executor.cuh"
#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/speckle.h"
#include "compute/cuda/transfers.h"
#include "compute/cuda/voxels.cuh"
#include "compute/error.h"
#include "compute/voxel_target.h"

namespace echolux::cuda {
namespace {

constexpr std::int64_t bytes_of_power = sizeof(float);

// `of_codes` is indexed by the bits of a code and unused for floats. NaN becomes 0.
template <class Code>
__global__ void __launch_bounds__(threads_of_a_range)
    read_power(std::int64_t voxels, const Code* codes, StoredPower stored, const float* of_codes, float* power) {
    const std::int64_t voxel = element();
    if (voxel >= voxels) return;
    if constexpr (std::is_integral_v<Code>) {
        power[voxel] = of_codes[static_cast<std::make_unsigned_t<Code>>(codes[voxel])];
    } else {
        const float value = stored.power(static_cast<double>(codes[voxel]));
        power[voxel] = isnan(value) ? 0 : value;
    }
}

template <class Code>
__global__ void __launch_bounds__(threads_of_a_range)
    store_power(std::int64_t voxels, const float* power, StoredPower stored, double least, double most, Code* codes) {
    const std::int64_t voxel = element();
    if (voxel >= voxels) return;
    const double code = stored.code(power[voxel]);
    if constexpr (std::is_integral_v<Code>) {
        codes[voxel] = static_cast<Code>(lround(code < least ? least : code > most ? most : code));
    } else {
        if (!isnan(codes[voxel])) codes[voxel] = static_cast<Code>(code);
    }
}

// One block per line.
template <class Code>
__global__ void __launch_bounds__(threads_of_a_range)
    move_lines(const Code* from, int depth, int a_scans, const WholeMove* moves, Code* to) {
    const auto line = static_cast<std::int64_t>(blockIdx.x);
    const int a = static_cast<int>(line % a_scans);
    const WholeMove move = moves[line / a_scans];
    const bool is_there = move.from >= 0 && a - move.x >= 0 && a - move.x < a_scans;
    const Code* source = is_there ? from + (static_cast<std::int64_t>(move.from) * a_scans + a - move.x) * depth : from;
    for (int z = static_cast<int>(threadIdx.x); z < depth; z += static_cast<int>(blockDim.x)) {
        const int at = z - move.z;
        to[line * depth + z] = is_there && at >= 0 && at < depth ? source[at] : Code{};
    }
}

__global__ void __launch_bounds__(threads_of_a_range) zero_where_unknown(std::int64_t voxels, float* power) {
    const std::int64_t voxel = element();
    if (voxel < voxels && isnan(power[voxel])) power[voxel] = 0;
}

// One block per line: writes codes to the display target, and the max of each few.
template <class Code>
__global__ void __launch_bounds__(threads_of_a_range)
    hand_out(const Code* codes, int depth, VoxelType type, DeviceTarget target) {
    const auto line = static_cast<std::int64_t>(blockIdx.x);
    const TargetRow row = target.row(line);
    const Code* from = codes + line * depth;
    for (int z = static_cast<int>(threadIdx.x); z < depth; z += static_cast<int>(blockDim.x))
        row.store(static_cast<std::int64_t>(z) * static_cast<std::int64_t>(sizeof(Code)), from[z]);
    if (row.peaks == nullptr) return;
    store_row_peaks(type, reinterpret_cast<const std::byte*>(from), depth, false, row.peaks, target.depths_of_a_peak,
                    static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x));
}

// Calls use(value) with a value of the code's type. Only its type matters.
template <class Use>
void with_code_type(VoxelType type, const Use& use) {
    switch (type) {
        case VoxelType::u8: return use(std::uint8_t{});
        case VoxelType::u16: return use(std::uint16_t{});
        case VoxelType::i16: return use(std::int16_t{});
        case VoxelType::f32: return use(float{});
        default:
            throw Error(ErrorCode::bad_setting, "these voxels hold no power", "recipe.voxel", "choose u8, u16 or f32");
    }
}

// Does the same for moving codes, where only the size matters.
template <class Use>
void with_codes_as_wide(VoxelType type, const Use& use) {
    switch (bytes_of(type)) {
        case 1: return use(std::uint8_t{});
        case 2: return use(std::uint16_t{});
        case 4: return use(float{});
        default: return use(float2{});
    }
}

// Holds the buffers of one grid. Works on its own urgent stream.
class CudaVolume : OfDevice, public VolumeOnGpu {
  public:
    CudaVolume(int device, const VolumeOnGpuOptions& wanted)
        : OfDevice(device), wanted_(wanted), output_(wanted.grid, wanted.grid.b_scans) {
        const VolumeGrid& grid = wanted_.grid;
        if (wanted_.flow) flow_output_.emplace(*wanted_.flow, wanted_.flow->b_scans);
        for (const std::int64_t depths : {4, 8}) {
            VolumeGrid peaks = grid;
            peaks.depth = peaks_of(grid.depth, depths);
            peaks_outputs_.try_emplace(depths, peaks, grid.b_scans);
        }
        of_codes_ = uploaded(wanted_.power_of_codes);
        if (wanted_.filter) filter_ = device_filter({grid.depth, grid.a_scans, grid.b_scans}, *wanted_.filter);
    }

    ~CudaVolume() override { leave(stream_); }

    float* read(const std::byte* voxels) override {
        const CurrentDevice current(device_);
        const std::int64_t count = wanted_.grid.voxels();
        power_.reserve(count * bytes_of_power);
        if (count == 0) return power_.as<float>();
        with_code_type(wanted_.grid.type, [&](auto code) {
            using Code = decltype(code);
            read_power<<<blocks_for(count), threads_of_a_range, 0, stream_>>>(
                count, reinterpret_cast<const Code*>(voxels), wanted_.stored, of_codes_.as<float>(),
                power_.as<float>());
        });
        checked_launch("read power");
        checked(cudaStreamSynchronize(stream_), "read power");
        was_read_ = true;
        return power_.as<float>();
    }

    void clear_gaps() override {
        const std::int64_t count = wanted_.grid.voxels();
        if (!was_read_ || count == 0) return;
        const CurrentDevice current(device_);
        zero_where_unknown<<<blocks_for(count), threads_of_a_range, 0, stream_>>>(count, power_.as<float>());
        checked_launch("clear gaps");
        checked(cudaStreamSynchronize(stream_), "clear gaps");
    }

    void filter() override {
        if (!filter_) throw Error(ErrorCode::bad_setting, "was not requested", "filter");
        if (!was_read_) return;
        const CurrentDevice current(device_);
        filtered_.reserve(power_.bytes());
        if (filter_->has_margin()) filter_->set_margin(margin());
        filter_->enqueue(power_.as<float>(), filtered_.as<float>(), stream_);
        checked(cudaStreamSynchronize(stream_), "filter speckle");
        std::swap(power_, filtered_);
    }

    void move_flow(const std::byte* flow, const std::vector<WholeMove>& moves) override {
        if (!wanted_.flow || wanted_.flow->voxels() == 0) return;
        const CurrentDevice current(device_);
        const VolumeGrid& grid = *wanted_.flow;
        const DeviceBuffer there = uploaded(moves);
        moved_.reserve(grid.bytes());
        with_codes_as_wide(grid.type, [&](auto code) {
            using Code = decltype(code);
            move_lines<<<static_cast<unsigned>(grid.a_scans * grid.b_scans), threads_for_depths(grid.depth), 0,
                         stream_>>>(reinterpret_cast<const Code*>(flow), static_cast<int>(grid.depth),
                                    static_cast<int>(grid.a_scans), there.as<WholeMove>(), moved_.as<Code>());
        });
        checked_launch("move flow");
        checked(cudaStreamSynchronize(stream_), "move flow");
        has_moved_ = true;
    }

    void write(std::byte* voxels, const std::byte* flow, const VoxelTargets& to) override {
        const CurrentDevice current(device_);
        if (was_read_) store(voxels);
        was_read_ = false;
        hand_over(voxels, std::exchange(has_moved_, false) ? moved_.data() : flow, to);
    }

  private:
    // Returns the same bits as log_margin() of engine/speckle.
    float margin() {
        const std::int64_t voxels = wanted_.grid.voxels(), stride = LogMargin::stride(voxels);
        const std::int64_t count = (voxels + stride - 1) / stride;
        if (count == 0) return LogMargin::of_nothing();
        return LogMargin::of(value_at_({power_.as<float>(), count, stride}, &LogMargin::bright, stream_));
    }

    void store(std::byte* voxels) {
        const std::int64_t count = wanted_.grid.voxels();
        if (count == 0) return;
        with_code_type(wanted_.grid.type, [&](auto code) {
            using Code = decltype(code);
            using Limits = std::numeric_limits<Code>;
            store_power<<<blocks_for(count), threads_of_a_range, 0, stream_>>>(
                count, power_.as<float>(), wanted_.stored, static_cast<double>(Limits::lowest()),
                static_cast<double>(Limits::max()), reinterpret_cast<Code*>(voxels));
        });
        checked_launch("store power");
    }

    template <class Work>
    void each_output(const VoxelTargets& to, const Work& work) {
        work(output_);
        if (to.flow && flow_output_) work(*flow_output_);
        if (to.peaks) work(peaks_outputs_.at(to.peaks->depths));
    }

    void hand_over(const std::byte* voxels, const std::byte* flow, const VoxelTargets& to) {
        const VolumeGrid& grid = wanted_.grid;
        DeviceTarget target = output_.begin(stream_, to.structure, 0, grid.b_scans);
        if (to.peaks) {
            const auto& [voxel_target, depths] = *to.peaks;
            const DeviceTarget peaks = peaks_outputs_.at(depths).begin(stream_, voxel_target, 0, grid.b_scans);
            VoxelOutput::add_peaks(target, peaks, depths);
        }
        send(grid, voxels, target);
        if (to.flow && flow_output_)
            send(*wanted_.flow, flow, flow_output_->begin(stream_, *to.flow, 0, wanted_.flow->b_scans));
        each_output(to, [&](VoxelOutput& output) { output.copy_out(stream_); });
        checked(cudaEventRecord(done_, stream_), "mark the end of a volume");
        each_output(to, [&](VoxelOutput& output) { output.hand_over(done_); });
        done_.wait("hand a volume to the display");
        each_output(to, [](VoxelOutput& output) { output.finish(); });
    }

    void send(const VolumeGrid& grid, const std::byte* voxels, const DeviceTarget& target) {
        const std::int64_t lines = grid.a_scans * grid.b_scans;
        if (lines == 0) return;
        with_codes_as_wide(grid.type, [&](auto code) {
            using Code = decltype(code);
            hand_out<<<static_cast<unsigned>(lines), threads_for_depths(grid.depth), 0, stream_>>>(
                reinterpret_cast<const Code*>(voxels), static_cast<int>(grid.depth), grid.type, target);
        });
        checked_launch("hand out a volume");
    }

    VolumeOnGpuOptions wanted_;
    Stream stream_{Urgency::urgent};
    Event done_;
    VoxelOutput output_;
    std::optional<VoxelOutput> flow_output_;
    std::map<std::int64_t, VoxelOutput> peaks_outputs_;  // by voxels per peak
    std::unique_ptr<DeviceFilter> filter_;
    DeviceBuffer of_codes_, power_, filtered_, moved_;
    ValueAtRank value_at_;
    bool was_read_ = false, has_moved_ = false;
};

}  // namespace

std::unique_ptr<VolumeOnGpu> volume_on_gpu(const VolumeOnGpuOptions& wanted, const BackendChoice& choice) {
    const int device = usable_gpu(choice.gpu).index;
    const CurrentDevice current(device);
    return std::make_unique<CudaVolume>(device, wanted);
}

}  // namespace echolux::cuda
