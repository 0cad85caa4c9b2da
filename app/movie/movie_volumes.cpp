#include "app/movie/movie_volumes.h"

#include <chrono>
#include <thread>
#include <utility>

#include "app/stage/open_exhibit.h"
#include "compute/error.h"
#include "engine/acquire/scan_player.h"
#include "engine/offline/series.h"

namespace echolux {
namespace {

MovieVolume time_points(Volume&& structure, std::optional<Volume>&& flow, const ScanGeometry& geometry) {
    MovieVolume volume{.structure = std::make_shared<const Volume>(std::move(structure)), .geometry = geometry};
    if (flow) volume.flow = std::make_shared<const Volume>(std::move(*flow));
    return volume;
}

std::shared_ptr<const Scan> kept(const std::optional<Scan>& scan) {
    return scan ? std::make_shared<const Scan>(*scan) : nullptr;
}

class OneVolume : public MovieVolumes {
  public:
    explicit OneVolume(OpenedVolume&& opened)
        : warnings_(std::move(opened.warnings)),
          volume_(time_points(std::move(opened.volume), std::move(opened.flow), opened.geometry)) {
        volume_.scan = kept(opened.scan);
        volume_.backend = opened.stats.backend;
    }

    std::optional<MovieVolume> read(std::int64_t, Progress&) override { return volume_; }
    std::vector<std::string> take_warnings() override { return std::exchange(warnings_, {}); }

  private:
    std::vector<std::string> warnings_;
    MovieVolume volume_;
};

// Read ahead by a separate thread while earlier steps are drawn.
class SeriesVolumes : public MovieVolumes {
  public:
    explicit SeriesVolumes(const std::filesystem::path& path) : series_(path) {}

    std::int64_t steps() const override { return series_.steps(); }
    double step_s() const override { return series_.step_s(); }

    std::optional<MovieVolume> read(std::int64_t step, Progress& progress) override {
        if (series_.is_in_boxes()) return MovieVolume{.structure = series_.read(step)};  // too large to read ahead
        series_.want(step, 1, 0, steps() - 1);
        auto volume = series_.volume(step);
        while (!volume) {
            progress.advance(0);  // throws when cancelled
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            volume = series_.volume(step);
        }
        if (!*volume) return {};
        return MovieVolume{.structure = *volume};
    }

    std::vector<std::string> take_warnings() override { return series_.take_problems(); }

  private:
    Series series_;
};

class ScanVolumes : public MovieVolumes {
  public:
    explicit ScanVolumes(Scan scan) : step_s_(volume_seconds(scan)), reconstruction_(std::move(scan)) {}

    std::int64_t steps() const override { return reconstruction_.scan().geometry.volumes; }
    double step_s() const override { return step_s_; }

    std::optional<MovieVolume> read(std::int64_t step, Progress& progress) override {
        Unheard unheard(progress);
        FlowedVolume made = reconstruction_.run_with_flow({.volume = step}, unheard);
        MovieVolume volume =
            time_points(std::move(made.structure), std::move(made.flow), reconstruction_.scan().geometry);
        volume.scan = kept(reconstruction_.scan());
        volume.backend = reconstruction_.stats().backend;
        return volume;
    }

    std::vector<std::string> take_warnings() override {
        std::vector<std::string> all = reconstruction_.warnings();
        std::vector<std::string> fresh(all.begin() + static_cast<std::ptrdiff_t>(told_), all.end());
        told_ = all.size();
        return fresh;
    }

  private:
    double step_s_;
    Reconstruction reconstruction_;
    std::size_t told_ = 0;  // warnings
};

}  // namespace

std::unique_ptr<MovieVolumes> movie_volumes(const VolumeSource& source, bool through_time, Progress& progress) {
    if (!through_time) return std::make_unique<OneVolume>(open_volume(source, progress));
    if (source.input.empty()) {
        throw Error(ErrorCode::bad_setting, "a live source has no time points yet", "path",
                    "record it, and make the movie from the recording");
    }
    if (!holds_volumes(source.input)) return std::make_unique<ScanVolumes>(open_scan(source.input, source.settings));
    if (source.settings.empty()) return std::make_unique<SeriesVolumes>(source.input);
    throw Error(ErrorCode::bad_setting, "has no effect on a volume file", source.settings.front(),
                "give the scan instead, or leave the setting out");
}

}  // namespace echolux
