#include "ui/app/stage/stage.h"

#include <utility>

#include "ui/app/device_pair.h"

namespace echolux {

Stage::Stage(DeviceChoice device, BackendChoice backend)
    : device_(beside(std::move(device), backend)), backend_(backend), renderer_(std::make_unique<Renderer>(device_)) {}

Stage::~Stage() = default;

void Stage::show(MakeExhibit make) {
    clear();
    exhibit_ = make(*renderer_);
    make_ = std::move(make);
}

void Stage::clear() {
    make_ = nullptr;
    exhibit_.reset();
    renderer_->clear();
}

void Stage::revive() {
    exhibit_.reset();
    renderer_.reset();
    renderer_ = std::make_unique<Renderer>(device_);
    if (make_) exhibit_ = make_(*renderer_);
}

}  // namespace echolux
