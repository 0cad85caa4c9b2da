#include "engine/offline/repeat_table.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "compute/counted.h"
#include "compute/reason.h"
#include "compute/steps/angiography.h"
#include "engine/io/own_files.h"

namespace echolux {
namespace {

std::string cell_of(float value, bool is_known) {
    return is_known ? fmt::format("{:.4f}", value) : std::string();
}

std::string row_of(const RepeatReport& one, const VolumeGrid& grid) {
    const auto dz = static_cast<float>(grid.spacing_um[0]), dx = static_cast<float>(grid.spacing_um[1]);
    const bool known = one.is_used();
    return fmt::format("{},{},{},{},{:.4f},{},{}\n", cell_of(one.depth_rows, known), cell_of(one.a_scans, known),
                       cell_of(one.depth_rows * dz, known && dz > 0), cell_of(one.a_scans * dx, known && dx > 0),
                       one.match, cell_of(one.bulk_decorrelation, !std::isnan(one.bulk_decorrelation)),
                       name_of(one.reason));
}

}  // namespace

std::string repeats_table_heading() {
    return std::string(repeats_heading) +
           ": sample (depth row, A-scan) of a repeat lies at (row + z, A-scan + x) of the repeat with match 1\n"
           "volume,b_scan,repeat,z,x,z_um,x_um,match,bulk_decorrelation,reason\n";
}

std::string repeats_table_rows(const RepeatsOfVolume& repeats, const VolumeGrid& grid) {
    std::string text;
    for (std::size_t i = 0; i < repeats.reports.size(); ++i) {
        const auto place = static_cast<std::int64_t>(i);
        text += fmt::format("{},{},{},", repeats.volume, repeats.first_b_scan + place / repeats.b_repeats,
                            place % repeats.b_repeats);
        text += row_of(repeats.reports[i], grid);
    }
    return text;
}

bool is_own_repeats_table(const std::filesystem::path& path) {
    return begins_with(path, repeats_heading);
}

std::string left_out_of(std::span<const RepeatReport> reports, std::int64_t b_repeats, bool aligns) {
    std::map<std::string, std::int64_t> reasons;
    std::int64_t left_out = 0, hidden = 0;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const bool is_first = static_cast<std::int64_t>(i) % b_repeats == 0;
        hidden += is_first && reports[i].bulk_decorrelation > BulkDecorrelation::max_shown;
        if (reports[i].is_used()) continue;
        ++left_out;
        ++reasons[name_of(reports[i].reason)];
    }
    std::string text;
    if (left_out > 0) {
        text = fmt::format("flow.align: {} of {} fit no other and are left out (", left_out,
                           counted(static_cast<std::int64_t>(reports.size()), "repeats"));
        for (const auto& [reason, count] : reasons) text += fmt::format("{} {}, ", count, reason);
        text.resize(text.size() - 2);
        text += ")";
    }
    if (hidden > 0) {
        text += text.empty() ? (aligns ? "flow.align: " : "flow.method: ") : "; ";
        text += fmt::format("{} of {} moved {} and show no flow", hidden,
                            counted(static_cast<std::int64_t>(reports.size()) / b_repeats, "B-scans"),
                            aligns ? "out of their plane" : "between their repeats");
        if (!aligns) text += "; flow.align = true brings back those that moved within it";
    }
    return text;
}

}  // namespace echolux
