// A file that is written from its beginning to its end, with places in it filled in later; every fault becomes an
// Error{output} that names the result the user asked for.
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
    ResultFile(const std::filesystem::path& path, std::string where);

    std::int64_t place() const { return place_; }  // where the next byte goes

    void write(std::span<const std::byte> bytes);
    void write(const std::string& bytes) { write(std::as_bytes(std::span(bytes))); }

    // Over what was written there.
    void write_at(std::int64_t place, std::span<const std::byte> bytes);

    // Whatever waits in memory is written.
    void finish();

  private:
    [[noreturn]] void fail() const;

    std::ofstream stream_;
    std::string where_;
    std::int64_t place_ = 0;
};

}  // namespace echolux
