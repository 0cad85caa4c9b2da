// NumPy's .npz archives: ZIP files of arrays with 0 to 3 axes, stored or deflated, as numpy.savez and savez_compressed
// write them. Serves reference data of recordings; volumes come from .npy files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/io/file_bytes.h"

namespace echolux {

// An array in C order. Its type decides whether it holds numbers or texts.
struct NpzArray {
    std::vector<std::int64_t> shape;  // empty for a scalar
    std::vector<double> numbers;
    std::vector<std::string> texts;  // characters beyond ASCII become '?'
};

// Reads arrays by name. Use it from one thread at a time.
class NpzFile {
  public:
    // Throws Error{bad_file} if the file is missing or its directory is damaged.
    explicit NpzFile(const std::filesystem::path& path);

    bool holds(const std::string& name) const { return members_.contains(name); }

    // Throws Error{bad_file} if the array is missing, damaged or of another type than integers, floats, bool and text.
    NpzArray array(const std::string& name);

  private:
    struct Member {
        std::int64_t place, packed, size;
        bool is_deflated;
    };

    void read_directory();
    std::string bytes_of(const Member& member);

    FileBytes file_;
    std::map<std::string, Member> members_;  // without ".npy"
};

}  // namespace echolux
