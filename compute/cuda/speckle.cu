// Launches of speckle filters: selects kernels, grids and work memory.
#include "compute/cuda/speckle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "compute/cuda/device_filter.h"
#include "compute/cuda/gpu_index.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/non_local_means.cuh"
#include "compute/cuda/speckle_passes.cuh"
#include "compute/error.h"

namespace echolux::cuda {
namespace {

constexpr std::int64_t float_bytes = sizeof(float);

FilterBox box_of(const std::array<std::int64_t, 3>& size) {
    constexpr std::int64_t most = std::numeric_limits<int>::max() / 4;
    for (const std::int64_t axis : size) {
        if (axis > most) throw Error(ErrorCode::device, "the volume is too long for filters on a GPU", "cuda");
    }
    return {static_cast<int>(size[0]), static_cast<int>(size[1]), static_cast<int>(size[2])};
}

// Adapts a DeviceFilter to the interface of compute/speckle.h.
class FilterOnGpu : public SpeckleFilterOnGpu {
  public:
    FilterOnGpu(int device, std::unique_ptr<DeviceFilter> filter) : device_(device), filter_(std::move(filter)) {}

    ~FilterOnGpu() override {
        at_the_end_.emplace(device_, std::nothrow);
        cudaStreamSynchronize(stream_);
    }

    void operator()(const float* power, float* out) override {
        const CurrentDevice current(device_);
        filter_->enqueue(power, out, stream_);
        checked(cudaStreamSynchronize(stream_), "filter speckle");
    }

    std::string why_slow() const override {
        const CurrentDevice current(device_);
        return filter_->why_slow();
    }

  private:
    // Must be first: makes the device current while the other members are destroyed
    std::optional<CurrentDevice> at_the_end_;
    int device_;
    std::unique_ptr<DeviceFilter> filter_;
    Stream stream_;
};

// Filter of an empty volume.
class NothingOnDevice : public DeviceFilter {
    bool has_margin() const override { return false; }
    void set_margin(float) override {}
    void enqueue(const float*, float*, cudaStream_t) override {}
};

class MedianOnDevice : public DeviceFilter {
  public:
    MedianOnDevice(const FilterBox& box, const MedianTables& tables) : box_(box), tables_(tables) {}

    bool has_margin() const override { return false; }
    void set_margin(float) override {}

    void enqueue(const float* power, float* out, cudaStream_t stream) override {
        const auto kernel = tables_.edge == 3 ? median_of_cube<3> : median_of_cube<5>;
        kernel<<<blocks_for(box_.voxels()), threads_of_a_range, 0, stream>>>(box_, power, tables_.scale, out);
        checked_launch("find medians");
    }

  private:
    FilterBox box_;
    MedianTables tables_;
};

class BilateralOnDevice : public DeviceFilter {
  public:
    BilateralOnDevice(const FilterBox& box, const BilateralTables& tables)
        : box_(box), tables_(tables), guide_(box_.voxels() * float_bytes), smoothed_(guide_.bytes()) {
        for (std::size_t axis = 0; axis < 3; ++axis) weights_[axis] = uploaded(tables.smoothing[axis]);
    }

    bool has_margin() const override { return true; }
    void set_margin(float margin) override { tables_.margin = margin; }

    void enqueue(const float* power, float* out, cudaStream_t stream) override {
        begin_guide<<<blocks_for(box_.voxels()), threads_of_a_range, 0, stream>>>(box_, power, tables_.margin,
                                                                                  guide_.as<float>());
        checked_launch("make a guide");
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (tables_.smoothing[axis].empty()) continue;
            const auto reach = static_cast<int>(tables_.smoothing[axis].size() / 2);
            smooth_guide<<<blocks_for(box_.voxels()), threads_of_a_range, 0, stream>>>(
                box_, guide_.as<float>(), static_cast<int>(axis), reach, weights_[axis].as<float>(),
                smoothed_.as<float>());
            checked_launch("smooth a guide");
            std::swap(guide_, smoothed_);
        }
        const BilateralReach reach{static_cast<int>(tables_.reach[0]), static_cast<int>(tables_.reach[1]),
                                   static_cast<int>(tables_.reach[2])};
        mean_of_alike<<<blocks_for(box_.voxels()), threads_of_a_range, 0, stream>>>(box_, power, guide_.as<float>(),
                                                                                    reach, tables_.weight, out);
        checked_launch("filter by brightness");
    }

  private:
    FilterBox box_;
    BilateralTables tables_;
    DeviceBuffer guide_, smoothed_;
    std::array<DeviceBuffer, 3> weights_;
};

// Depth offsets processed together, as many as registers allow. On an H100 with 512^3 voxels and a search of 7 x 7 x 3,
// patches of 3 take 24.2, 23.8 and 35.3 ms with 3, 4 and 7 offsets (7 spills registers), and patches of 5 take 37.8,
// 47.4 and 55.7 ms with 2, 3 and 4. With twice the B-scans per thread there are too few threads: 34.0 ms.
template <int patch>
constexpr int offsets_together = patch == 1 ? 4 : 2;

// Selects tiles if they fit and the values are in range, otherwise passes.
class NonLocalMeansOnDevice : public DeviceFilter {
  public:
    NonLocalMeansOnDevice(const FilterBox& box, const NonLocalMeansTables& tables)
        : box_(box), tables_(tables),
          tile_(SimilarTile::of(static_cast<int>(tables.patch), static_cast<int>(tables.search[0]),
                                static_cast<int>(tables.search[1]), static_cast<int>(tables.search[2]))),
          greatest_(sizeof(unsigned)), on_host_(sizeof(unsigned)) {}

    bool has_margin() const override { return true; }
    void set_margin(float margin) override { tables_.margin = margin; }

    void enqueue(const float* power, float* out, cudaStream_t stream) override {
        if (tables_.weight.is_close()) return in_passes(power, out, stream);
        const float greatest = greatest_of(power, stream);
        if (tables_.patch == 1 && fits<1>() && is_narrow(greatest)) return in_tiles<1>(power, greatest, out, stream);
        if (tables_.patch == 2 && fits<2>() && is_narrow(greatest)) return in_tiles<2>(power, greatest, out, stream);
        in_passes(power, out, stream);
    }

    std::string why_slow() const override {
        constexpr int kib = 1024;
        const int needed = tables_.patch == 1   ? tile_.bytes(offsets_together<1>)
                           : tables_.patch == 2 ? tile_.bytes(offsets_together<2>)
                                                : 0;
        if (needed <= max_shared_bytes()) return {};
        return "this search needs " + std::to_string(needed / kib) +
               " KiB of a GPU's shared memory, of which this one has " + std::to_string(max_shared_bytes() / kib) +
               ": it takes a slower way; a narrower search (filter.search_*) is fast";
    }

  private:
    float greatest_of(const float* power, cudaStream_t stream) {
        constexpr unsigned blocks = 1024;
        checked(cudaMemsetAsync(greatest_.data(), 0, sizeof(unsigned), stream), "clear a number");
        find_greatest<<<std::min(blocks, blocks_for(box_.voxels())), threads_of_a_range, 0, stream>>>(
            power, box_.voxels(), greatest_.as<unsigned>());
        checked_launch("find the greatest power");
        checked(cudaMemcpyAsync(on_host_.data(), greatest_.data(), sizeof(unsigned), cudaMemcpyDeviceToHost, stream),
                "copy the greatest power");
        checked(cudaStreamSynchronize(stream), "find the greatest power");
        return *on_host_.as<float>();
    }

    // Returns whether products of a patch's rows, sums of two voxels, remain normal numbers: 5 factors of 2^-22 to
    // 2^24.
    bool is_narrow(float greatest) const { return greatest < tables_.margin * 0x1p44f; }

    // Logarithms are most accurate near 0, so the scale places tissue there, far above the margin.
    float scale_for(float greatest) const {
        const float at_most = 22 - std::ceil(std::log2(greatest + tables_.margin));
        return std::exp2(std::min(at_most, -std::round(std::log2(64 * tables_.margin))));
    }

    template <int patch>
    bool fits() const {
        constexpr int grid_end = 65535;
        return tile_.bytes(offsets_together<patch>) <= max_shared_bytes() &&
               box_.a_scans / tile_.outputs() < grid_end && box_.b_scans / SimilarTile::b_scans < grid_end;
    }

    template <int patch>
    void in_tiles(const float* power, float greatest, float* out, cudaStream_t stream) {
        constexpr int group = offsets_together<patch>, edge = 2 * patch + 1;
        logs_.reserve(box_.voxels() * float_bytes);
        const SimilarWork work{box_,
                               tile_,
                               power,
                               logs_.as<float>(),
                               out,
                               tables_.margin,
                               scale_for(greatest),
                               PatchLikelihood::of(tables_.weight, static_cast<float>(edge * edge * edge))};
        const auto parts = [](int count, int part) { return static_cast<unsigned>((count + part - 1) / part); };
        const dim3 columns(blocks_for(box_.columns()), parts(box_.b_scans, b_scans_of_patch_sums));
        sum_logs_of_patches<patch><<<columns, threads_of_a_range, 0, stream>>>(work, logs_.as<float>());
        checked_launch("sum logarithms of patches");
        const int bytes = tile_.bytes(group);
        const auto kernel = mean_of_similar<patch, group>;
        checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, max_shared_bytes()),
                "ask for shared memory");
        checked(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared),
                "ask for shared memory");
        const dim3 tiles(parts(box_.depth, SimilarTile::depth), parts(box_.a_scans, tile_.outputs()),
                         parts(box_.b_scans, SimilarTile::b_scans));
        kernel<<<tiles, SimilarTile::threads, static_cast<std::size_t>(bytes), stream>>>(work);
        checked_launch("average similar voxels");
    }

    // Accumulates values and weights over all offsets, one offset at a time.
    void in_passes(const float* power, float* out, cudaStream_t stream) {
        SimilarPass pass{box_, static_cast<int>(tables_.patch), tables_.weight.is_close(), nullptr, nullptr};
        const std::int64_t bytes = box_.voxels() * float_bytes;
        power_.reserve(bytes);
        logs_.reserve(bytes);
        values_.reserve(bytes);
        weights_.reserve(bytes);
        of_rows_.reserve(pass.around().voxels() * float_bytes);
        of_a_scans_.reserve(pass.along_a().voxels() * float_bytes);
        pass.power = power_.as<float>();
        pass.logs = logs_.as<float>();
        begin_similar<<<blocks_for(box_.voxels()), threads_of_a_range, 0, stream>>>(
            box_, power, tables_.margin, power_.as<float>(), logs_.as<float>());
        checked_launch("make logarithms");
        for (const DeviceBuffer* sum : {&values_, &weights_}) {
            checked(cudaMemsetAsync(sum->data(), 0, static_cast<std::size_t>(bytes), stream), "clear sums");
        }
        const auto [depth, a_scans, b_scans] = tables_.search;
        for (int b = static_cast<int>(-b_scans); b <= b_scans; ++b) {
            for (int a = static_cast<int>(-a_scans); a <= a_scans; ++a) {
                for (int z = static_cast<int>(-depth); z <= depth; ++z) add(pass, {z, a, b}, stream);
            }
        }
        end_similar<<<blocks_for(box_.voxels()), threads_of_a_range, 0, stream>>>(
            box_, values_.as<float>(), weights_.as<float>(), tables_.margin, out);
        checked_launch("average similar voxels");
    }

    void add(const SimilarPass& pass, const SimilarOffset& offset, cudaStream_t stream) {
        sum_rows_of_patches<<<blocks_for(pass.around().voxels()), threads_of_a_range, 0, stream>>>(
            pass, offset, of_rows_.as<float>());
        sum_a_scans_of_patches<<<blocks_for(pass.along_a().voxels()), threads_of_a_range, 0, stream>>>(
            pass, of_rows_.as<float>(), of_a_scans_.as<float>());
        add_offset<<<blocks_for(box_.voxels()), threads_of_a_range, 0, stream>>>(
            pass, offset, tables_.weight, of_a_scans_.as<float>(), values_.as<float>(), weights_.as<float>());
        checked_launch("compare patches");
    }

    FilterBox box_;
    NonLocalMeansTables tables_;
    SimilarTile tile_;
    DeviceBuffer greatest_;
    PinnedBuffer on_host_;
    DeviceBuffer logs_, power_, values_, weights_, of_rows_, of_a_scans_;
};

// Returns the work memory of a filter in volumes of floats.
std::int64_t volumes_besides(const SpeckleTables& tables) {
    if (const auto* nlm = std::get_if<NonLocalMeansTables>(&tables)) {
        constexpr std::int64_t in_tiles = 1, in_passes = 7;
        const bool has_tiles = (nlm->patch == 1 || nlm->patch == 2) && !nlm->weight.is_close();
        return has_tiles ? in_tiles : in_passes;
    }
    return std::holds_alternative<BilateralTables>(tables) ? 2 : 0;
}

std::unique_ptr<DeviceFilter> filter_of(const FilterBox& box, const SpeckleTables& tables) {
    if (box.voxels() == 0) return std::make_unique<NothingOnDevice>();
    if (const auto* nlm = std::get_if<NonLocalMeansTables>(&tables))
        return std::make_unique<NonLocalMeansOnDevice>(box, *nlm);
    if (const auto* median = std::get_if<MedianTables>(&tables)) return std::make_unique<MedianOnDevice>(box, *median);
    return std::make_unique<BilateralOnDevice>(box, std::get<BilateralTables>(tables));
}

}  // namespace

std::unique_ptr<DeviceFilter> device_filter(const std::array<std::int64_t, 3>& size, const SpeckleTables& tables) {
    return filter_of(box_of(size), tables);
}

std::unique_ptr<SpeckleFilterOnGpu> speckle_filter(const std::array<std::int64_t, 3>& size, const SpeckleTables& tables,
                                                   const BackendChoice& choice) {
    const int device = usable_gpu(choice.gpu).index;
    const CurrentDevice current(device);
    require_free(filter_bytes(size, tables), "this filter",
                 "filter a part of the volume, close what else uses the GPU, or choose `backend` cpu");
    return std::make_unique<FilterOnGpu>(device, filter_of(box_of(size), tables));
}

std::int64_t filter_bytes(const std::array<std::int64_t, 3>& size, const SpeckleTables& tables) {
    return volumes_besides(tables) * size[0] * size[1] * size[2] * float_bytes;
}

}  // namespace echolux::cuda
