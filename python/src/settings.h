// Settings of a scan or a view by key.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "python/src/work.h"

namespace echolux::python {

// `use` gives access to the settings of an object that outlives this one, to one thread at a time. They can be read
// while long work with the object is running.
class Settings {
  public:
    using Use = std::function<void(const std::function<void(api::Settings&)>&)>;
    explicit Settings(Use use) : look_(use), change_(std::move(use)) {}
    Settings(Use look, Use change) : look_(std::move(look)), change_(std::move(change)) {}

    template <class T>
    static Settings of(const Shared<T>& owner) {
        const auto lend = [](const auto& work) {
            return [&work](T& one) {
                api::Settings settings = one.settings();
                work(settings);
            };
        };
        return Settings([owner, lend](const auto& work) { owner.looked(lend(work)); },
                        [owner, lend](const auto& work) { owner.changed(lend(work)); });
    }

    template <class Work>
    void look(const Work& work) const {
        look_(work);
    }

    template <class Work>
    void change(const Work& work) const {
        change_(work);
    }

  private:
    Use look_, change_;
};

}  // namespace echolux::python
