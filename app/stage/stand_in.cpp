#include "app/stage/stand_in.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "compute/error.h"

namespace echolux {

StandIn::StandIn(std::unique_ptr<Exhibit> own, Renderer& renderer) : own_(std::move(own)), renderer_(renderer) {}

std::string StandIn::own_mark() const {
    const std::optional<VolumeStamp> stamp = own_->stamp();
    if (!stamp) return "";
    return fmt::format("{} {} {}", stamp->volume, stamp->time_s, own_->news());
}

void StandIn::show_instead(std::shared_ptr<const Volume> volume) {
    if (volume == wanted_) return;
    wanted_ = std::move(volume);
    wanted_for_ = own_mark();
    if (!coming_.valid()) begin_bringing();
}

void StandIn::show_own() {
    wanted_.reset();
    if (!shown_) return;
    shown_.reset();
    own_->show_again();
    ++news_;
}

// The derived volume determines its own value range, as the first volume of a series does, unless a range is chosen.
void StandIn::begin_bringing() {
    bringing_ = wanted_;
    coming_ = std::async(std::launch::async, [this, volume = wanted_, chosen = own_->chosen_range()] {
        return OnDevice{volume,
                        renderer_.prepare(voxels_in_memory(volume->grid, volume->voxels.data(), volume), chosen)};
    });
}

void StandIn::take_what_came() {
    using namespace std::chrono_literals;
    if (!coming_.valid() || coming_.wait_for(0s) != std::future_status::ready) return;
    try {
        OnDevice came = coming_.get();
        if (came.volume == wanted_) {
            renderer_.show(came.prepared);
            shown_ = std::make_shared<OnDevice>(std::move(came));
            ++news_;
        }
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device) throw;
        problems_.push_back(error.line());
    }
    const auto brought = std::exchange(bringing_, nullptr);
    if (wanted_ && wanted_ != brought) begin_bringing();  // another volume was requested while this one was prepared
}

void StandIn::update(double now_s) {
    own_->update(now_s);
    if (wanted_ && own_mark() != wanted_for_) {
        wanted_.reset();
        if (shown_) ++news_;
        shown_.reset();
    }
    take_what_came();
}

std::optional<VolumeGrid> StandIn::grid() const {
    return shown_ ? std::optional(shown_->volume->grid) : own_->grid();
}

std::optional<VolumeGrid> StandIn::flow_grid() const {
    return shown_ ? std::nullopt : own_->flow_grid();
}

std::optional<FollowedPicture> StandIn::follow(const View& view, double now_s, std::size_t pane) {
    return shown_ ? renderer_.follow(view, now_s, pane) : own_->follow(view, now_s, pane);
}

std::optional<Probe> StandIn::probe(const View& view, std::int64_t x, std::int64_t y) {
    return shown_ ? renderer_.probe(view, x, y) : own_->probe(view, x, y);
}

std::optional<PlaneHistogram> StandIn::plane_histogram(const View& view) {
    return shown_ ? renderer_.plane_histogram(view) : own_->plane_histogram(view);
}

std::optional<Histogram> StandIn::histogram() {
    return shown_ ? renderer_.histogram() : own_->histogram();
}

std::optional<FlowScale> StandIn::flow_scale(const View& view) {
    return shown_ ? std::nullopt : own_->flow_scale(view);
}

Image StandIn::still(const View& view) {
    return shown_ ? renderer_.render(view) : own_->still(view);
}

VolumeToCome StandIn::begin_reading() {
    if (!shown_) return own_->begin_reading();
    return [volume = shown_->volume] { return volume; };
}

std::vector<std::string> StandIn::take_problems() {
    std::vector<std::string> problems = own_->take_problems();
    for (std::string& line : std::exchange(problems_, {})) problems.push_back(std::move(line));
    return problems;
}

}  // namespace echolux
