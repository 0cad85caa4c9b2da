#include "app/jobs/calibrate_sources.h"

#include <fmt/format.h>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/file_name.h"
#include "engine/io/number_file.h"

namespace echolux {
namespace {

// Only of the first volume.
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

bool is_spectrum_file(const SpectrumSource& source) {
    const std::string ending = lower_ending(source);
    return ending == ".csv" || ending == ".txt" || ending == ".f32" || ending == ".f64";
}

RawPart read_part(SpectraReader& reader, std::int64_t first, std::int64_t b_scans) {
    RawPart part;
    part.bytes.resize(static_cast<std::size_t>(b_scans * reader.bytes_per_b_scan()));
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

std::vector<double> mean_spectrum(const SpectrumSource& source, const char* what, std::int64_t samples,
                                  const char* like, Progress& progress) {
    const std::vector<double> counts =
        is_spectrum_file(source) ? read_calibration(source, 0, what) : survey_of(open_scan(source), progress).mean();
    if (samples == 0 || std::ssize(counts) == samples) return counts;
    throw Error(ErrorCode::bad_file, fmt::format("has {}, {} has {}", counted(counts.size(), "samples"), like, samples),
                source.string(), "record all spectra with the same settings of the camera");
}

}  // namespace echolux
