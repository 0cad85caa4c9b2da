// Calibration of the open instrument from its own spectra:
// - mean spectra without light, without a sample, and of a mirror at two depths
// - k map and dispersion from the mirrors
// - readings of the newest block for the alignment view
// Results are written to files that the settings name, so that undo, sessions and recordings include them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/jobs/jobs.h"
#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/mirrors.h"
#include "compute/plan/describe.h"
#include "engine/analysis/alignment.h"
#include "engine/scan/settings.h"

namespace echolux {

class Workspace;

enum class Spectrum { dark, background, mirror_1, mirror_2 };
inline constexpr std::size_t kinds_of_spectra = 4;

std::string_view name_of(Spectrum which);  // "dark", "background", "mirror 1", "mirror 2"

// A mean spectrum.
struct MeanSpectrum {
    std::vector<double> counts;  // mean [samples]
    std::int64_t lines = 0;
    double time_s = 0;  // time on the clock of the workspace
};

// Facts about the mirrors that only the user knows.
struct MirrorFacts {
    MirrorSides sides = MirrorSides::same;
    bool wavelength_rises = true;  // k falls along the samples
    double displacement_um = 0;    // if 0, unknown
    double centre_wavelength_nm = 0;
};

template <>
const std::vector<Field<MirrorFacts>>& describe<MirrorFacts>();

class Calibrating {
  public:
    Calibrating();
    Calibrating(const Calibrating&) = delete;
    Calibrating& operator=(const Calibrating&) = delete;

    // Settings for controls, such as "mirrors.displacement_um". They are not part of any file.
    const std::vector<BoundField>& fields() const { return settings_.fields(); }

    // Discards all spectra and readings, because another document will be open.
    void forget();

    // Adds new lines to the spectrum being recorded. Call it once per frame.
    void update(Workspace& work);

    // ---- taking means
    bool can_take(Workspace& work) const;  // true if raw spectra are available
    // Records a mean of the next lines, or of the available lines if the source is not running. `request` fails if
    // the recording ends early.
    void take(Spectrum which, std::shared_ptr<UserRequest> request = {});
    std::optional<Spectrum> taking() const { return taking_; }
    double share_taken() const;  // 0 to 1
    void stop_taking();
    const MeanSpectrum* measured(Spectrum which) const;        // nullptr: not recorded
    void set_spectrum(Spectrum which, MeanSpectrum measured);  // sets a spectrum recorded earlier

    // ---- mirrors
    MirrorFacts facts;
    bool can_compute(Workspace& work) const;  // true if both mirrors and a background are available
    void compute(Workspace& work);            // throws Error{bad_setting}
    const std::optional<MirrorCalibration>& found() const { return found_; }
    void apply(Workspace& work);  // computes first; a job writes the k map and sets it

    // ---- dispersion of the displayed B-scan, searched by a job
    bool can_search(Workspace& work) const;
    void search_dispersion(Workspace& work);

    // ---- the alignment view
    AlignmentRequest wanted;
    bool is_still = false;       // pauses reading
    void look(Workspace& work);  // reads the newest block if it or a setting changed; throws Error{bad_setting}
    AlignmentWatch& watch() { return watch_; }

  private:
    Settings settings_;

    void add_lines(Workspace& work);
    void finish_taking(Workspace& work);
    void keep(Workspace& work, std::string_view name, const std::string& key, std::vector<double> values,
              const std::string& comment, std::map<std::string, Value> with = {});

    std::uint64_t opened_ = 0;  // number of forget() calls; identifies the document to which results of jobs belong
    std::array<std::optional<MeanSpectrum>, kinds_of_spectra> measured_;
    std::optional<Spectrum> taking_;
    std::shared_ptr<UserRequest> taking_for_;
    std::optional<SpectrumSurvey> survey_;
    std::optional<std::uint64_t> surveyed_;  // sequence number of the last block
    std::optional<MirrorCalibration> found_;
    std::uint64_t search_ = 0;  // id of the job

    // State of the alignment view.
    std::optional<Alignment> alignment_;
    std::optional<std::uint64_t> read_;  // sequence number of the last block
    AlignmentRequest read_as_;
    AlignmentWatch watch_;
};

}  // namespace echolux
