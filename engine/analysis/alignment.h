// Readings for aligning the instrument with a mirror in the sample arm: the raw spectrum and the saturation of the
// camera, the fringe on the k grid, the A-scan and its peak. Lines of a raw block are reconstructed on the CPU. The
// background is never the mean of the frame, which would remove the mirror (docs/alignment.md).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "compute/calibrate/calibrate.h"
#include "compute/plan/described.h"
#include "compute/plan/params.h"
#include "compute/voxel_target.h"

namespace echolux {

struct AlignmentRequest {
    std::int64_t line = 0;  // first line of the block
    // A-scans whose power is averaged. If a block has fewer, earlier blocks are included with exponential decay.
    std::int64_t average = 16;
    std::int64_t depth_begin = 0;  // in bins; the peak is searched from here on; 0: past zero delay

    bool operator==(const AlignmentRequest&) const = default;
};

template <>
const std::vector<Field<AlignmentRequest>>& describe<AlignmentRequest>();

// Bins are without zero padding. Lengths in um use the scan's refractive index; 0: the scale is unknown.
struct AlignmentStats {
    std::optional<double> saturation_percent;  // largest sample relative to full scale; nullopt for float samples
    double clipped_percent = 0;                // samples at full scale
    double contrast = 0;                       // visibility: fringe amplitude over the light of both arms
    bool has_peak = false;                     // at least 10 dB above the floor; otherwise the values below mean little
    double peak_bin = 0;                       // interpolated between bins
    double peak_um = 0;
    double peak_db = 0;   // level of |A| in counts
    double floor_db = 0;  // mean power of the noise
    double snr_db = 0;
    double fwhm_bins = 0;  // of |A|
    double fwhm_um = 0;
};

struct AlignmentReading {
    std::int64_t lines = 0;            // lines read from this block
    std::vector<double> spectrum;      // mean of the lines, counts [samples]
    std::vector<double> min, max;      // over the lines
    std::vector<double> background;    // as subtracted [samples]
    bool has_background = false;       // it was recorded; otherwise the slow part of the spectrum is used
    std::vector<float> windowed;       // mean fringe on the k grid times the window, counts [samples]
    std::vector<float> a_scan_db;      // averaged power in dB
    std::int64_t points_per_bin = 1;   // points of a_scan_db per bin
    double bin_um = 0;                 // size of a whole bin, 0 if unknown
    std::optional<double> full_scale;  // counts
    AlignmentStats stats;
};

// Reads lines of blocks. Use from one thread; buffers are reused between readings.
class Alignment {
  public:
    // Uses format, geometry, calibration, resampling, window, shaping and dispersion of `spec`. Throws
    // Error{bad_setting} for an invalid spec.
    explicit Alignment(const ReconstructionSpec& spec);
    ~Alignment();

    // Returns whether `spec` would give the same readings.
    bool fits(const ReconstructionSpec& spec) const;

    // Reads lines of a block, which must be in host memory and match the spec. The line and the number of lines are
    // clamped to the block.
    AlignmentReading read(const Block& block, const AlignmentRequest& wanted);

    // Restarts the averages.
    void forget() { averaged_ = 0; }

  private:
    class Lines;

    LineRange range(const Block& block, const AlignmentRequest& wanted) const;
    Lines& prepared(std::unique_ptr<Lines>& lines, std::int64_t count, bool for_profiles) const;
    std::vector<float> fringes_of(const Block& block, const LineRange& range,
                                  const std::vector<double>& background) const;
    void average_profiles(const std::vector<float>& fringes, std::int64_t lines, std::int64_t wanted);
    double fill_windowed(AlignmentReading& reading);
    void fill_a_scan(AlignmentReading& reading, std::int64_t depth_begin, double light) const;

    ReconstructionSpec spec_;
    double weight_sum_ = 1;            // sum of the window's weights
    std::unique_ptr<Lines> profiles_;  // with dispersion and zero padding
    std::unique_ptr<Lines> spectra_;   // without these, as the spectra enter the transform
    std::vector<double> power_;        // averaged A-scan [points]
    double averaged_ = 0;              // number of A-scans that its noise corresponds to
};

// State of an alignment view between readings: the peak-hold A-scan, a frozen reading for comparison, and the history
// of the peak.
class AlignmentWatch {
  public:
    // One point of the peak's history.
    struct PeakPoint {
        double time_s = 0;
        double peak_db = 0;
        double snr_db = 0;
        double peak_bin = 0;
        double fwhm_bins = 0;
    };
    static constexpr std::size_t max_moments = 2000;

    // Adds a reading; `time_s` must not decrease. A reading of another length clears everything.
    void add(AlignmentReading reading, double time_s);
    void forget();

    const std::optional<AlignmentReading>& newest() const { return newest_; }
    const std::deque<PeakPoint>& moments() const { return moments_; }  // oldest first

    // hold_peaks() starts or ends peak hold. held_db() is the max level of each point since then, empty without peak
    // hold.
    void hold_peaks(bool hold);
    const std::vector<float>& held_db() const { return held_db_; }
    bool holds_peaks() const { return holds_; }

    // Freezes the newest reading for comparison and replaces an earlier one.
    void freeze() { frozen_ = newest_; }
    void thaw() { frozen_.reset(); }
    const std::optional<AlignmentReading>& frozen() const { return frozen_; }

  private:
    std::optional<AlignmentReading> newest_, frozen_;
    std::deque<PeakPoint> moments_;
    bool holds_ = false;
    std::vector<float> held_db_;
};

}  // namespace echolux
