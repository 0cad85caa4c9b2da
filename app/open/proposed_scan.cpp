#include "app/open/proposed_scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/output_rule.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

std::string format_name(SampleFormat format) {
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

std::string shape_text(const RawGuess& guess) {
    std::string text =
        fmt::format("{} of {}, {}, {}", counted(guess.samples, "samples"), format_name(guess.sample_format),
                    counted(guess.a_scans, "A-scans"), counted(guess.b_scans, "B-scans"));
    if (guess.offset_bytes > 0) text += fmt::format(", after {}", counted(guess.offset_bytes, "bytes"));
    return text;
}

std::string how_sure(double likeness) {
    constexpr double surely = 0.8, perhaps = 0.5;
    return likeness > surely    ? "which spectra of one object are"
           : likeness > perhaps ? "so it is likely"
                                : "so it is a guess";
}

// Comment lines: why the first is proposed, and the others.
std::string reasons(const std::vector<RawGuess>& guesses, std::uintmax_t file_bytes) {
    const RawGuess& best = guesses.front();
    std::string text =
        "# A guess from the bytes of the file, to be checked on a picture of it:\n"
        "# reconstruct this scan, and look whether tissue looks like tissue.\n#\n";
    text +=
        fmt::format("# {}: neighbouring samples are smoothest when read like this\n", format_name(best.sample_format));
    text += fmt::format("# samples = {}: lines of this length are alike (correlation {:.2f}), {}\n", best.samples,
                        best.likeness, how_sure(best.likeness));
    text += fmt::format("# a_scans = {}: neighbouring B-scans of this width resemble each other most\n", best.a_scans);
    const std::int64_t lines = best.a_scans * best.b_scans;
    text += fmt::format("# b_scans = {}: the remainder of {} in {}\n", best.b_scans, counted(lines, "lines"),
                        counted(file_bytes, "bytes"));
    if (best.offset_bytes > 0) {
        text += fmt::format("# offset_bytes = {}: bytes at the beginning that are not lines\n", best.offset_bytes);
    }
    text += "# frame_offset_bytes: headers before each B-scan are not searched for; set it where there are any\n";
    if (guesses.size() > 1) text += "#\n# Other layouts that fit:\n";
    for (std::size_t i = 1; i < guesses.size(); ++i) {
        text += fmt::format("#   {} ({:.2f})\n", shape_text(guesses[i]), guesses[i].likeness);
    }
    return text;
}

void refuse_what_is_known(const std::filesystem::path& raw) {
    if (raw.extension() != ".toml" && raw.extension() != ".png" && !is_volume_name(raw) && !describes_itself(raw))
        return;
    throw Error(ErrorCode::bad_setting, "describes itself, there is nothing to guess", raw.string(),
                "open it directly");
}

}  // namespace

Scan scan_of_guess(const std::filesystem::path& raw, const RawGuess& guess) {
    Scan scan;
    scan.path = std::filesystem::path(raw).replace_extension(".toml");
    scan.spectra = raw;
    scan.file.file = raw.filename().string();
    scan.file.offset_bytes = guess.offset_bytes;
    scan.format.sample_format = guess.sample_format;
    scan.geometry.samples = guess.samples;
    scan.geometry.a_scans = guess.a_scans;
    scan.geometry.b_scans = guess.b_scans;
    return scan;
}

std::string proposed_toml(const std::filesystem::path& raw, const std::string& file) {
    refuse_what_is_known(raw);
    const std::vector<RawGuess> guesses = guess_raw(raw);
    if (guesses.empty()) {
        throw Error(ErrorCode::bad_file, "no layout of spectra fits", raw.string(),
                    "describe it by hand: docs/scan-files.md");
    }
    Scan scan = scan_of_guess(raw, guesses.front());
    scan.file.file = file;
    std::error_code problem;
    return reasons(guesses, std::filesystem::file_size(raw, problem)) + "\n" + scan_toml(scan);
}

void write_proposed_toml(const std::filesystem::path& raw, const std::filesystem::path& toml, bool overwrites) {
    check_outputs({{toml}}, {raw}, overwrites);  // people edit it: none is known as only ours
    std::error_code problem;
    const std::filesystem::path folder = std::filesystem::absolute(toml).parent_path();
    const std::filesystem::path file = std::filesystem::proximate(std::filesystem::absolute(raw), folder, problem);
    write_text(toml, proposed_toml(raw, file.string()));
}

}  // namespace echolux
