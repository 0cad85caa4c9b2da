#include "engine/scan/recording_lack.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "compute/counted.h"

namespace echolux {

std::string lack_of(const RecordingNotes& notes) {
    if (notes.index.empty() || notes.complete) return {};
    std::vector<std::string> parts;
    const auto add = [&](std::int64_t count, const char* unit, const char* what) {
        if (count > 0) parts.push_back(fmt::format("{} {}", counted(count, unit), what));
    };
    const std::int64_t missing = notes.missing_blocks + notes.lost_blocks;
    if (notes.was_cut())
        parts.push_back(counted(missing, "blocks") + " missing");
    else
        add(missing, "blocks", "missing");
    add(notes.lost_b_scans, "B-scans", "without data");
    add(notes.refused_blocks, "blocks", "refused");
    add(notes.doubtful_blocks, "blocks", "doubtful");
    add(notes.interruptions, "times", "interrupted by its source");
    if (!notes.continues.empty()) parts.push_back("it continues " + notes.continues);
    if (parts.empty()) return {};
    const char* const state = notes.was_cut() ? "was not finished" : "is incomplete";
    return fmt::format("recording {}: {}", state, fmt::join(parts, ", "));
}

}  // namespace echolux
