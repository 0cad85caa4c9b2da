#include "app/open/proposed_scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/output_rule.h"
#include "engine/io/raw_guess.h"
#include "engine/io/volume_file.h"
#include "engine/scan/foreign_scans.h"

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

const char* order_text(ByteOrder order) {
    return order == ByteOrder::big ? ", big-endian" : "";
}

std::string shape_text(const RawGuess& guess) {
    std::string text = fmt::format("{} of {}, {}, {}", counted(guess.samples, "samples"), samples_text(guess),
                                   counted(guess.a_scans, "A-scans"), counted(guess.b_scans, "B-scans"));
    if (guess.frame_offset_bytes > 0)
        text += fmt::format(", each after {}", counted(guess.frame_offset_bytes, "bytes"));
    if (guess.offset_bytes > 0) text += fmt::format(", after {}", counted(guess.offset_bytes, "bytes"));
    return text;
}

constexpr double surely = 0.8;  // likeness of a certain guess

std::string how_sure(double likeness) {
    constexpr double perhaps = 0.5;
    return likeness > surely    ? "which spectra of one object are"
           : likeness > perhaps ? "so it is likely"
                                : "so it is a guess";
}

// Comment lines with the reasons for the first guess, and the alternatives.
std::string reasons(const std::vector<RawGuess>& guesses, const std::vector<std::string>& doubts,
                    std::uintmax_t file_bytes) {
    const RawGuess& best = guesses.front();
    std::string text =
        "# A guess from the bytes of the file, to be checked on a picture of it:\n"
        "# reconstruct this scan, and look whether tissue looks like tissue.\n#\n";
    for (const std::string& doubt : doubts) text += "# Uncertain: " + doubt + "\n";
    if (!doubts.empty()) text += "#\n";
    text += fmt::format("# {}: neighbouring samples are smooth when read like this (correlation {:.2f})\n",
                        samples_text(best), best.smoothness);
    text += fmt::format("# samples = {}: lines of this length are alike (correlation {:.2f}), {}\n", best.samples,
                        best.likeness, how_sure(best.likeness));
    const char* why = best.frame_offset_bytes > 0
                          ? "with a header before each so many, the lines of all B-scans lie on each other"
                          : "neighbouring B-scans of this width resemble each other most";
    text += fmt::format("# a_scans = {}: {}\n", best.a_scans, why);
    const std::int64_t lines = best.a_scans * best.b_scans;
    text += fmt::format("# b_scans = {}: the remainder of {} in {}\n", best.b_scans, counted(lines, "lines"),
                        counted(file_bytes, "bytes"));
    if (best.offset_bytes > 0) {
        text += fmt::format("# offset_bytes = {}: bytes at the beginning that are not lines\n", best.offset_bytes);
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
        doubts.push_back(fmt::format("the name of the file says {}, its bytes look like {}", samples_text(stated),
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
        return {fmt::format("# As {} says.\n\n", xml_of_unp(raw).filename().string()) + scan_toml(scan)};
    }
    refuse_what_is_known(raw);
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
