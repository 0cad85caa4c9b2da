// GPU searches for boundaries: the complete search for surfaces, and single sweeps. The volume and its prefix sums in
// depth stay in GPU memory. Each sweep receives the rows of all boundaries and returns labels.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "compute/cuda/boundaries.cuh"
#include "compute/cuda/entry.h"
#include "compute/cuda/memory.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/tissue_on_gpu.h"

namespace echolux::cuda {

// The complete surface search, in the order of its steps, including those before and after the sweeps.
class WholeSearch : public SurfaceSearchOnGpu {
  public:
    WholeSearch(const float* intensity, const SurfaceTables& tables, int device)
        : device_(device), tables_(tables),
          lines_(tables.size[1] * tables.size[2]), blocks_{tables.along_a, tables.along_b,
                                                           static_cast<int>(tables.size[0] / rows_of_a_bin)},
          sweeps_(tables.size, tables.mean_weights), has_signal_(buffer_of<std::uint8_t>(lines_)),
          wanted_(uploaded(tables.wanted)) {
        cudaPointerAttributes facts{};
        checked(cudaPointerGetAttributes(&facts, intensity), "ask whose memory this is");
        intensity_ = intensity;
        if (facts.type == cudaMemoryTypeDevice) return;
        const std::int64_t bytes = lines_ * tables.size[0] * static_cast<std::int64_t>(sizeof(float));
        copy_ = DeviceBuffer(bytes);
        upload(intensity, bytes, copy_.data());
        intensity_ = copy_.as<float>();
    }

    ~WholeSearch() override {
        at_the_end_.emplace(device_, std::nothrow);
        cudaStreamSynchronize(sweeps_.stream());
    }

    BlocksCut cut() override {
        const CurrentDevice current(device_);
        profiles_ = buffer_of<float>(blocks_.count() * blocks_.bins);
        average_blocks<<<static_cast<unsigned>(blocks_.count()), threads_of_a_range, 0, stream()>>>(
            volume(), blocks_, profiles_.as<float>());
        checked_launch("average A-scans");
        BlocksCut found;
        float greatest = 0;
        found.floor = std::min(floor_of_bins(greatest), tables_.most_floor);
        const auto count = index(blocks_.count());
        found.is_known.resize(count);
        found.has_tissue.resize(count);
        cut_blocks(found, std::max(static_cast<float>(found.floor) * 1e-3f, greatest * 1e-9f));
        return found;
    }

    SurfaceRows found(const std::vector<std::vector<float>>& bins, const SignalLevels& levels,
                      const BoundaryCallback& done) override {
        const CurrentDevice current(device_);
        std::vector<SweepStep> steps;
        for (const BoundaryRequest& wanted : tables_.wanted) steps.push_back({wanted.smoothness});
        sweeps_.reserve(steps);
        const std::int64_t all = boundaries() * lines_;
        places_ = buffer_of<float>(all);
        reasons_ = buffer_of<Reason>(all);
        moved_ = zeroed(2 * sizeof(unsigned long long));
        sweeps_.sum_up(intensity_);
        find_signal<<<blocks_for(lines_ * 32), threads_of_a_range, 0, stream()>>>(
            volume(), levels.bright, levels.min_bright, has_signal_.as<std::uint8_t>());
        checked_launch("find what stands out");
        place_coarsely(bins);
        SweepPasses passes(all);
        while (!passes.are_settled()) {
            passes.end(sweep(levels.min_mean));
            if (done) done();
        }
        judge(levels);
        return fetched();
    }

  private:
    std::int64_t boundaries() const { return std::ssize(tables_.wanted); }
    cudaStream_t stream() const { return sweeps_.stream(); }
    LayerVolume volume() const { return sweeps_.volume(intensity_, has_signal_.as<std::uint8_t>()); }
    SurfaceMaps maps() const {
        return {sweeps_.rows().as<std::int32_t>(),
                places_.as<float>(),
                sweeps_.quality().as<float>(),
                reasons_.as<Reason>(),
                wanted_.as<BoundaryRequest>(),
                static_cast<int>(boundaries()),
                lines_};
    }

    // Returns the value below which the given share of all positive bins is. Selected by the bits of the values: first
    // the upper half, then the lower one. Also returns their max.
    double floor_of_bins(float& greatest) {
        constexpr std::size_t values = 1 << 16;
        const std::int64_t bins = blocks_.count() * blocks_.bins;
        const DeviceBuffer counts = buffer_of<unsigned>(values + 1);
        std::vector<unsigned> on_host(values + 1);
        const auto count = [&](bool lower, unsigned upper) {
            checked(cudaMemsetAsync(counts.data(), 0, index(counts.bytes()), stream()), "clear counts");
            count_bits<<<blocks_for(bins), threads_of_a_range, 0, stream()>>>(
                profiles_.as<float>(), bins, lower, upper, counts.as<unsigned>(), counts.as<unsigned>() + values);
            checked_launch("count bins");
            fetch(on_host, counts, 0, stream());
        };
        // Returns the value at a rank and subtracts the number of smaller ones from the rank.
        const auto value_at = [&](std::int64_t& place) {
            std::size_t value = 0;
            for (; place >= on_host[value]; ++value) place -= on_host[value];
            return static_cast<unsigned>(value);
        };
        count(false, 0);
        greatest = std::bit_cast<float>(on_host.back());
        std::int64_t all = 0;
        for (std::size_t i = 0; i < values; ++i) all += on_host[i];
        if (all == 0) return 0;
        std::int64_t place = std::lround(tables_.floor_share * static_cast<double>(all - 1));
        const unsigned upper = value_at(place);
        count(true, upper);
        return static_cast<double>(std::bit_cast<float>(upper << 16 | value_at(place)));
    }

    // Cuts the profiles of all blocks in one launch and copies the boundaries to the host.
    void cut_blocks(BlocksCut& found, float added) {
        const std::int64_t all = std::ssize(tables_.cut) * (blocks_.bins + 1);
        const DeviceBuffer wanted = uploaded(tables_.cut), costs = buffer_of<float>(all * blocks_.count()),
                           from = buffer_of<std::int32_t>(all * blocks_.count()),
                           places = buffer_of<float>(std::ssize(tables_.cut) * blocks_.count()),
                           is_known = buffer_of<std::uint8_t>(blocks_.count()),
                           has_tissue = buffer_of<std::uint8_t>(blocks_.count());
        const CutOfBlocks work{blocks_,
                               profiles_.as<float>(),
                               wanted.as<ProfileBoundary>(),
                               static_cast<int>(tables_.cut.size()),
                               signal_over_floor * static_cast<float>(found.floor),
                               added,
                               all,
                               costs.as<float>(),
                               from.as<std::int32_t>(),
                               places.as<float>(),
                               is_known.as<std::uint8_t>(),
                               has_tissue.as<std::uint8_t>()};
        const std::size_t bytes = index(blocks_.bins + 1) * sizeof(double);
        constexpr std::size_t without_asking = 48 << 10;
        if (bytes > without_asking)
            checked(cudaFuncSetAttribute(cut_profiles, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(bytes)),
                    "ask for shared memory");
        cut_profiles<<<static_cast<unsigned>(blocks_.count()), threads_of_a_range, bytes, stream()>>>(work);
        checked_launch("cut profiles");
        fetch(found.is_known, is_known, 0, stream());
        fetch(found.has_tissue, has_tissue, 0, stream());
        for (std::int64_t k = 0; k < boundaries(); ++k) {
            found.bins.emplace_back(index(blocks_.count()));
            fetch(found.bins.back(), places, k * blocks_.count(), stream());
        }
    }

    // Removes outliers from the block maps, smooths them, and interpolates the initial rows of the sweeps.
    void place_coarsely(const std::vector<std::vector<float>>& bins) {
        std::vector<float> all;
        for (const std::vector<float>& of_boundary : bins)
            all.insert(all.end(), of_boundary.begin(), of_boundary.end());
        const DeviceBuffer weights = uploaded(tables_.block_weights);
        DeviceBuffer one = uploaded(all), two = buffer_of<float>(std::ssize(all));
        const dim3 grid(blocks_for(blocks_.count()), static_cast<unsigned>(boundaries()));
        without_outliers_of<<<grid, threads_of_a_range, 0, stream()>>>(one.as<float>(), blocks_, tables_.outlier_reach,
                                                                       tables_.outlier_bins, two.as<float>());
        checked_launch("leave outliers out");
        medians_of_neighbours<<<grid, threads_of_a_range, 0, stream()>>>(two.as<float>(), blocks_, one.as<float>());
        checked_launch("find medians");
        const auto a_blocks = static_cast<int>(blocks_.along_a.count),
                   b_blocks = static_cast<int>(blocks_.along_b.count);
        for (const bool along_b : {false, true}) {
            if ((along_b ? b_blocks : a_blocks) < 2) continue;
            smooth_maps<<<grid, threads_of_a_range, 0, stream()>>>(one.as<float>(), a_blocks, b_blocks, along_b,
                                                                   static_cast<int>(tables_.block_weights.size()) - 1,
                                                                   weights.as<float>(), two.as<float>());
            checked_launch("smooth blocks");
            std::swap(one, two);
        }
        const dim3 grid_of_lines(blocks_for(lines_), static_cast<unsigned>(boundaries()));
        spread_blocks<<<grid_of_lines, threads_of_a_range, 0, stream()>>>(one.as<float>(), blocks_,
                                                                          sweeps_.rows().as<std::int32_t>());
        checked_launch("spread blocks");
        order_boundaries<<<blocks_for(lines_), threads_of_a_range, 0, stream()>>>(maps(), nullptr);
        checked_launch("put boundaries in order");
        checked(cudaStreamSynchronize(stream()), "place boundaries");  // before local buffers are destroyed
    }

    // Sweeps the boundaries. Returns the number of positions at the end of their candidates.
    std::int64_t sweep(float min_mean) {
        const auto moved = moved_.as<unsigned long long>();
        checked(cudaMemsetAsync(moved_.data(), 0, index(moved_.bytes()), stream()), "clear numbers");
        sweeps_.run(intensity_, has_signal_.as<std::uint8_t>(), min_mean);
        take_labels<<<blocks_for(lines_ * boundaries()), threads_of_a_range, 0, stream()>>>(
            volume(), maps(), sweeps_.labels().as<std::int32_t>(), sweeps_.is_ambiguous().as<std::uint8_t>(),
            moved + 1);
        checked_launch("take labels");
        order_boundaries<<<blocks_for(lines_), threads_of_a_range, 0, stream()>>>(maps(), moved);
        checked_launch("put boundaries in order");
        return static_cast<std::int64_t>(numbers()[1]);
    }

    // Returns the positions moved to restore order in the last pass, and those at the end of their candidates.
    std::vector<unsigned long long> numbers() {
        std::vector<unsigned long long> both(2);
        fetch(both, moved_, 0, stream());
        return both;
    }

    void judge(const SignalLevels& levels) {
        const DeviceBuffer contrast_weights = uploaded(tables_.contrast_weights),
                           jitter_weights = uploaded(tables_.jitter_weights);
        const std::int64_t count = boundaries();
        DeviceBuffer sides = buffer_of<float>(2 * count * lines_);
        const DeviceBuffer is_measured = buffer_of<std::uint8_t>(count * lines_),
                           of_b_scans = buffer_of<double>(count * tables_.size[2]), sureness = buffer_of<double>(count);
        const unsigned all_lines = blocks_for(lines_);
        find_sides<<<dim3(all_lines, static_cast<unsigned>(count)), threads_of_a_range, 0, stream()>>>(
            volume(), sweeps_.present(), sides.as<float>(), is_measured.as<std::uint8_t>());
        checked_launch("compare sides");
        sweeps_.smooth(sides, 2 * count, contrast_weights);
        mark_doubtful<<<all_lines, threads_of_a_range, 0, stream()>>>(
            volume(), maps(), sides.as<float>(), is_measured.as<std::uint8_t>(), levels.margin, levels.floor);
        checked_launch("judge boundaries");
        begin_places<<<all_lines, threads_of_a_range, 0, stream()>>>(volume(), maps(), sides.as<float>());
        checked_launch("begin surfaces");
        sweeps_.smooth(sides, count + 1, jitter_weights);
        end_places<<<all_lines, threads_of_a_range, 0, stream()>>>(maps(), sides.as<float>());
        checked_launch("smooth surfaces");
        add_quality<<<blocks_for(count * tables_.size[2]), threads_of_a_range, 0, stream()>>>(
            maps(), static_cast<int>(tables_.size[1]), static_cast<int>(tables_.size[2]), of_b_scans.as<double>());
        checked_launch("add qualities");
        add_b_scans<<<blocks_for(count), threads_of_a_range, 0, stream()>>>(
            of_b_scans.as<double>(), static_cast<int>(count), static_cast<int>(tables_.size[2]), sureness.as<double>());
        checked_launch("add qualities");
        finish_surfaces<<<all_lines, threads_of_a_range, 0, stream()>>>(volume(), maps(), sureness.as<double>());
        checked_launch("finish surfaces");
        checked(cudaStreamSynchronize(stream()), "finish surfaces");
    }

    SurfaceRows fetched() {
        const auto all = index(boundaries() * lines_);
        SurfaceRows found{std::vector<float>(all), std::vector<float>(all), std::vector<Reason>(all), 0};
        fetch(found.rows, places_, 0, stream());
        fetch(found.quality, sweeps_.quality(), 0, stream());
        fetch(found.reasons, reasons_, 0, stream());
        found.moved = static_cast<std::int64_t>(numbers()[0]);
        return found;
    }

    // Must be first: makes the device current while the other members are destroyed
    std::optional<CurrentDevice> at_the_end_;
    int device_;
    SurfaceTables tables_;
    std::int64_t lines_;
    BlocksOfLines blocks_;
    DeviceBuffer copy_;  // copy of a volume in host memory
    const float* intensity_ = nullptr;
    Sweeps sweeps_;
    DeviceBuffer has_signal_, wanted_, profiles_, places_, reasons_, moved_;
};

namespace {

void require_length(const std::array<std::int64_t, 3>& size) {
    for (const std::int64_t axis : size) {
        if (axis > std::numeric_limits<int>::max() / boundary_lanes)
            throw Error(ErrorCode::device, "the volume is too long to find layers on a GPU", "cuda");
    }
}

// Holds a copy of the volume and the buffers of the sweeps.
class SearchOnGpu : public BoundarySearch {
  public:
    SearchOnGpu(const std::vector<float>& intensity, const LayerTables& tables, int device)
        : device_(device), lines_(tables.size[1] * tables.size[2]), min_mean_(tables.min_mean),
          intensity_(uploaded(intensity)), has_signal_(uploaded(tables.has_signal)),
          sweeps_(tables.size, tables.mean_weights) {
        sweeps_.sum_up(intensity_.as<float>());
        checked(cudaStreamSynchronize(sweeps_.stream()), "sum A-scans up");
    }

    ~SearchOnGpu() override {
        at_the_end_.emplace(device_, std::nothrow);
        cudaStreamSynchronize(sweeps_.stream());
    }

    std::vector<SweptBoundary> swept(const BoundaryRows& rows, std::span<const SweepStep> steps,
                                     const BoundaryCallback& done) override {
        const CurrentDevice current(device_);
        sweeps_.reserve(steps);
        const auto bytes = lines_ * static_cast<std::int64_t>(sizeof(std::int32_t));
        for (std::size_t k = 0; k < rows.size(); ++k)
            upload(rows[k].data(), bytes, sweeps_.rows().data() + static_cast<std::int64_t>(k) * bytes);
        sweeps_.run(intensity_.as<float>(), has_signal_.as<std::uint8_t>(), min_mean_);
        std::vector<SweptBoundary> found;
        for (std::int64_t k = 0; k < std::ssize(rows); ++k) {
            const auto lines = index(lines_);
            SweptBoundary one{std::vector<std::int32_t>(lines), std::vector<float>(lines),
                              std::vector<std::uint8_t>(lines)};
            fetch(one.labels, sweeps_.labels(), k * lines_, sweeps_.stream());
            fetch(one.quality, sweeps_.quality(), k * lines_, sweeps_.stream());
            fetch(one.is_ambiguous, sweeps_.is_ambiguous(), k * lines_, sweeps_.stream());
            found.push_back(std::move(one));
            done();
        }
        return found;
    }

  private:
    // Must be first: makes the device current while the other members are destroyed
    std::optional<CurrentDevice> at_the_end_;
    int device_;
    std::int64_t lines_;
    float min_mean_;
    DeviceBuffer intensity_, has_signal_;
    Sweeps sweeps_;
};

}  // namespace

std::unique_ptr<BoundarySearch> boundary_search(const std::vector<float>& intensity, const LayerTables& tables,
                                                const BackendChoice& choice) {
    require_length(tables.size);
    const int device = usable_gpu(choice.gpu).index;
    const CurrentDevice current(device);
    return std::make_unique<SearchOnGpu>(intensity, tables, device);
}

std::unique_ptr<SurfaceSearchOnGpu> surface_search(const float* intensity, const SurfaceTables& tables,
                                                   const BackendChoice& choice) {
    require_length(tables.size);
    const int device = usable_gpu(choice.gpu).index;
    const CurrentDevice current(device);
    const std::int64_t boundaries = std::ssize(tables.wanted), lines = tables.size[1] * tables.size[2];
    const std::int64_t of_line =
        12 * tables.size[0] + boundaries * (3 * boundary_lanes + 12) * 4;  // bytes of rows, labels, maps
    require_free(lines * of_line, "this search for surfaces",
                 "search a part of the volume, close what else uses the GPU, or choose `backend` cpu");
    return std::make_unique<WholeSearch>(intensity, tables, device);
}

}  // namespace echolux::cuda
