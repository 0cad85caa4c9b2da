// A file that is written sequentially, with positions that can be overwritten later. All errors are Error{output} and
// name the result that the user requested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

namespace echolux {

class ResultFile {
  public:
    // Creates the file. `where` is the name in error messages.
    ResultFile(const std::filesystem::path& path, std::string where);

    std::int64_t place() const { return place_; }  // offset of the next byte

    void write(std::span<const std::byte> bytes);
    void write(const std::string& bytes) { write(std::as_bytes(std::span(bytes))); }

    // Overwrites bytes that were written before.
    void write_at(std::int64_t place, std::span<const std::byte> bytes);

    // Flushes and closes the file.
    void finish();

  private:
    [[noreturn]] void fail() const;

    std::ofstream stream_;
    std::string where_;
    std::int64_t place_ = 0;
};

}  // namespace echolux
