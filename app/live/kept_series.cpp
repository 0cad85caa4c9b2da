#include "app/live/kept_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/counted.h"

namespace echolux {
namespace {

constexpr double jitter = 0.01;  // relative to the time step: tolerance for regular time stamps

bool is_regular(const std::vector<double>& times_s, double step_s) {
    for (std::size_t i = 0; i < times_s.size(); ++i) {
        if (std::abs(times_s[i] - static_cast<double>(i) * step_s) > jitter * step_s) return false;
    }
    return true;
}

// The recipe in the provenance contains the settings in use when the volumes were saved. Notes how many volumes were
// started with other settings.
void note_other_settings(const KeptSeries& series, std::map<std::string, std::string>& provenance) {
    const auto is_other = [&](const KeptVolume& volume) { return volume.stamp.plan != series.plan; };
    const auto others = std::ranges::count_if(series.volumes, is_other);
    if (others == 0) return;
    const auto last = std::find_if(series.volumes.rbegin(), series.volumes.rend(), is_other);
    provenance["recipe_changed"] = fmt::format("begun with other settings: {} of {}, up to volume {}",
                                               counted(others, "volumes"), series.volumes.size(), last->stamp.volume);
}

SeriesHeader header_of(const KeptSeries& series) {
    const std::vector<KeptVolume>& volumes = series.volumes;
    SeriesHeader header{.grid = series.grid, .time_points = std::ssize(volumes), .provenance = series.provenance};
    const VolumeStamp& first = volumes.front().stamp;
    for (const KeptVolume& volume : volumes) header.times_s.push_back(volume.stamp.time_s - first.time_s);
    if (volumes.size() > 1) header.step_s = header.times_s.back() / static_cast<double>(volumes.size() - 1);
    if (is_regular(header.times_s, header.step_s)) header.times_s.clear();
    header.provenance["volumes"] = fmt::format("{} to {}", first.volume, volumes.back().stamp.volume);
    header.provenance["first_time_s"] = fmt::format("{:.6f}", first.time_s);
    note_other_settings(series, header.provenance);
    return header;
}

}  // namespace

std::vector<KeptVolume> last_of(const std::vector<KeptVolume>& volumes, double seconds) {
    if (volumes.empty() || seconds <= 0) return volumes;
    const double from_s = volumes.back().stamp.time_s - seconds;
    const auto is_of_them = [from_s](const KeptVolume& volume) { return volume.stamp.time_s >= from_s; };
    return {std::ranges::find_if(volumes, is_of_them), volumes.end()};
}

void write_kept(const std::filesystem::path& path, const KeptSeries& series,
                const std::function<std::vector<std::byte>()>& voxels, Progress& progress) {
    SeriesWriter writer(path, header_of(series));
    progress.begin("write", std::ssize(series.volumes), "volumes");
    for (std::size_t i = 0; i < series.volumes.size(); ++i) {
        writer.write(voxels());
        progress.advance(1);
    }
    writer.finish();
    progress.end();
}

}  // namespace echolux
