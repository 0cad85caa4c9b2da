// The samples of a spectrum in the order of their places on the k axis, so that those near a point are found without
// looking at all: what gathers instead of scattering where each line's samples lie elsewhere (docs/transforms.md 7.1).
#pragma once

#include <cstdint>
#include <vector>

#include "compute/methods/moved_samples.h"

namespace echolux {

// Wherever the tables lie, on the host or on a GPU.
struct SamplesByPlaceView {
    const double* points = nullptr;          // [count], rising
    const std::int32_t* samples = nullptr;   // [count], which they are
    const std::int32_t* first_at = nullptr;  // [cells]: the first of `points` at or above first_cell + i
    std::int64_t count = 0;
    std::int64_t cells = 0;
    std::int64_t first_cell = 0;

    // use(sample, distance) for every sample of a line that has a share in point g of the finer grid, which is
    // circular.
    ECHOLUX_HD_CALLER
    template <class Use>
    ECHOLUX_HD void each_near(const MovedSpreading& spreading, const LineMap& map, std::int64_t g,
                              const Use& use) const {
        for (std::int64_t turn = -1; turn <= 1; ++turn) {
            const auto centre = static_cast<double>(g + turn * spreading.grid);
            const double low = centre - static_cast<double>(spreading.width) / 2;
            for (std::int64_t i = first_near(map.inverse(low / spreading.ratio)); i < count; ++i) {
                const double point = map(points[i]), place = point * spreading.ratio;
                if (place > low + static_cast<double>(spreading.width)) break;
                if (place > low && spreading.holds(point)) use(samples[i], place - centre);
            }
        }
    }

  private:
    // Not above the first sample at or beyond x, whichever way x was rounded.
    ECHOLUX_HD std::int64_t first_near(double x) const {
        const double cell = floor(x) - static_cast<double>(first_cell) - 1;
        if (cell >= static_cast<double>(cells)) return count;
        return cell <= 0 ? 0 : first_at[static_cast<std::int64_t>(cell)];
    }
};

struct SamplesByPlace {
    std::vector<double> points;
    std::vector<std::int32_t> samples;
    std::vector<std::int32_t> first_at;
    std::int64_t first_cell = 0;

    SamplesByPlaceView view() const {
        return {points.data(), samples.data(), first_at.data(), std::ssize(points), std::ssize(first_at), first_cell};
    }
};

// `points`: where each sample lies on the k grid by the k map. Samples that no row of k_jitter brings onto it are left
// out.
SamplesByPlace samples_by_place(const std::vector<double>& points);

}  // namespace echolux
