// A folder for the files of one test, removed with its content, and helpers to fill files.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "compute/indexing.h"
#include "tests/support/error_of.h"

namespace echolux {

class TemporaryFolder {
  public:
    TemporaryFolder()
        : path_(std::filesystem::temp_directory_path() / ("echolux-test-" + std::to_string(std::random_device{}()))) {
        std::filesystem::create_directories(path_);
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }

    std::filesystem::path write(const std::string& name, std::string_view bytes) const {
        std::ofstream(path_ / name, std::ios::binary) << bytes;
        return path_ / name;
    }

    std::filesystem::path zeros(const std::string& name, std::uintmax_t bytes) const {  // sparse
        write(name, "");
        std::filesystem::resize_file(path_ / name, bytes);
        return path_ / name;
    }

    std::size_t entries() const {
        const std::filesystem::directory_iterator list(path_);
        return index(std::distance(begin(list), end(list)));
    }

  private:
    std::filesystem::path path_;
};

}  // namespace echolux
