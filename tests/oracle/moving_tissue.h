// Tissue that moves as a whole, for tests of bulk motion.
#pragma once

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "compute/indexing.h"
#include "tests/oracle/flow_run.h"

namespace echolux {

// Speckle of 20 dB that is still except for a vessel in a tenth of the depth, and that moves as a whole by 0.6 rad rms
// from line to line.
class MovingTissue {
  public:
    static constexpr std::int64_t bins = 256, lines = 120, vessel_begin = 100, vessel_end = 125;

    explicit MovingTissue(double moving_share = 0) : fields(lines, bins) {
        ComplexNormal normal(6);
        std::mt19937 random(7);
        std::normal_distribution<double> step(0, 0.6);
        std::vector<std::complex<double>> speckle;
        for (std::int64_t z = 0; z < bins; ++z) speckle.push_back(normal());
        double bulk = 0;
        for (std::int64_t a = 0; a < lines; ++a, bulk += step(random)) {
            for (std::int64_t z = 1; z < bins; ++z) {
                const bool flows =
                    (z >= vessel_begin && z < vessel_end) || static_cast<double>(z % 20) < 20 * moving_share;
                const double speed = flows ? 1.5 + 0.03 * static_cast<double>(z % 50) : 0;
                fields.at(a, z) =
                    speckle[index(z)] * std::polar(1.0, bulk + speed * static_cast<double>(a)) + 0.1 * normal();
            }
        }
    }

    // rms phase of the tissue.
    static double rms(const FlowVolumes& volumes) {
        double sum = 0, count = 0;
        for (std::int64_t a = 2; a < lines - 2; ++a) {
            for (std::int64_t z = 8; z < bins - 8; ++z) {
                if ((z > vessel_begin - 4 && z < vessel_end + 4) || volumes.phasor(a, z) == 0.0) continue;
                sum += std::norm(std::arg(volumes.phasor(a, z)));
                ++count;
            }
        }
        return std::sqrt(sum / count);
    }

    LineBins fields;
};

}  // namespace echolux
