#include "ui/app/calibrate_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/calibrate/spectrum_survey.h"
#include "compute/error.h"
#include "engine/io/calibration_file.h"
#include "engine/scan.h"

namespace echolux {
namespace {

// B-scan positions of the first volume, without what the file holds around their lines.
struct RawPart {
    std::vector<std::byte> bytes;
    Block block;
};

RawPart read_part(SpectraReader& reader, std::int64_t first, std::int64_t b_scans) {
    RawPart part;
    part.bytes.resize(static_cast<std::size_t>(b_scans * reader.bytes_per_b_scan()));
    reader.read(0, first, b_scans, part.bytes);
    part.block.data = part.bytes.data();
    part.block.bytes = std::ssize(part.bytes);
    part.block.b_scans = b_scans;
    return part;
}

SpectrumSurvey survey_of(const Scan& scan, Progress& progress) {
    SpectraReader reader(scan);
    SpectrumSurvey survey(scan.format, scan.geometry);
    progress.begin("averaging", scan.geometry.b_scans, "B-scans");
    for (std::int64_t b = 0; b < scan.geometry.b_scans; ++b) {
        const RawPart part = read_part(reader, b, 1);
        survey.add(part.block, {0, lines_of(part.block, scan.geometry)});
        progress.advance(1);
    }
    progress.end();
    return survey;
}

// `like`: a spectrum of the same instrument, whose length this one must have; nullptr: any.
std::vector<double> spectrum_of(const SpectrumSource& source, const char* what, const std::vector<double>* like,
                                Progress& progress) {
    const std::string ending = source.extension().string();
    const bool is_vector = ending == ".csv" || ending == ".txt" || ending == ".f32" || ending == ".f64";
    const std::vector<double> counts =
        is_vector ? read_calibration(source, 0, what) : survey_of(open_scan(source), progress).mean();
    if (like == nullptr || like->size() == counts.size()) return counts;
    throw Error(ErrorCode::bad_file, fmt::format("has {} samples, mirror 1 has {}", counts.size(), like->size()),
                source.string(), "record all spectra with the same settings of the camera");
}

}  // namespace

std::int64_t run(const MeanSpectrumJob& job, Progress& progress) {
    const Scan scan = open_scan(job.scan, job.settings);
    const SpectrumSurvey survey = survey_of(scan, progress);
    write_calibration(job.output, survey.mean(),
                      fmt::format("counts, mean of {} lines of {}", survey.lines(), job.scan.filename().string()));
    return survey.lines();
}

MirrorCalibration run(const MirrorJob& job, Progress& progress) {
    const std::vector<double> first = spectrum_of(job.mirror_1, "mirror 1", nullptr, progress);
    const std::vector<double> second = spectrum_of(job.mirror_2, "mirror 2", &first, progress);
    const std::vector<double> background = spectrum_of(job.background, "background", &first, progress);
    MirrorPair pair;
    pair.mirrors = {first, second};
    pair.background = background;
    if (!job.dark.empty()) pair.dark = spectrum_of(job.dark, "dark", &first, progress);
    pair.sides = job.sides;
    pair.k_falls = job.k_falls;
    pair.displacement_um = job.displacement_um;
    pair.centre_wavelength_nm = job.centre_wavelength_nm;
    MirrorCalibration found = calibrated_by_mirrors(pair);
    write_calibration(job.k_map, found.k_positions, "sample position of each point of the uniform k grid");
    if (!job.dispersion.empty()) {
        write_calibration(job.dispersion, found.dispersion_rad, "phase theta in rad on the uniform k grid");
    }
    return found;
}

DispersionFound run(const DispersionJob& job, Progress& progress) {
    const Scan scan = open_scan(job.scan, job.settings);
    const std::int64_t b_scan = job.b_scan.value_or(scan.geometry.b_scans / 2);
    if (b_scan < 0 || b_scan >= scan.geometry.b_scans) {
        throw Error(ErrorCode::bad_setting, fmt::format("there is no B-scan {}", b_scan), "--b-scan",
                    fmt::format("they count from 0 to {}", scan.geometry.b_scans - 1));
    }
    SpectraReader reader(scan);
    const RawPart part = read_part(reader, b_scan, 1);
    DispersionSearch search = job.search;
    if (search.depth_begin == 0) search.depth_begin = scan.recipe.depth_begin;
    if (search.depth_end == 0) search.depth_end = scan.recipe.depth_end;
    return searched_dispersion(scan.plan(1), part.block, search, progress);
}

DispersionFound searched_dispersion(const ReconstructionPlan& plan, const Block& block, const DispersionSearch& wanted,
                                    Progress& progress) {
    constexpr double steps = 100;
    double told = 0;
    progress.begin("searching", static_cast<std::int64_t>(steps), "%");
    const DispersionFound found = searched_dispersion(plan, block, wanted, [&](double done) {
        const double now = std::floor(done * steps);
        progress.advance(static_cast<std::int64_t>(now - told));
        told = now;
        return true;
    });
    progress.end();
    return found;
}

}  // namespace echolux
