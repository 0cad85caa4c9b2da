// Host side of the search in a single kernel: its tables, and the selection of the kernel for a grid.
#include "compute/cuda/sparse_search_on_chip.h"

#include <algorithm>
#include <bit>
#include <complex>
#include <vector>

#include "compute/cuda/half_length.h"
#include "compute/cuda/sparse_search_on_chip.cuh"
#include "compute/indexing.h"

namespace echolux::cuda {
namespace {

// Calls use(Grid) for tables with a supported grid.
template <class Use>
void with_grid(std::int64_t modes, bool real, const Use& use) {
    const auto with_kind = [&](auto log2_modes) {
        if (real) return use(RealGrid<log2_modes>{});
        use(ComplexGrid<log2_modes>{});
    };
    switch (modes) {
        case 512: return with_kind(std::integral_constant<int, 9>{});
        case 1024: return with_kind(std::integral_constant<int, 10>{});
        default: with_kind(std::integral_constant<int, 11>{});
    }
}

std::int64_t shared_bytes(std::int64_t modes, std::int64_t sensed, bool real) {
    std::int64_t bytes = 0;
    with_grid(modes, real, [&](auto grid) { bytes = decltype(grid)::shared_bytes(sensed); });
    return bytes;
}

// Returns the points of the kernel's grid per point of the tables' grid: 2 for real tables on the k grid itself,
// because the kernel's real grid is twice as fine; otherwise 1.
std::int64_t stretch_of(const SensingTables& tables) {
    return tables.on_k_grid && tables.real ? 2 : 1;
}

// Samples sorted by round.
struct Rounds {
    std::vector<std::size_t> order;
    std::vector<std::int32_t> begins;  // [rounds + 1]
};

// Assigns each sample to the first round that does not use its grid points.
Rounds rounds_of(const SpreadSamples& spread, std::int64_t points) {
    std::vector<std::vector<bool>> taken;
    std::vector<std::vector<std::size_t>> members;
    for (std::size_t p = 0; p < spread.first.size(); ++p) {
        const auto point = [&](std::int64_t l) { return index((spread.first[p] + l) % points); };
        std::size_t round = 0;
        const auto is_free = [&](std::size_t r) {
            for (std::int64_t l = 0; l < spread.width; ++l) {
                if (taken[r][point(l)]) return false;
            }
            return true;
        };
        while (round < taken.size() && !is_free(round)) ++round;
        if (round == taken.size()) {
            taken.emplace_back(index(points));
            members.emplace_back();
        }
        for (std::int64_t l = 0; l < spread.width; ++l) taken[round][point(l)] = true;
        members[round].push_back(p);
    }
    Rounds rounds{{}, {0}};
    for (const auto& samples : members) {
        rounds.order.insert(rounds.order.end(), samples.begin(), samples.end());
        rounds.begins.push_back(static_cast<std::int32_t>(rounds.order.size()));
    }
    return rounds;
}

// Uploads values[p] of the samples in round order.
template <class Value>
DeviceBuffer uploaded_in_order(const Rounds& rounds, const Value& value) {
    std::vector<decltype(value(std::size_t{0}))> values;
    for (const std::size_t p : rounds.order) values.push_back(value(p));
    return uploaded(values);
}

// Uploads [width][sensed].
DeviceBuffer uploaded_weights(const Rounds& rounds, const SpreadSamples& spread) {
    std::vector<float> weights;
    for (std::int64_t l = 0; l < spread.width; ++l) {
        for (const std::size_t p : rounds.order) {
            weights.push_back(spread.from_weights[p * index(spread.width) + index(l)]);
        }
    }
    return uploaded(weights);
}

// See OnChipWork::of_three.
DeviceBuffer uploaded_threes(const Rounds& rounds, const SpreadSamples& spread, std::int32_t stretch) {
    return uploaded_in_order(rounds, [&](std::size_t p) {
        const float* weights = spread.from_weights.data() + 3 * p;
        return float4{std::bit_cast<float>(spread.first[p] * stretch), weights[0], weights[1], weights[2]};
    });
}

}  // namespace

bool SparseSearchOnChip::fits(const SensingTables& tables) {
    const std::int64_t modes = tables.modes, points = (tables.real ? 4 : 2) * modes;
    if (tables.grid * stretch_of(tables) != points || (modes != 512 && modes != 1024 && modes != 2048)) return false;
    return shared_bytes(modes, std::ssize(tables.samples), tables.real) <= max_shared_bytes();
}

SparseSearchOnChip::SparseSearchOnChip(const SensingTables& tables, const CompressiveRecipe& recipe, DepthRange kept)
    : recipe_(recipe), kept_(kept), real_(tables.real), modes_(tables.modes), sensed_(std::ssize(tables.samples)),
      width_(tables.spread.width), to_bins_(tables.to_bins), correction_(uploaded(tables.correction)),
      factors_(uploaded(spectrum_factors(2 * tables.modes, 0, tables.correction))) {
    const Rounds rounds = rounds_of(tables.spread, tables.grid);
    round_count_ = std::ssize(rounds.begins) - 1;
    rounds_ = uploaded(rounds.begins);
    const auto stretch = static_cast<std::int32_t>(stretch_of(tables));
    samples_ = uploaded_in_order(rounds, [&](std::size_t p) { return tables.samples[p]; });
    if (width_ == 3) {
        threes_ = uploaded_threes(rounds, tables.spread, stretch);
    } else {
        first_ = uploaded_in_order(rounds, [&](std::size_t p) { return tables.spread.first[p] * stretch; });
        weights_ = uploaded_weights(rounds, tables.spread);
    }
    turns_ = uploaded_in_order(rounds, [&](std::size_t p) {
        const std::complex<float> turn(tables.turns_of_grid[p]);
        return float2{turn.real(), turn.imag()};
    });
    with_grid(modes_, real_, [&](auto grid) { twiddles_ = uploaded(transform_twiddles(decltype(grid)::Size::n)); });
}

void SparseSearchOnChip::enqueue(cudaStream_t stream, const float* spectra, std::int64_t pitch, std::int64_t lines,
                                 float2* bins) const {
    OnChipWork work;
    work.spectra = spectra;
    work.pitch = pitch;
    work.samples = samples_.as<std::int32_t>();
    work.first = first_.as<std::int32_t>();
    work.weights = weights_.as<float>();
    work.of_three = threes_.as<float4>();
    work.turns = turns_.as<float2>();
    work.rounds = rounds_.as<std::int32_t>();
    work.sensed = static_cast<int>(sensed_);
    work.width = static_cast<int>(width_);
    work.round_count = static_cast<int>(round_count_);
    work.correction = correction_.as<float>();
    work.factors = factors_.as<float4>();
    work.twiddles = twiddles_.as<float2>();
    work.recipe = recipe_;
    work.bins = bins;
    work.first_bin = static_cast<int>(kept_.begin);
    work.depth = static_cast<int>(kept_.end - kept_.begin);
    work.to_bins = to_bins_;
    const auto shared = static_cast<int>(shared_bytes(modes_, sensed_, real_));
    with_grid(modes_, real_, [&](auto grid) {
        using Grid = decltype(grid);
        const auto kernel = width_ == 3 ? search_lines<Grid, ThreePoints> : search_lines<Grid, AnyPoints>;
        checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
                "ask for shared memory");
        kernel<<<static_cast<unsigned>(lines), Grid::threads, static_cast<std::size_t>(shared), stream>>>(work);
    });
    checked_launch("search in one kernel");
}

}  // namespace echolux::cuda
