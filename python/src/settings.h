// Settings of a scan or a view by their keys.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "python/src/work.h"

namespace echolux::python {

// `use` lends the settings of an object that lives as long as this, one thread at a time.
class Settings {
  public:
    using Use = std::function<void(const std::function<void(api::Settings&)>&)>;
    explicit Settings(Use use) : use_(std::move(use)) {}

    template <class T>
    static Settings of(const Shared<T>& owner) {
        return Settings([owner](const auto& work) {
            owner.with([&](T& one) {
                api::Settings settings = one.settings();
                work(settings);
            });
        });
    }

    template <class Work>
    void with(const Work& work) const {
        use_(work);
    }

  private:
    Use use_;
};

}  // namespace echolux::python
