#include "engine/acquire/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compute/error.h"

namespace echolux {

void Plugin::Close::operator()(void* library) const {
    dlclose(library);
}

Plugin::Plugin(const std::filesystem::path& path) {
    const auto refuse = [&](const std::string& problem, const char* remedy) {
        throw Error(ErrorCode::bad_file, problem, "plugin " + path.string(), remedy);
    };
    // Absolute, because dlopen searches the system's libraries for names without a slash.
    library_.reset(dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!library_) refuse(dlerror(), "check the path, and with ldd that the libraries it needs are installed");
    const auto entry =
        reinterpret_cast<decltype(&echolux_source_plugin)>(dlsym(library_.get(), "echolux_source_plugin"));
    if (entry == nullptr)
        refuse("has no function echolux_source_plugin", "check that it is a plugin for Echolux, see docs/plugins.md");
    const echolux_source* source = entry(ECHOLUX_SOURCE_VERSION);
    if (source == nullptr) {
        refuse(fmt::format("does not support version {} of the plugin interface", ECHOLUX_SOURCE_VERSION),
               "get a newer plugin from its maker");
    }
    if (source->version != ECHOLUX_SOURCE_VERSION) {
        refuse(fmt::format("was compiled for version {} of the plugin interface, this program has version {}",
                           source->version, ECHOLUX_SOURCE_VERSION),
               "compile it against this program's echolux_source.h");
    }
    std::memcpy(&calls_, source, std::min<std::size_t>(source->struct_size, sizeof calls_));
    const auto need = [&](const char* function, bool is_there) {
        if (!is_there) refuse(fmt::format("has no {}()", function), "every plugin must define it, see docs/plugins.md");
    };
    need("open", calls_.open != nullptr);
    need("start", calls_.start != nullptr);
    need("next", calls_.next != nullptr);
    need("stop", calls_.stop != nullptr);
    need("close", calls_.close != nullptr);
    name_ = calls_.name == nullptr ? path.filename().string() : std::string(calls_.name, strnlen(calls_.name, 100));
}

}  // namespace echolux
