#include "engine/validation/validation.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/build.h"
#include "engine/validation/real_recordings.h"

namespace echolux {

namespace {

// Formats a value with the number of digits that suits its unit.
std::string spelled_number(double value, const std::string& unit) {
    if (unit == "dB") return fmt::format("{:.2f}", std::round(value * 100) / 100 + 0.0);  // + 0.0 avoids -0.00
    if (unit == "bins") return fmt::format("{:.3f}", value);
    return std::abs(value) >= 0.5 ? fmt::format("{:.4f}", value) : fmt::format("{:.2g}", value + 0.0);
}

std::string with_unit(double value, const std::string& unit) {
    return spelled_number(value, unit) + (unit.empty() ? "" : " " + unit);
}

// Returns the bound as shown in the table.
std::string spelled_bound(const Check& check) {
    switch (check.bound) {
        case Bound::near: return fmt::format("± {:.2g}", check.limit);
        case Bound::at_least: return "≥ " + spelled_number(check.limit, check.unit);
        case Bound::at_most: return "≤ " + spelled_number(check.limit, check.unit);
        case Bound::none: return "reported";
    }
    return {};
}

std::string row(const Check& check) {
    return fmt::format("| {} | {} | {} | {} | {} |\n", check.what, with_unit(check.found, check.unit),
                       check.expected ? spelled_number(*check.expected, check.unit) : "", spelled_bound(check),
                       check.passed() ? "passed" : "**FAILED**");
}

std::string text_of(const CheckTable& table) {
    std::string text = fmt::format("\n## {}\n\n{}\n\n| what | measured | expected | bound | |\n|---|---|---|---|---|\n",
                                   table.title, table.basis);
    for (const Check& check : table.checks) text += row(check);
    return text;
}

std::string text_of(const AxialTable& table) {
    std::string text = "| resampling |", line = "|---|";
    for (const std::string& mirror : table.mirrors) {
        text += fmt::format(" {}: FWHM, side lobes |", mirror);
        line += "---|";
    }
    text += "\n" + line + "\n";
    for (const AxialTable::Row& row : table.rows) {
        text += fmt::format("| {} |", row.method);
        for (const AxialCell& cell : row.cells) {
            text += fmt::format(" {:.2f} bins, {:.1f} dB |", cell.fwhm_bins, cell.side_lobe_db);
        }
        text += "\n";
    }
    return text;
}

}  // namespace

bool Check::passed() const {
    if (!is_measured) return false;
    switch (bound) {
        case Bound::near: return std::abs(found - expected.value_or(NAN)) <= limit;
        case Bound::at_least: return found >= limit;
        case Bound::at_most: return found <= limit;
        case Bound::none: return std::isfinite(found);
    }
    return false;
}

Check near(std::string what, std::string unit, double found, double expected, double distance) {
    return {std::move(what), std::move(unit), found, expected, Bound::near, distance};
}

Check at_least(std::string what, std::string unit, double found, double limit, std::optional<double> expected) {
    return {std::move(what), std::move(unit), found, expected, Bound::at_least, limit};
}

Check at_most(std::string what, std::string unit, double found, double limit, std::optional<double> expected) {
    return {std::move(what), std::move(unit), found, expected, Bound::at_most, limit};
}

Check about(std::string what, double found_db, double expected_db, double demanded_db) {
    return at_least(std::move(what), "dB", found_db, std::max(expected_db - 3, demanded_db), expected_db);
}

Check reported(std::string what, std::string unit, double found, std::optional<double> expected) {
    return {std::move(what), std::move(unit), found, expected, Bound::none, 0};
}

std::vector<const Check*> ValidationReport::failures() const {
    std::vector<const Check*> failed;
    for (const std::vector<CheckTable>* all : {&tables, &real.tables}) {
        for (const CheckTable& table : *all) {
            for (const Check& check : table.checks) {
                if (!check.passed()) failed.push_back(&check);
            }
        }
    }
    return failed;
}

static std::string row(const RealSection::Row& row) {
    const BoundaryErrors& errors = row.errors;
    const std::string mean = std::isnan(errors.mean_rows) ? "none" : fmt::format("{:.1f} px", errors.mean_rows);
    return fmt::format("| {} | {} | {} | {:.2f} | {:.2f} | {} | {:.2f} | {:.2f} |\n", row.kind,
                       row.boundary.empty() ? "all" : row.boundary, row.count, errors.within_3, errors.within_5, mean,
                       errors.ok, errors.false_ok);
}

// Rows of presets, columns of confidence.
static std::string text_of(const std::vector<RealSection::Reliability>& all) {
    const auto& edges = RealSection::Reliability::edges;
    std::string text =
        "\n### Reliability\n\nShare of the places that are more than 8 px off, by their confidence, and in parentheses "
        "the number of places. Places\nare `ok` from 1 on. Line scans, disc and circle scans, and skin with their "
        "presets; all boundaries together.\n\n| preset |";
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) text += fmt::format(" {:g} to {:g} |", edges[i], edges[i + 1]);
    text += "\n|---|---|---|---|---|---|---|---|---|\n";
    for (const RealSection::Reliability& one : all) {
        text += fmt::format("| {} |", one.preset);
        for (std::size_t i = 0; i < one.places.size(); ++i) {
            const auto places = static_cast<double>(one.places[i]);
            text += one.places[i] > 0
                        ? fmt::format(" {:.3f} ({}) |", static_cast<double>(one.wrong[i]) / places, one.places[i])
                        : " |";
        }
        text += "\n";
    }
    return text;
}

static std::string text_of(const RealSection& section) {
    std::string text = "\n## Real recordings\n\n";
    if (section.is_empty()) return text + "Skipped: `data` names no folder with real recordings.\n";
    text +=
        "Single B-scans of eyes, skin and gel with boundaries that the device found or people drew. Shares are means "
        "over the\nboundaries of a kind. Missing places are not within 3 px; false ok: the share of places marked `ok` "
        "that are more than\n8 px off. Eyes: preset `retina`; skin: preset `layers` with one rising boundary. The "
        "known boundaries are good to 1 to 5 px.\n\n"
        "| kind | boundary | boundaries | within 3 px | within 5 px | mean error | marked ok | false ok |\n"
        "|---|---|---|---|---|---|---|---|\n";
    for (const RealSection::Row& each : section.rows) text += row(each);
    text += text_of(section.reliability);
    for (const CheckTable& table : section.tables) text += text_of(table);
    return text;
}

// Topics whose expected values are computed or simulated only.
constexpr const char* not_on_real_data =
    "\nNot validated on real data: volumes of layers, layers of diseased eyes, the presets anterior and coating, the "
    "dermis of skin, OS and\nRPE-top, angiography, Doppler velocities and flow, registration, attenuation, compressive "
    "sensing. Their tables above use\nsimulated or painted scenes.\n";

std::string markdown_of(const ValidationReport& report) {
    std::size_t all = 0;
    for (const CheckTable& table : report.tables) all += table.checks.size();
    for (const CheckTable& table : report.real.tables) all += table.checks.size();
    std::string text = fmt::format(
        "# Validation\n\n"
        "Written by the {}validation of Echolux, version {}, on {}: {}, {} failed.\n\n"
        "Expected values are closed forms, sums in double precision over the true wavenumber of every sample, or "
        "published\n"
        "figures; except for recorded mirrors, they use no Fourier transform, interpolation or table of the program.\n"
        "[Algorithms](algorithms.md) explains the methods and the model instrument.\n\n"
        "## Width and side lobes\n\n"
        "FWHM of the amplitude, and the highest amplitude beyond the main lobe, without zero delay; Hann window, or "
        "that of\n"
        "the mirror's scan.\n\n"
        "<!-- axial:begin -->\n{}<!-- axial:end -->\n",
        report.quick ? "quick " : "", version, report.backend, plural(all, "checks"), report.failures().size(),
        text_of(report.axial));
    for (const CheckTable& table : report.tables) text += text_of(table);
    return text + text_of(report.real) + not_on_real_data;
}

static void append(std::vector<CheckTable>& tables, std::vector<CheckTable> more) {
    for (CheckTable& table : more) tables.push_back(std::move(table));
}

ValidationReport run(const ValidationJob& job, Progress& progress) {
    constexpr std::int64_t topics = 9;
    ValidationRun validation(job.backend, job.quick, progress);
    ValidationReport report;
    report.quick = job.quick;
    progress.begin("validating", topics + (job.mirrors.empty() ? 0 : 1) + (job.recordings.empty() ? 0 : 1), "topics");
    const auto add = [&](std::vector<CheckTable> tables) {
        append(report.tables, std::move(tables));
        progress.advance(1);
    };
    add({validated_axial_response(validation, report.axial)});
    if (!job.mirrors.empty()) add(validated_mirrors(validation, job.mirrors, job.settings, report.axial));
    add(validated_resampling(validation));
    add({validated_nufft(validation)});
    add(validated_full_range(validation));
    add({validated_sensing(validation)});
    add({validated_velocities(validation)});
    add({validated_angiograms(validation)});
    add({validated_surfaces(validation)});
    add({validated_filters(validation)});
    if (!job.recordings.empty()) {
        report.real = validated_recordings(validation, job.recordings);
        progress.advance(1);
    }
    progress.end();
    report.backend = validation.backends();
    return report;
}

static VoxelTarget place_in(std::vector<std::byte>& voxels, const VolumeGrid& grid) {
    voxels.resize(index(grid.bytes()));
    return packed_target(voxels.data(), grid);
}

std::string ValidationRun::backends() const {
    std::string all;
    for (const std::string& name : backends_) all += (all.empty() ? "" : ", ") + name;
    return all;
}

ReconstructedBlock ValidationRun::reconstructed(ReconstructionSpec spec, std::span<const std::byte> spectra) {
    spec.block_b_scans = spec.geometry.b_scans;
    const auto reconstructor = make_reconstructor(spec, {.backend = backend_});
    backends_.insert(reconstructor->backend_description());
    Block block;
    block.data = spectra.data();
    block.bytes = std::ssize(spectra);
    block.b_scans = spec.geometry.b_scans;
    ReconstructedBlock result{reconstructor->grid(), {}, {}};
    VoxelTargets targets(place_in(result.structure, result.grid));
    if (reconstructor->flow_grid()) targets.flow = place_in(result.flow, *reconstructor->flow_grid());
    reconstructor->wait(reconstructor->submit(block, targets));
    progress_.advance(0);  // allows cancelling
    return result;
}

std::vector<std::complex<float>> ValidationRun::bins(ReconstructionSpec spec, std::span<const float> spectra) {
    spec.recipe.quantity = Quantity::complex;
    spec.recipe.voxel = VoxelType::complex64;
    const ReconstructedBlock block = reconstructed(spec, std::as_bytes(spectra));
    std::vector<std::complex<float>> bins(index(block.grid.voxels()));
    std::memcpy(bins.data(), block.structure.data(), block.structure.size());
    return bins;
}

std::vector<double> ValidationRun::amplitudes(const ReconstructionSpec& spec, std::span<const float> spectra) {
    std::vector<double> values;
    for (const std::complex<float>& bin : bins(spec, spectra)) values.push_back(std::abs(std::complex<double>(bin)));
    return values;
}

ReconstructionSpec bare_spec(std::int64_t samples, std::int64_t lines) {
    ReconstructionSpec spec;
    spec.format.sample_format = SampleFormat::f32;
    spec.geometry.samples = samples;
    spec.geometry.a_scans = lines;
    spec.geometry.b_scans = 1;
    spec.recipe.background = Background::none;
    spec.recipe.resample = Resample::none;
    spec.recipe.window = Window::rect;
    spec.recipe.dispersion = false;
    spec.recipe.levels = Levels::fixed;
    return spec;
}

double decibels(double amplitude_ratio) {
    return 20 * std::log10(amplitude_ratio);
}

}  // namespace echolux
