#include "app/stage/stage.h"

#include <utility>

#include "app/live/volume_path.h"
#include "compute/error.h"

namespace echolux {

Stage::Stage(DeviceChoice device, BackendChoice backend)
    : device_(beside(std::move(device), backend)), backend_(backend), renderer_(std::make_unique<Renderer>(device_)) {}

Stage::~Stage() = default;

void Stage::show(MakeExhibit make) {
    clear();
    if (!renderer_) {
        throw Error(ErrorCode::device, "the graphics device is lost", "display",
                    "open it again when pictures are back");
    }
    exhibit_ = std::make_unique<StandIn>(make(*renderer_), *renderer_);
    make_ = std::move(make);
}

void Stage::clear() {
    make_ = nullptr;
    exhibit_.reset();
    if (renderer_) renderer_->clear();
}

void Stage::revive() {
    exhibit_.reset();
    renderer_.reset();
    auto renderer = std::make_unique<Renderer>(device_);
    if (make_) exhibit_ = std::make_unique<StandIn>(make_(*renderer), *renderer);
    renderer_ = std::move(renderer);
}

}  // namespace echolux
