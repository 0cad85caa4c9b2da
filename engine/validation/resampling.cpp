// Validates the roll-off and artefacts of interpolation (docs/algorithms.md 3.1).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "engine/validation/model_instrument.h"
#include "engine/validation/point_response.h"
#include "engine/validation/resampling_methods.h"
#include "engine/validation/topics.h"

namespace echolux {
namespace {

constexpr auto length = static_cast<double>(ModelInstrument::samples);

// Returns the limit of the arithmetic: f32 throughout, or the operands of a matrix product on tensor cores, whose
// errors are about 90 dB below a lone peak (docs/algorithms.md 4.2).
double arithmetic_floor_db(const ResamplingMethod& method) {
    return method.resample == Resample::nudft ? -80 : -105;
}

struct FoundMirror {
    double loss_db, artefact_db, misplaced_bins;
};

// Mirrors of the model instrument at several depths.
class Mirrors {
  public:
    explicit Mirrors(ValidationRun& run) : run_(run) {
        // Half the mean of window times source: the height of a mirror's peak without loss.
        const double sum_of_hann = (length - 1) / 2;
        whole_ = std::accumulate(envelope.weights.begin(), envelope.weights.end(), 0.0) / sum_of_hann / 2;
    }

    FoundMirror at(const ResamplingMethod& method, double share_of_range) const {
        const double depth_um = share_of_range * instrument.depth_limit_um();
        const std::vector<float> line = instrument.fringe(depth_um);
        ReconstructionSpec spec = instrument.spec(1);
        method.choose_in(spec.recipe);
        const std::vector<double> profile = run_.amplitudes(spec, line);
        spec.recipe.zero_padding = 4;
        const PointResponse peak = point_response(run_.amplitudes(spec, line), 4, main_lobe_bins);
        return {decibels(peak.height / whole_), worst_artefact_db(profile, 30),
                std::abs(peak.bin - instrument.bin_of(depth_um))};
    }

    double expected_loss_db(const ResamplingMethod& method, double share_of_range) const {
        return decibels(envelope.mean_response(instrument.bin_of(share_of_range * instrument.depth_limit_um()), length,
                                               [&](double f) { return method.left_of(f); }));
    }

    const ModelInstrument instrument;
    const Envelope envelope = envelope_of(instrument);
    const double main_lobe_bins = envelope.main_lobe_bins(length);

  private:
    ValidationRun& run_;
    double whole_;
};

}  // namespace

std::vector<CheckTable> validated_resampling(ValidationRun& run) {
    CheckTable loss{
        "Roll-off of resampling",
        "The model instrument (2048 samples, 845 nm, 105 nm), a mirror at parts of the depth range. Expected: "
        "the interpolation's response\nH(f) in closed form, averaged over window, source and local sampling "
        "of k.",
        {}};
    CheckTable artefact{
        "Artefacts of resampling",
        "The same mirrors: the highest amplitude farther than 30 bins from the peak. Expected: a float64 "
        "model. The NUFFT's are its kernel's error: table NUFFT.",
        {}};
    CheckTable place{
        "Place of a mirror", "The same mirrors: the largest distance between where one is found and where it is.", {}};
    const Mirrors mirrors(run);
    for (const ResamplingMethod& method : resampling_methods()) {
        double farthest = 0;
        for (std::size_t i = 0; i < published_depths.size(); ++i) {
            if (run.quick() && i % 2 == 0) continue;
            const FoundMirror found = mirrors.at(method, published_depths[i]);
            const std::string what = fmt::format("{}, {:.2f} of the range", method.name, published_depths[i]);
            loss.checks.push_back(
                near(what, "dB", found.loss_db, mirrors.expected_loss_db(method, published_depths[i]), 0.1));
            farthest = std::max(farthest, found.misplaced_bins);
            if (method.artefacts_db.empty()) continue;
            const double expected_db = method.artefacts_db[i];
            artefact.checks.push_back(at_most(what, "dB", found.artefact_db,
                                              std::max(expected_db + 3, arithmetic_floor_db(method)), expected_db));
        }
        place.checks.push_back(at_most(method.name, "bins", farthest, 0.02, 0));
    }
    return {loss, artefact, place};
}

}  // namespace echolux
