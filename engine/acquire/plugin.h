// A plugin's shared library (plugins/echolux_source.h). Checks its version and functions.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "plugins/echolux_source.h"

namespace echolux {

class Plugin {
  public:
    // Loads the library. Throws Error{bad_file} if it is not a library or not a plugin, has another version, or lacks
    // functions.
    explicit Plugin(const std::filesystem::path& path);

    const echolux_source& calls() const { return calls_; }  // functions that the plugin does not know are null
    const std::string& name() const { return name_; }

  private:
    struct Close {
        void operator()(void* library) const;
    };

    std::unique_ptr<void, Close> library_;
    echolux_source calls_{};
    std::string name_;
};

}  // namespace echolux
