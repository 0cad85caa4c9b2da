// A plugin's shared library (plugins/echolux_source.h): loaded, its version and functions checked.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "plugins/echolux_source.h"

namespace echolux {

class Plugin {
  public:
    // Throws Error{bad_file}: no library, not a plugin, of another version, functions missing.
    explicit Plugin(const std::filesystem::path& path);

    const echolux_source& calls() const { return calls_; }  // those beyond what the plugin knows are null
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
