// Calibration of the instrument that is open, from its own spectra: means of many lines without light, without a sample
// and of a mirror at two depths; the k map and the dispersion that follow from the mirrors; and what the alignment view
// shows of the newest block. What is found becomes files, named by the settings like any other calibration, so that it
// is undone, saved and recorded with them.
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
#include "compute/calibrate/mirrors.h"
#include "compute/calibrate/spectrum_survey.h"
#include "engine/analysis/alignment_watch.h"
#include "engine/scan/settings.h"

namespace echolux {

class Workspace;

enum class Spectrum { dark, background, mirror_1, mirror_2 };
inline constexpr std::size_t kinds_of_spectra = 4;

std::string_view name_of(Spectrum which);  // "dark", "background", "mirror 1", "mirror 2"

struct TakenSpectrum {
    std::vector<double> counts;  // mean [samples]
    std::int64_t lines = 0;
    double time_s = 0;  // of the workspace
};

// What only the user knows.
struct MirrorFacts {
    MirrorSides sides = MirrorSides::same;
    bool wavelength_rises = true;  // along the samples: k falls
    double displacement_um = 0;    // 0: unknown
    double centre_wavelength_nm = 0;
};

template <>
const std::vector<Field<MirrorFacts>>& describe<MirrorFacts>();

class Calibrating {
  public:
    Calibrating();
    Calibrating(const Calibrating&) = delete;
    Calibrating& operator=(const Calibrating&) = delete;

    // "mirrors.displacement_um", "alignment.average" ...: for controls; of no file.
    const std::vector<BoundField>& fields() const { return settings_.fields(); }

    // All that was taken and read: something else will be open.
    void forget();

    // Once a picture: lines that came are added to what is being taken.
    void update(Workspace& work);

    // ---- taking means
    bool can_take(Workspace& work) const;  // raw spectra are there
    // Of the coming lines, or of those that are there where none come. `operation`: that it belongs to.
    void take(Spectrum which, std::shared_ptr<Operation> operation = {});
    std::optional<Spectrum> taking() const { return taking_; }
    double share_taken() const;
    void stop_taking();
    const TakenSpectrum* taken(Spectrum which) const;  // nullptr: not yet
    void give(Spectrum which, TakenSpectrum taken);    // one that was taken before

    // ---- mirrors
    MirrorFacts facts;
    bool can_compute(Workspace& work) const;  // both mirrors and a background are there
    void compute(Workspace& work);            // Throws Error{bad_setting}
    const std::optional<MirrorCalibration>& found() const { return found_; }
    void apply(Workspace& work);  // computes first; a job writes the k map and names it in the settings

    // ---- dispersion of the B-scan that is shown, by a search: a job
    bool can_search(Workspace& work) const;
    void search_dispersion(Workspace& work);

    // ---- the alignment view
    AlignmentWanted wanted;
    bool is_still = false;       // the newest block is not read
    void look(Workspace& work);  // reads the newest block where it, or a setting, is new. Throws Error{bad_setting}
    AlignmentWatch& watch() { return watch_; }

  private:
    Settings settings_;

    void add_lines(Workspace& work);
    void finish_taking(Workspace& work);
    void keep(Workspace& work, std::string_view name, const std::string& key, std::vector<double> values,
              const std::string& comment, std::map<std::string, Value> with = {});

    std::uint64_t opened_ = 0;  // how often forget() was called: what jobs find belongs to one of them
    std::array<std::optional<TakenSpectrum>, kinds_of_spectra> taken_;
    std::optional<Spectrum> taking_;
    std::shared_ptr<Operation> taking_for_;
    std::optional<SpectrumSurvey> survey_;
    std::optional<std::uint64_t> surveyed_;  // sequence of the last block
    std::optional<MirrorCalibration> found_;
    std::uint64_t search_ = 0;  // the job

    std::optional<Alignment> alignment_;
    std::optional<std::uint64_t> read_;  // sequence of the last block
    AlignmentWanted read_as_;
    AlignmentWatch watch_;
};

}  // namespace echolux
