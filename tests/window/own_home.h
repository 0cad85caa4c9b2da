// A separate home folder for each test, so that files with default names are written there and the user's settings are
// not read.
#pragma once

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace echolux::test {

class OwnHome {
  public:
    explicit OwnHome(const std::filesystem::path& folder) {
        std::filesystem::create_directories(folder);
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (const char* value = std::getenv(names.at(i))) before_.at(i) = value;
        }
        setenv("HOME", folder.c_str(), 1);
        setenv("XDG_CONFIG_HOME", (folder / "config").c_str(), 1);
    }
    ~OwnHome() {
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto& value = before_.at(i);
            value ? setenv(names.at(i), value->c_str(), 1) : unsetenv(names.at(i));
        }
    }
    OwnHome(const OwnHome&) = delete;
    OwnHome& operator=(const OwnHome&) = delete;

  private:
    static constexpr std::array<const char*, 2> names{"HOME", "XDG_CONFIG_HOME"};
    std::array<std::optional<std::string>, 2> before_;
};

}  // namespace echolux::test
