// What somebody with a mirror in the sample arm looks at while aligning: the raw spectrum and how full the camera is,
// the fringe on the k grid, the A-scan, and what its peak says. Lines of a raw block are reprocessed on the CPU; the
// background is never the mean of the frame, which would take the mirror away (docs/alignment.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compute/calibrate/spectrum_survey.h"
#include "compute/place.h"
#include "compute/plan/describe.h"
#include "compute/plan/params.h"

namespace echolux {

struct AlignmentWanted {
    std::int64_t line = 0;         // of the block: the first one
    std::int64_t average = 16;     // A-scans whose power is averaged; beyond those of a block, earlier blocks fade
    std::int64_t depth_begin = 0;  // bins: the peak is looked for from here on; 0: past zero delay

    bool operator==(const AlignmentWanted&) const = default;
};

template <>
const std::vector<Field<AlignmentWanted>>& describe<AlignmentWanted>();

// Bins are those without zero padding. um: as the scan's refractive index says; 0: the scale is unknown.
struct AlignmentStats {
    std::optional<double> saturation_percent;  // greatest sample of full scale; nothing: samples have no end
    double clipped_percent = 0;                // samples at full scale
    double contrast = 0;                       // visibility: amplitude of the fringe over the light of both arms
    bool has_peak = false;                     // at least 10 dB above the floor; else what follows means little
    double peak_bin = 0;                       // between bins
    double peak_um = 0;
    double peak_db = 0;   // of |A|, counts
    double floor_db = 0;  // mean power of the noise
    double snr_db = 0;
    double fwhm_bins = 0;  // of |A|
    double fwhm_um = 0;
};

struct AlignmentReading {
    std::int64_t lines = 0;            // of this block that were read
    std::vector<double> spectrum;      // mean of them, counts [samples]
    std::vector<double> min, max;      // of them
    std::vector<double> background;    // what is subtracted [samples]
    bool has_background = false;       // it was recorded; else the slow part of the spectrum itself
    std::vector<float> windowed;       // the mean fringe on the k grid under the window, counts [samples]
    std::vector<float> a_scan_db;      // of the averaged power
    std::int64_t points_per_bin = 1;   // of a_scan_db
    double bin_um = 0;                 // of a whole bin; 0: unknown
    std::optional<double> full_scale;  // counts
    AlignmentStats stats;
};

class Alignment {
  public:
    // Of `spec`: format, geometry, calibration, resampling, window, shaping and dispersion. Throws Error{bad_setting}
    // for a spec that cannot work.
    explicit Alignment(const ReconstructionSpec& spec);
    ~Alignment();

    // Whether `spec` would read the same.
    bool fits(const ReconstructionSpec& spec) const;

    // `block` lies in host memory and is as the spec says; the line and the number of lines are kept inside.
    AlignmentReading read(const Block& block, const AlignmentWanted& wanted);

    // Averages begin anew.
    void forget() { averaged_ = 0; }

  private:
    class Lines;

    LineRange range(const Block& block, const AlignmentWanted& wanted) const;
    Lines& prepared(std::unique_ptr<Lines>& lines, std::int64_t count, bool for_profiles) const;
    std::vector<float> fringes_of(const Block& block, const LineRange& range,
                                  const std::vector<double>& background) const;
    void average_profiles(const std::vector<float>& fringes, std::int64_t lines, std::int64_t wanted);
    double fill_windowed(AlignmentReading& reading);
    void fill_a_scan(AlignmentReading& reading, std::int64_t depth_begin, double light) const;

    ReconstructionSpec spec_;
    double weight_sum_ = 1;            // of the window
    std::unique_ptr<Lines> profiles_;  // with dispersion, zero padded
    std::unique_ptr<Lines> spectra_;   // without: as they enter the transform
    std::vector<double> power_;        // averaged A-scan [points]
    double averaged_ = 0;              // how many A-scans have its noise
};

}  // namespace echolux
