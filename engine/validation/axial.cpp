// Validates width and side lobes of a mirror at the centre of the depth range and of a deep one.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/validation/model_instrument.h"
#include "engine/validation/point_response.h"
#include "engine/validation/resampling_methods.h"
#include "engine/validation/topics.h"

namespace echolux {
namespace {

constexpr std::array<std::size_t, 2> depths{2, 4};  // indices of published_depths

}  // namespace

CheckTable validated_axial_response(ValidationRun& run, AxialTable& axial) {
    CheckTable table{
        "Axial response",
        "The model instrument, a mirror at 0.4 and 0.7 of the range, Hann window. Expected: the sum of window "
        "times source over the true wavenumbers;\nside lobes: those, or the published artefact of the "
        "interpolation where that is higher; the NUFFT's kernel has a table of its own.",
        {}};
    const ModelInstrument instrument;
    const Envelope envelope = envelope_of(instrument);
    constexpr auto length = static_cast<double>(ModelInstrument::samples);
    const double expected_fwhm = envelope.fwhm(length), ideal_db = envelope.side_lobe_db(length);
    const double main_lobe_bins = envelope.main_lobe_bins(length);
    table.basis += fmt::format(" The main lobe ends at {:.3f} bins, the first minimum of that sum.", main_lobe_bins);
    for (const ResamplingMethod& method : axial_methods()) axial.rows.push_back({method.name, {}});
    for (const std::size_t depth : depths) {
        const std::string place = fmt::format("{} of the range", published_depths[depth]);
        const std::vector<float> line = instrument.fringe(published_depths[depth] * instrument.depth_limit_um());
        axial.mirrors.push_back("simulated, " + place);
        for (std::size_t i = 0; i < axial.rows.size(); ++i) {
            const ResamplingMethod method = axial_methods()[i];
            ReconstructionSpec spec = instrument.spec(1);
            method.choose_in(spec.recipe);
            spec.recipe.zero_padding = 4;
            const PointResponse found = point_response(run.amplitudes(spec, line), 4, main_lobe_bins);
            const std::string what = method.name + ", " + place;
            table.checks.push_back(near(what + ": FWHM", "bins", found.fwhm_bins, expected_fwhm, 0.01 * expected_fwhm));
            axial.rows[i].cells.push_back({found.fwhm_bins, found.side_lobe_db});
            if (method.artefacts_db.empty()) continue;
            const double expected_db = std::max(ideal_db, method.artefacts_db[depth]);
            table.checks.push_back(
                at_most(what + ": side lobes", "dB", found.side_lobe_db, expected_db + 3, expected_db));
        }
    }
    return table;
}

}  // namespace echolux
