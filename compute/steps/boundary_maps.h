// Functors of the search for boundaries of layers (docs/layers.md): for single A-scans, boundaries or blocks, with the
// views of a volume and its maps. Compiled without fused multiply-add so that all backends return the same bits.
#pragma once

#include <cmath>
#include <cstdint>

#include "compute/host_device.h"
#include "compute/steps/layers.h"

namespace echolux {

// ---- Views of a volume and its maps.

// A volume in the memory of a backend.
struct LayerVolume {
    int depth, a_scans, b_scans;
    const float* intensity;          // [line][row]
    const std::uint8_t* has_signal;  // [line]

    ECHOLUX_HD std::int64_t lines() const { return std::int64_t{a_scans} * b_scans; }
    ECHOLUX_HD const float* line(std::int64_t at) const { return intensity + at * depth; }
};

// Current rows of the boundaries.
struct PresentRows {
    const std::int32_t* rows;  // [boundary][line]
    int boundaries, depth;
    std::int64_t lines;

    ECHOLUX_HD LayerEdges of(std::int64_t line) const { return {rows + line, lines, boundaries, depth}; }
    ECHOLUX_HD int edge(int at, std::int64_t line) const { return of(line)(at); }
};

// Layout of the blocks of A-scans.
struct BlocksOfLines {
    BlockAxis along_a, along_b;
    int bins;

    ECHOLUX_HD std::int64_t count() const { return along_a.count * along_b.count; }
};

// Output of a sweep, [boundary][line].
struct SweptLines {
    std::int32_t* labels;
    float* quality;
    std::uint8_t* is_ambiguous;
};

// Returns whether the cost of boundary `k` depends on its label in a line, and the window that determines it. `means`:
// [layer][line]. `is_complete`: all voxels of the line were recorded.
ECHOLUX_HD inline bool has_window(const LayerVolume& volume, const PresentRows& present, const float* means, int k,
                                  std::int64_t line, bool is_complete, BoundaryWindow& window) {
    if (volume.has_signal[line] == 0) return false;
    const int at = present.edge(k + 1, line);
    window = BoundaryWindow::between(at, present.edge(k, line), present.edge(k + 2, line),
                                     means[k * present.lines + line], means[(k + 1) * present.lines + line]);
    return is_complete || keeps_recorded(window, at, volume.line(line));
}

// All results of boundaries, [boundary][line].
struct SurfaceMaps {
    std::int32_t* rows;
    float *places, *quality;
    Reason* reasons;
    const BoundaryRequest* wanted;
    int boundaries;
    std::int64_t lines;

    ECHOLUX_HD LineOfSurfaces of(std::int64_t line) const {
        return {rows + line, places + line, quality + line, reasons + line, lines, wanted, boundaries};
    }
};

// ---- Coarse positions of blocks, [boundary][block].

struct WithoutOutliers {
    const float* maps;
    BlocksOfLines blocks;
    std::int64_t reach;
    double limit;
    float* out;

    ECHOLUX_HD void operator()(std::int64_t block, std::int64_t k) const {
        const RobustSurface surface{maps + k * blocks.count(), blocks.along_a.count, blocks.along_b.count, reach,
                                    limit};
        out[k * blocks.count() + block] =
            surface.without_outlier(block / blocks.along_a.count, block % blocks.along_a.count);
    }
};

struct MedianOfBlocks {
    const float* maps;
    BlocksOfLines blocks;
    float* out;

    ECHOLUX_HD void operator()(std::int64_t block, std::int64_t k) const {
        out[k * blocks.count() + block] =
            MedianOfNeighbours{}(maps + k * blocks.count(), blocks.along_a.count, blocks.along_b.count,
                                 block / blocks.along_a.count, block % blocks.along_a.count);
    }
};

// Interpolates the rows of all boundaries at an A-scan.
struct SpreadBlocks {
    const float* maps;
    BlocksOfLines blocks;
    int boundaries;
    std::int32_t* rows;

    ECHOLUX_HD void operator()(std::int64_t line) const {
        const std::int64_t lines = blocks.along_a.size * blocks.along_b.size;
        const BlockAxis::Share a = blocks.along_a.share(line % blocks.along_a.size),
                               b = blocks.along_b.share(line / blocks.along_a.size);
        for (int k = 0; k < boundaries; ++k)
            rows[k * lines + line] = whole_row(BetweenBlocks{}(maps + k * blocks.count(), blocks.along_a.count, a, b));
    }
};

// ---- Means of layers, [layer][line], and the result of a sweep.

// Sum and number of the recorded rows inside a layer.
struct SumLayer {
    LayerVolume volume;
    PresentRows present;
    float *sums, *counts;

    ECHOLUX_HD void operator()(std::int64_t line, std::int64_t layer) const {
        double sum = 0;
        int count = 0;
        if (volume.has_signal[line] != 0) {
            const int over = present.edge(static_cast<int>(layer), line);
            const LayerInside inside =
                LayerInside::of(over, present.edge(static_cast<int>(layer) + 1, line), volume.depth);
            const float* values = volume.line(line);
            for (int z = inside.begin; z < inside.end; ++z) {
                if (!is_recorded(values[z])) continue;
                sum += static_cast<double>(values[z]);
                ++count;
            }
        }
        sums[layer * volume.lines() + line] = static_cast<float>(sum);
        counts[layer * volume.lines() + line] = static_cast<float>(count);
    }
};

// Divides sums by counts in place. The limit applies to the result and is its default.
struct DivideByCounts {
    const float* counts;
    float least;
    float* sums;

    ECHOLUX_HD void operator()(std::int64_t i) const {
        const float mean = counts[i] > 0 ? sums[i] / counts[i] : least;
        sums[i] = mean < least ? least : mean;
    }
};

// Moves boundaries down that cross the one above. Returns the number moved.
struct OrderRows {
    SurfaceMaps maps;

    ECHOLUX_HD int operator()(std::int64_t line) const { return maps.of(line).order_rows(); }
};

// Moves a boundary to the label of a sweep. Returns 1 at the end of its candidates.
struct TakeLabel {
    LayerVolume volume;
    SurfaceMaps maps;
    SweptLines swept;

    ECHOLUX_HD int operator()(std::int64_t i) const {
        const SweepResult place{swept.labels[i], swept.is_ambiguous[i], volume.has_signal[i % maps.lines]};
        maps.rows[i] += place.rows_down();
        maps.reasons[i] = place.reason();
        return place.is_at_end() ? 1 : 0;
    }
};

// ---- Judgement of boundaries and their final positions.

// sides[above, below][boundary][line].
struct FindSides {
    LayerVolume volume;
    PresentRows present;
    float* sides;
    std::uint8_t* is_measured;

    ECHOLUX_HD void operator()(std::int64_t line, std::int64_t k) const {
        const std::int64_t at = k * volume.lines() + line;
        BoundarySides found;
        if (volume.has_signal[line] != 0)
            found = BoundarySides::of(present.of(line), static_cast<int>(k), volume.line(line));
        sides[at] = found.above;
        sides[present.boundaries * volume.lines() + at] = found.below;
        is_measured[at] = found.is_measured ? 1 : 0;
    }
};

struct MarkDoubtful {
    LayerVolume volume;
    SurfaceMaps maps;
    const float* sides;
    const std::uint8_t* is_measured;
    float margin;
    double floor;

    ECHOLUX_HD void operator()(std::int64_t line) const {
        const LineOfSurfaces of_line = maps.of(line);
        const float *above = sides + line, *below = above + maps.boundaries * maps.lines;
        for (int k = 0; k < maps.boundaries; ++k) {
            const std::int64_t at = k * maps.lines;
            of_line.mark_weak(k, is_measured[line + at] != 0 ? BoundarySides::contrast_db(above[at], below[at], margin)
                                                             : static_cast<float>(NAN));
        }
        of_line.mark_mixed(volume.line(line), volume.depth, floor);
        for (int k = 0; k < maps.boundaries; ++k) of_line.mark_missing(k, volume.line(line), volume.depth);
    }
};

// Prepares rows for smoothing where there is signal, and the corresponding weights: sums[boundary][line], the last map
// holds the weights.
struct BeginPositions {
    LayerVolume volume;
    SurfaceMaps maps;
    float* sums;

    ECHOLUX_HD void operator()(std::int64_t line) const {
        const float weight = volume.has_signal[line] != 0 ? 1 : 0;
        for (int k = 0; k < maps.boundaries; ++k) {
            const auto row = static_cast<float>(maps.rows[k * maps.lines + line]);
            maps.places[k * maps.lines + line] = row;
            sums[k * maps.lines + line] = weight > 0 ? row * weight : 0;
        }
        sums[maps.boundaries * maps.lines + line] = weight;
    }
};

struct EndPositions {
    SurfaceMaps maps;
    const float* sums;

    ECHOLUX_HD void operator()(std::int64_t line) const {
        const float weight = sums[maps.boundaries * maps.lines + line];
        for (int k = 0; k < maps.boundaries; ++k) {
            if (weight > min_mean_weight) maps.places[k * maps.lines + line] = sums[k * maps.lines + line] / weight;
        }
        maps.of(line).order_places();
    }
};

// Sum of `count` consecutive values, one after the other.
template <class Value>
struct SumOfRun {
    const Value* values;
    std::int64_t count;
    double* sums;

    ECHOLUX_HD void operator()(std::int64_t i) const {
        double sum = 0;
        for (std::int64_t at = i * count; at < (i + 1) * count; ++at) sum += static_cast<double>(values[at]);
        sums[i] = sum;
    }
};

struct FinishSurfaces {
    LayerVolume volume;
    SurfaceMaps maps;
    const double* sureness;

    ECHOLUX_HD void operator()(std::int64_t line) const {
        maps.of(line).mark_doubled(sureness);
        maps.of(line).finish(volume.has_signal[line] != 0, volume.depth);
    }
};

// certainty[is ok, has signal][boundary][line].
struct FindCertainty {
    SurfaceMaps maps;
    float* certainty;

    ECHOLUX_HD void operator()(std::int64_t i) const {
        certainty[i] = maps.reasons[i] == Reason::ok ? 1 : 0;
        certainty[maps.boundaries * maps.lines + i] = maps.reasons[i] == Reason::no_signal ? 0 : 1;
    }
};

// Marks boundaries as ambiguous where most of their neighbourhood is. Isolated confident spots are chance.
struct DoubtLonely {
    SurfaceMaps maps;
    const float* certainty;  // smoothed

    ECHOLUX_HD void operator()(std::int64_t i) const {
        const bool is_lonely = certainty[i] < certainty[maps.boundaries * maps.lines + i] / 2;
        if (maps.reasons[i] == Reason::ok && is_lonely) maps.reasons[i] = Reason::ambiguous;
    }
};

}  // namespace echolux
