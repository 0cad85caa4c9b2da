// Correlations of strips on the CPU: coarse ones by Fourier transforms of pairs of B-scans, summed over strips; fine
// ones by direct sums.
#include <algorithm>
#include <cmath>
#include <mutex>

#include "compute/parallel_for.h"
#include "engine/registration/correlation.h"
#include "engine/registration/features.h"
#include "engine/registration/strips.h"

namespace echolux {
namespace {

constexpr std::int64_t rows_together = 16;  // rows per task

// Sums blocks of coarse_times x coarse_times samples and recomputes the norms.
RowFeatures coarser(const RowFeatures& fine) {
    constexpr std::int64_t times = coarse_times;
    RowFeatures all{.depth = (fine.depth + times - 1) / times,
                    .a_scans = (fine.a_scans + times - 1) / times,
                    .rows = fine.rows,
                    .values = {},
                    .norms = {}};
    const std::int64_t of_row = all.depth * all.a_scans;
    all.values.assign(static_cast<std::size_t>(of_row * all.rows), 0.0F);
    all.norms.resize(fine.norms.size());
    parallel_for(0, all.rows, [&](std::int64_t row) {
        float* to = all.values.data() + row * of_row;
        const float* from = fine.row(row);
        for (std::int64_t a = 0; a < fine.a_scans; ++a) {
            float* line = to + a / times * all.depth;
            const float* of_line = from + a * fine.depth;
            for (std::int64_t z = 0; z < fine.depth; ++z) line[z / times] += of_line[z];
        }
        double square = 0;
        for (std::int64_t i = 0; i < of_row; ++i) square += static_cast<double>(to[i]) * static_cast<double>(to[i]);
        const bool is_silent = fine.norms[static_cast<std::size_t>(row)] == 0;
        all.norms[static_cast<std::size_t>(row)] = is_silent ? 0 : static_cast<float>(std::sqrt(square));
    });
    return all;
}

// Returns the strips of a moving volume and a reference with their norms.
StripRows strips_of(const RowFeatures& reference, const RowFeatures& moving, std::int64_t half) {
    return {moving.norms.data(), reference.norms.data(), moving.rows, reference.rows, half};
}

// Transforms all B-scans of a volume.
std::vector<PlaneTransform::Spectrum> spectra_of(const RowFeatures& features, const StripRanges& ranges) {
    std::vector<PlaneTransform::Spectrum> spectra(static_cast<std::size_t>(features.rows));
    parallel_for(0, (features.rows + rows_together - 1) / rows_together, [&](std::int64_t group) {
        PlaneTransform transform(features.depth, features.a_scans, ranges.coarse_z, ranges.coarse_x);
        for (std::int64_t row = group * rows_together; row < std::min(features.rows, (group + 1) * rows_together);
             ++row) {
            spectra[static_cast<std::size_t>(row)] = transform.forward(features.row(row));
        }
    });
    return spectra;
}

// Correlations on the CPU.
class PairsOnCpu : public StripPairs {
  public:
    PairsOnCpu(const RowFeatures& reference, const RowFeatures& moving)
        : reference_(reference), moving_(moving), coarse_reference_(coarser(reference)),
          coarse_moving_(coarser(moving)) {}

    StripRows coarse_strips(std::int64_t half) const override {
        return strips_of(coarse_reference_, coarse_moving_, half);
    }

    std::vector<CoarsePeak> peaks(const StripRanges& ranges, Progress& told) override {
        const auto of_reference = spectra_of(coarse_reference_, ranges), of_moving = spectra_of(coarse_moving_, ranges);
        const StripRows rows = coarse_strips(ranges.half);
        std::vector<CoarsePeak> peaks(static_cast<std::size_t>(rows.moving_rows * ranges.offsets()));
        std::mutex mutex;
        parallel_for(0, (rows.moving_rows + rows_together - 1) / rows_together, [&](std::int64_t group) {
            const std::int64_t first = group * rows_together, end = std::min(rows.moving_rows, first + rows_together);
            const RowRun of_group{std::max<std::int64_t>(0, first - ranges.half),
                                  std::min(rows.moving_rows, end + ranges.half)};
            PlaneTransform transform(coarse_moving_.depth, coarse_moving_.a_scans, ranges.coarse_z, ranges.coarse_x);
            const ShiftMap map = transform.shift_map();
            std::vector<float> maps(static_cast<std::size_t>(of_group.count() * map.cells()));
            for (std::int64_t y = ranges.first_y; y <= ranges.last_y; ++y) {
                for (std::int64_t t = of_group.first; t < of_group.end; ++t) {
                    if (t + y < 0 || t + y >= rows.reference_rows) continue;
                    transform.correlate(of_reference[static_cast<std::size_t>(t + y)],
                                        of_moving[static_cast<std::size_t>(t)],
                                        maps.data() + (t - of_group.first) * map.cells());
                }
                for (std::int64_t row = first; row < end; ++row) {
                    const RowRun run = rows.of(row, y);
                    if (run.count() == 0) continue;
                    const StripMap strip{maps.data() + (run.first - of_group.first) * map.cells(), map.cells(), rows,
                                         run, y};
                    std::vector<float> of_strip(static_cast<std::size_t>(map.cells()));
                    for (std::int32_t cell = 0; cell < map.cells(); ++cell)
                        of_strip[static_cast<std::size_t>(cell)] = strip(cell);
                    peaks[static_cast<std::size_t>(row * ranges.offsets() + y - ranges.first_y)] =
                        peak_of(map, [&](std::int32_t cell) { return of_strip[static_cast<std::size_t>(cell)]; });
                }
            }
            const std::lock_guard lock(mutex);
            told.advance(end - first);
        });
        return peaks;
    }

    void find(std::int64_t half, const std::vector<bool>& wanted, const FindPlace& find,
              std::vector<StripPlace>& places) override {
        const StripRows rows = strips_of(reference_, moving_, half);
        const StripCorrelation correlation = [&](std::int64_t row, std::int64_t y, std::int64_t z, std::int64_t x) {
            const RowRun run = rows.of(row, y);
            float sum = run.count() > 0 ? 0.0F : -1.0F;
            for (std::int64_t t = run.first; t < run.end; ++t) {
                sum += rows.weight(t, y, run.count()) *
                       overlap_product(reference_.row(t + y), moving_.row(t), moving_.depth, moving_.a_scans, z, x);
            }
            return sum;
        };
        parallel_for(0, rows.moving_rows, [&](std::int64_t row) {
            const auto at = static_cast<std::size_t>(row);
            if (wanted[at]) places[at] = find(row, correlation);
        });
    }

  private:
    const RowFeatures& reference_;
    const RowFeatures& moving_;
    RowFeatures coarse_reference_, coarse_moving_;
};

}  // namespace

std::unique_ptr<StripPairs> pairs_on_cpu(const RowFeatures& reference, const RowFeatures& moving) {
    return std::make_unique<PairsOnCpu>(reference, moving);
}

}  // namespace echolux
