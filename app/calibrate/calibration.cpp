#include "app/calibrate/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/file_name.h"
#include "engine/io/number_file.h"

namespace echolux {

// ---- B-scans and mean spectra

bool is_spectrum_file(const SpectrumSource& source) {
    const std::string ending = lower_ending(source);
    return ending == ".csv" || ending == ".txt" || ending == ".f32" || ending == ".f64";
}

RawPart read_part(SpectraReader& reader, std::int64_t first, std::int64_t b_scans) {
    RawPart part;
    part.bytes.resize(index(b_scans * reader.bytes_per_b_scan()));
    reader.read(0, first, b_scans, part.bytes);
    part.block.data = part.bytes.data();
    part.block.bytes = std::ssize(part.bytes);
    part.block.first_b_scan = first;
    part.block.b_scans = b_scans;
    return part;
}

void require_data(const Scan& scan, std::int64_t b_scan) {
    if (!is_missing(scan.missing, 0, b_scan)) return;
    throw Error(ErrorCode::bad_file, fmt::format("B-scan {} has no data: the recording lost it", b_scan),
                scan.path.string(), "choose another B-scan, or record it again");
}

namespace {

// Calls take(block) for every recorded B-scan of the first volume.
template <class Take>
void for_each_b_scan(const Scan& scan, Progress& progress, const Take& take) {
    SpectraReader reader(scan);
    const BScanRun run = run_from(scan.missing, 0, 0, scan.geometry.b_scans);
    if (run.is_missing && run.end == scan.geometry.b_scans) require_data(scan, 0);
    progress.begin("averaging", scan.geometry.b_scans, "B-scans");
    for (std::int64_t b = 0; b < scan.geometry.b_scans; ++b) {
        if (!is_missing(scan.missing, 0, b)) take(read_part(reader, b, 1).block);
        progress.advance(1);
    }
    progress.end();
}

}  // namespace

SpectrumSurvey survey_of(const Scan& scan, Progress& progress) {
    SpectrumSurvey survey(scan.format, scan.geometry);
    for_each_b_scan(scan, progress, [&](const Block& block) {
        survey.add(block, {0, lines_of(block, scan.geometry)});
    });
    return survey;
}

MeanProfile mean_profile(const Scan& scan, const ReconstructionSpec& plan, Progress& progress) {
    MeanProfile profile(plan);
    for_each_b_scan(scan, progress, [&](const Block& block) { profile.add(block); });
    return profile;
}

std::vector<double> mean_spectrum(const SpectrumSource& source, const std::vector<std::string>& settings,
                                  const char* what, std::int64_t samples, const char* like, Progress& progress) {
    const std::vector<double> counts = is_spectrum_file(source)
                                           ? read_calibration(source, 0, what)
                                           : survey_of(open_scan(source, settings), progress).mean();
    if (samples == 0 || std::ssize(counts) == samples) return counts;
    throw Error(ErrorCode::bad_file, fmt::format("has {}, {} has {}", plural(counts.size(), "samples"), like, samples),
                source.string(), "record all spectra with the same settings of the camera");
}

// ---- Dispersion

void require_sharp(const DispersionResult& found, const DispersionSearch& wanted, const std::string& where) {
    if (is_sharp(found, wanted.range_rad)) return;
    const char* remedy = "choose one reflector with `region`, more A-scans with `lines`, or a wider `range_rad`";
    const auto refuse = [&](const std::string& problem, const char* how) {
        throw Error(ErrorCode::bad_file, problem, where, how);
    };
    const bool is_finite = std::isfinite(found.a2_rad) && std::isfinite(found.a3_rad);
    if (is_finite && !has_sharp_depths(found))
        refuse("shows no reflector that dispersion compensation sharpens", remedy);
    const std::string doubt = is_finite ? doubt_about(found, wanted.range_rad) : "";
    if (!doubt.empty()) refuse(doubt, "choose one reflector with `region`, or widen `range_rad`; see also the k map");
    refuse(fmt::format("gets no sharper: entropy over depth {:.4f} before, {:.4f} at best", found.entropy_before,
                       found.entropy),
           "choose one reflector with `region`, and a `range_rad` around what is expected");
}

DispersionResult searched_dispersion(const ReconstructionSpec& plan, const Block& block, const DispersionSearch& wanted,
                                     Progress& progress) {
    constexpr double steps = 100;  // progress counts whole steps
    double reported = 0;
    progress.begin("searching", static_cast<std::int64_t>(steps), "%");
    const DispersionResult found = searched_dispersion(plan, block, wanted, [&](double done) {
        const double now = std::max(reported, std::floor(done * steps));
        progress.advance(static_cast<std::int64_t>(now - reported));
        reported = now;
        return true;
    });
    progress.end();
    return found;
}

}  // namespace echolux
