#include "app/open/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "app/open/open_volume.h"
#include "compute/error.h"
#include "compute/plan/choices.h"
#include "compute/plan/describe.h"
#include "compute/plan/tables.h"
#include "compute/plural.h"
#include "engine/io/atomic_file.h"
#include "engine/io/durable_file.h"
#include "engine/io/output_rule.h"
#include "engine/io/picture_file.h"
#include "engine/io/raw_guess.h"
#include "engine/io/volume_file.h"
#include "engine/scan/foreign_scans.h"
#include "engine/scan/raw_spectra.h"
#include "engine/scan/recording.h"
#include "engine/scan/scan.h"
#include "engine/scan/time_points.h"
#include "engine/size_words.h"

namespace echolux {

// ---- Descriptions

namespace {

Fact length(std::string name, double um, std::string remark = {}) {
    if (um <= 0) return {std::move(name), std::monostate{}, "um", std::move(remark)};
    return {std::move(name), um, "um", std::move(remark)};
}

std::vector<Fact> grid_facts(const VolumeGrid& grid) {
    std::vector<Fact> facts{
        {"depth rows", grid.depth, "", ""},
        {"A-scans", grid.a_scans, "", ""},
        {"B-scans", grid.b_scans, "", ""},
        {"volume size", grid.bytes(), "bytes", size_words(static_cast<double>(grid.bytes()))},
        length("depth pitch", grid.spacing_um[0]),
        length("A-scan spacing", grid.spacing_um[1]),
        length("B-scan spacing", grid.spacing_um[2]),
    };
    if (grid.spacing_um[0] > 0) {
        facts.push_back({"first depth", grid.first_depth_um, "um", ""});
        facts.push_back(
            {"last depth", grid.first_depth_um + static_cast<double>(grid.depth - 1) * grid.spacing_um[0], "um", ""});
    }
    if (!grid.quantity.empty()) facts.push_back({"quantity", grid.quantity, "", grid.unit});
    return facts;
}

std::vector<std::string> missing_of(const Scan& scan, const VolumeGrid& grid) {
    const Calibration& calibration = scan.calibration;
    std::vector<std::string> missing;
    const bool mapped =
        !calibration.k_positions.empty() || !calibration.wavelengths_nm.empty() || !calibration.k_polynomial.empty();
    if (!mapped)
        missing.emplace_back("k map: spectra are assumed to be linear in k (calibration.wavelengths or k_map)");
    if (grid.spacing_um[0] == 0) {
        missing.emplace_back("depth scale: depth is in bins (calibration.wavelengths or depth_pitch_um)");
    }
    if (scan.geometry.spacing_a_um == 0 || scan.geometry.spacing_b_um == 0) {
        missing.emplace_back("lateral spacing unknown; aspect ratio assumed (scan.spacing_a_um, scan.spacing_b_um)");
    }
    if (chosen_background(scan.recipe, calibration) == Background::frame_mean) {
        missing.emplace_back(
            "background: the mean of each B-scan is subtracted, which removes flat objects "
            "(calibration.background)");
    }
    const KGrid grid_of_k = k_grid(calibration, scan.geometry.samples);
    const std::vector<double> theta = dispersion_phase(scan.recipe, calibration, grid_of_k);
    const bool dispersed = std::any_of(theta.begin(), theta.end(), [](double phase) { return phase != 0; });
    if (!dispersed) missing.emplace_back("dispersion: not compensated (calibration.dispersion or recipe.a2_rad)");
    if (scan.geometry.line_rate_hz == 0) missing.emplace_back("line rate: velocities stay in rad (scan.line_rate_hz)");
    return missing;
}

// Number of whole volumes in the file beyond those described.
std::int64_t further_volumes(const Scan& scan, std::int64_t file_bytes) {
    const SpectraLayout layout = spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string());
    return (file_bytes - layout.file_bytes()) / layout.volume_bytes();
}

std::string in_stripes(const Scan& scan) {
    return scan.stripes.empty() ? "" : " in stripes in " + plural(scan.stripes.size() + 1, "files");
}

std::vector<Fact> scan_facts(const Scan& scan) {
    const ScanGeometry& geometry = scan.geometry;
    const auto bytes = RawBytes(scan).size();
    const std::int64_t further = further_volumes(scan, bytes);
    return {{"spectra", scan.spectra.string(), "", size_words(static_cast<double>(bytes)) + in_stripes(scan)},
            {"samples", geometry.samples, "", ""},
            {"lines", geometry.lines_per_b_scan() * geometry.frames_per_volume() * geometry.volumes, "", ""},
            {"volumes", geometry.volumes, "",
             further > 0 ? fmt::format("the file contains {} more, see scan.volumes and scan.b_scans", further) : ""},
            {"depth is", geometry.refractive_index > 1 ? "geometric" : "optical, in air", "",
             fmt::format("n = {}", geometry.refractive_index)}};
}

// Describes calibration that is stored in the raw file instead of in a separate file.
void describe_file_values(BoundField& field, const Scan& scan) {
    const Calibration& held = scan.calibration;
    const std::map<std::string_view, const std::vector<double>*> vectors{
        {"background", &held.background},     {"dark", &held.dark},
        {"k_map", &held.k_positions},         {"wavelengths", &held.wavelengths_nm},
        {"dispersion", &held.dispersion_rad}, {"noise_floor", &held.noise_floor}};
    const auto vector = vectors.find(field.name);
    const bool is_named = field.section == "calibration" && vector != vectors.end();
    if (!is_named || vector->second->empty() || field.get() != Value(std::string())) return;
    field.get = [text = fmt::format("in the raw file, {}", plural(vector->second->size(), "numbers"))] {
        return Value(text);
    };
}

// Returns the warning that is shown first if the recording is running, was not finished or is incomplete.
std::vector<Fact> warning_of(const Scan& scan) {
    const bool is_running = scan.recording.was_cut() && is_being_recorded(scan.path);
    const std::string text =
        is_running ? "recording is still running: showing only the blocks on disk" : lack_of(scan.recording);
    if (text.empty()) return {};
    return {{"warning", text, "", ""}};
}

Description described_scan(const std::filesystem::path& path, const std::vector<std::string>& assignments) {
    auto scan = std::make_shared<Scan>(open_scan(path, assignments));
    const VolumeGrid grid = planned_grid(*scan);
    Description description;
    description.kind = "scan";
    description.keeper = scan;
    description.facts = warning_of(*scan);
    for (Fact& fact : scan_facts(*scan)) description.facts.push_back(std::move(fact));
    for (Fact& fact : grid_facts(grid)) description.facts.push_back(std::move(fact));
    for (const std::string& remark : scan->remarks) description.facts.push_back({"note", remark, "", ""});
    description.missing = missing_of(*scan, grid);
    Settings settings;
    bind(settings, *scan);
    description.settings = settings.fields();
    for (BoundField& field : description.settings) describe_file_values(field, *scan);
    return description;
}

// Range of the codes of the first time point, read some B-scans at a time.
std::pair<double, double> min_and_max(SeriesFile& file) {
    const VolumeGrid& grid = file.header().grid;
    double min = std::numeric_limits<double>::infinity(), max = -min;
    for (std::int64_t begin = 0, end = 0; begin < grid.b_scans; begin = end) {
        end = std::min(begin + file.b_scans_together(), grid.b_scans);
        Volume part{grid, file.read(0, {begin, end}), {}};
        part.grid.b_scans = end - begin;
        const auto [min_of_part, max_of_part] = min_and_max(part);
        min = std::min(min, min_of_part);
        max = std::max(max, max_of_part);
    }
    return {min, max};
}

void add_time_facts(const SeriesFile& file, std::vector<Fact>& facts) {
    const SeriesHeader& header = file.header();
    if (header.time_points > 1) {
        facts.push_back({"time points", header.time_points, "", ""});
        if (header.step_s > 0) facts.push_back({"time step", header.step_s, "s", ""});
        if (!header.times_s.empty()) {
            facts.push_back({"first time", header.times_s.front(), "s", ""});
            facts.push_back({"last time", header.times_s.back(), "s", ""});
        }
    }
    const auto levels = std::ssize(file.levels());
    if (levels > 1) facts.push_back({"levels", levels, "", "the same volume at decreasing resolution"});
}

// Describes volumes of a folder or pattern, one per time point, from the first one.
Description described_series(const std::filesystem::path& path) {
    const TimePoints points(path);
    Description description;
    description.kind = "volume";
    description.facts = grid_facts(points.grid());
    description.facts.push_back({"time points", points.count(), "", "one file each"});
    for (const auto& [key, value] : points.provenance({0, points.count()})) {
        description.facts.push_back({key, value, "", ""});
    }
    return description;
}

Description described_volume(const std::filesystem::path& path) {
    SeriesFile file(path);
    const VolumeGrid& grid = file.header().grid;
    Description description;
    description.kind = "volume";
    if (const ImageFormat* format = image_format_of(path))
        description.facts.push_back({"format", format->name, "", ""});
    for (Fact& fact : grid_facts(grid)) description.facts.push_back(std::move(fact));
    add_time_facts(file, description.facts);
    constexpr std::int64_t max_looked_through = std::int64_t{2} << 30;  // takes about 15 s
    if (grid.bytes() > max_looked_through) {
        description.facts.push_back({"values", std::monostate{}, "", "not computed: larger than 2 GiB"});
    } else if (grid.type != VoxelType::complex64) {
        const auto [min, max] = min_and_max(file);
        const char* remark = file.time_points() > 1 ? "of the first time point" : "";
        description.facts.push_back({"minimum", min * grid.scale + grid.offset, grid.unit, remark});
        description.facts.push_back({"maximum", max * grid.scale + grid.offset, grid.unit, remark});
    }
    if (grid.quantity == "reflectivity") {
        description.facts.push_back({"shown", std::string("as the fourth root of its values, as on the instrument"), "",
                                     "figures and view.preset = automatic"});
    }
    for (const auto& [key, value] : file.header().provenance) description.facts.push_back({key, value, "", ""});
    return description;
}

Fact fact_of(const TomlEntry& entry) {
    struct {
        using Content = decltype(Fact::value);
        Content operator()(bool flag) const { return std::string(flag ? "true" : "false"); }
        Content operator()(std::int64_t number) const { return number; }
        Content operator()(double number) const { return number; }
        Content operator()(const std::string& text) const { return text; }
        Content operator()(const std::vector<double>& list) const { return spelled(list); }
    } content;
    return {entry.name, std::visit(content, entry.value), "", ""};
}

// Describes the record in a picture made by Echolux, as settings if it can be reproduced.
Description described_picture(const std::filesystem::path& path) {
    Description description;
    description.kind = "picture";
    const PictureTexts texts = picture_texts(path);
    if (texts.empty()) {
        throw Error(ErrorCode::bad_file, "is an image without a record of its settings", path.string(),
                    "only images saved by Echolux have one");
    }
    for (const auto& [name, text] : texts) {
        if (name == text_pixels) description.facts.push_back({name, text, "", "fingerprint: 64-bit FNV-1a"});
    }
    const auto session = texts.find(text_session);
    if (session == texts.end()) {
        for (const auto& [name, text] : texts) {
            if (name != text_pixels) description.facts.push_back({name, text, "", ""});
        }
        return description;
    }
    for (const TomlEntry& entry : toml_entries(session->second, path.string()))
        description.facts.push_back(fact_of(entry));
    return description;
}

using Describe = Description (*)(const std::filesystem::path&);

// Returns the function that describes this file, or nullptr for a scan.
Describe description_for(const std::filesystem::path& path) {
    std::error_code problem;
    if (has_session(path)) return described_picture;
    if (is_pattern(path)) return described_series;
    if (is_volume_name(path)) return described_volume;
    if (std::filesystem::is_directory(path, problem)) return described_series;
    return is_picture_name(path) && std::filesystem::exists(path, problem) ? described_picture : nullptr;
}

}  // namespace

Description described(const std::filesystem::path& path, const std::vector<std::string>& assignments) {
    const Describe describe = description_for(path);
    if (describe == nullptr) return described_scan(path, assignments);
    if (!assignments.empty()) {
        throw Error(ErrorCode::bad_setting, "has no effect on a volume file",
                    path.string() + ", " + assignments.front(), "open the scan instead, or remove the setting");
    }
    return describe(path);
}

// ---- Proposed scans

static std::string format_name(SampleFormat format) {
    switch (format) {
        case SampleFormat::u8: return "u8";
        case SampleFormat::u16: return "u16";
        case SampleFormat::u32: return "u32";
        case SampleFormat::i16: return "i16";
        case SampleFormat::f32: return "f32";
        case SampleFormat::packed12: return "packed12";
    }
    return {};
}

static const char* order_text(ByteOrder order) {
    return order == ByteOrder::big ? ", big-endian" : "";
}

static std::string shape_text(const RawGuess& guess) {
    std::string text = fmt::format("{} of {}, {}, {}", plural(guess.samples, "samples"), samples_text(guess),
                                   plural(guess.a_scans, "A-scans"), plural(guess.b_scans, "B-scans"));
    if (guess.frame_offset_bytes > 0) text += fmt::format(", each after {}", plural(guess.frame_offset_bytes, "bytes"));
    if (guess.offset_bytes > 0) text += fmt::format(", after {}", plural(guess.offset_bytes, "bytes"));
    return text;
}

constexpr double surely = 0.8;  // likeness of a certain guess

static std::string how_sure(double likeness) {
    constexpr double perhaps = 0.5;
    return likeness > surely    ? "as spectra of one object are"
           : likeness > perhaps ? "so it is likely"
                                : "so it is a guess";
}

// Comment lines with the reasons for the first guess, and the alternatives.
static std::string reasons(const std::vector<RawGuess>& guesses, const std::vector<std::string>& doubts,
                           std::uintmax_t file_bytes) {
    const RawGuess& best = guesses.front();
    std::string text =
        "# Estimated from the bytes of the file. Reconstruct a B-scan and check that\n"
        "# it looks plausible.\n#\n";
    for (const std::string& doubt : doubts) text += "# Uncertain: " + doubt + "\n";
    if (!doubts.empty()) text += "#\n";
    text += fmt::format("# {}: neighbouring samples are smooth in this format (correlation {:.2f})\n",
                        samples_text(best), best.smoothness);
    text += fmt::format("# samples = {}: lines of this length are alike (correlation {:.2f}), {}\n", best.samples,
                        best.likeness, how_sure(best.likeness));
    const char* why = best.frame_offset_bytes > 0
                          ? "with a header after this number of lines, the lines of all B-scans match"
                          : "neighbouring B-scans of this width resemble each other most";
    text += fmt::format("# a_scans = {}: {}\n", best.a_scans, why);
    const std::int64_t lines = best.a_scans * best.b_scans;
    text += fmt::format("# b_scans = {}: the remainder of {} in {}\n", best.b_scans, plural(lines, "lines"),
                        plural(file_bytes, "bytes"));
    if (best.offset_bytes > 0) {
        text += fmt::format("# offset_bytes = {}: bytes before the first line\n", best.offset_bytes);
    }
    if (best.frame_offset_bytes > 0) {
        text += fmt::format("# frame_offset_bytes = {}: the header of each B-scan\n", best.frame_offset_bytes);
    }
    if (guesses.size() > 1) text += "#\n# Other layouts that fit:\n";
    for (std::size_t i = 1; i < guesses.size(); ++i) {
        text += fmt::format("#   {} ({:.2f})\n", shape_text(guesses[i]), guesses[i].likeness);
    }
    return text;
}

static void refuse_known_format(const std::filesystem::path& raw) {
    if (raw.extension() != ".toml" && raw.extension() != ".png" && !is_volume_name(raw) && !describes_itself(raw))
        return;
    throw Error(ErrorCode::bad_setting, "describes itself, there is nothing to guess", raw.string(),
                "open it directly");
}

Scan scan_of_guess(const std::filesystem::path& raw, const RawGuess& guess) {
    Scan scan;
    scan.path = std::filesystem::path(raw).replace_extension(".toml");
    scan.spectra = raw;
    scan.file.file = raw.filename().string();
    scan.file.offset_bytes = guess.offset_bytes;
    scan.file.frame_offset_bytes = guess.frame_offset_bytes;
    scan.format.sample_format = guess.sample_format;
    scan.format.byte_order = guess.byte_order;
    scan.geometry.samples = guess.samples;
    scan.geometry.a_scans = guess.a_scans;
    scan.geometry.b_scans = guess.b_scans;
    return scan;
}

std::string samples_text(const RawGuess& guess) {
    return format_name(guess.sample_format) + order_text(guess.byte_order);
}

std::vector<std::string> doubts_about(const std::vector<RawGuess>& guesses, const std::string& file_name) {
    if (guesses.empty()) return {};
    const RawGuess& best = guesses.front();
    std::vector<std::string> doubts;
    const RawName name = parsed_raw_name(file_name);
    if (!name.allows(best.sample_format, best.byte_order)) {
        const RawGuess stated{name.format.value_or(best.sample_format), name.order.value_or(best.byte_order)};
        doubts.push_back(fmt::format("the file name indicates {}, its bytes look like {}", samples_text(stated),
                                     samples_text(best)));
    }
    if (best.likeness < surely)
        doubts.push_back(fmt::format("neighbouring lines correlate by {:.2f} only", best.likeness));
    for (const std::size_t i : rivals_of_first(guesses)) {
        const RawGuess& rival = guesses[i];
        const bool is_other_format = rival.sample_format != best.sample_format || rival.byte_order != best.byte_order;
        const std::string what = is_other_format                 ? samples_text(rival)
                                 : rival.samples != best.samples ? fmt::format("samples = {}", rival.samples)
                                                                 : fmt::format("a_scans = {}", rival.a_scans);
        const std::string doubt = what + " fits about as well";
        if (std::ranges::count(doubts, doubt) == 0) doubts.push_back(doubt);
    }
    return doubts;
}

ScanProposal proposed_scan(const std::filesystem::path& raw, const std::string& file) {
    if (is_unp(raw)) {
        Scan scan;
        describe_unp(raw, scan);
        scan.file.file = file;
        return {fmt::format("# From {}.\n\n", xml_of_unp(raw).filename().string()) + scan_toml(scan)};
    }
    refuse_known_format(raw);
    const std::vector<RawGuess> guesses = guess_raw(raw);
    if (guesses.empty()) {
        throw Error(ErrorCode::bad_file, "no layout of spectra fits", raw.string(),
                    "describe it by hand: docs/scan-files.md");
    }
    Scan scan = scan_of_guess(raw, guesses.front());
    scan.file.file = file;
    const std::vector<std::string> doubts = doubts_about(guesses, raw.filename().string());
    std::error_code problem;
    const std::string why = reasons(guesses, doubts, std::filesystem::file_size(raw, problem));
    return {why + "\n" + scan_toml(scan), guesses, doubts};
}

ScanProposal write_proposed_toml(const std::filesystem::path& raw, const std::filesystem::path& toml, bool overwrites) {
    check_outputs({{toml, {}, {".toml"}}}, {raw}, overwrites);  // users edit it, so it is never only ours
    std::error_code problem;
    const std::filesystem::path folder = std::filesystem::absolute(toml).parent_path();
    const std::filesystem::path file = std::filesystem::proximate(std::filesystem::absolute(raw), folder, problem);
    ScanProposal proposal = proposed_scan(raw, file.string());
    write_text(toml, proposal.toml);
    return proposal;
}

}  // namespace echolux
