// Writing at the speed of the disk: past the page cache (O_DIRECT) where the file system can, so that gigabytes a
// second neither fill the memory nor stop when the kernel decides to write them all at once. Direct writes are whole
// pages from aligned memory: blocks that are not go through a staging buffer, and the last page is written filled up
// with zeros, then again when there is more of it.
#pragma once

#include <filesystem>
#include <string>

#include "compute/block_memory.h"
#include "engine/io/durable_file.h"

namespace echolux {

class DirectFile final : public DurableFile {
  public:
    enum class Caching { none, system };  // none: direct writes, or `system` where they are not to be had

    // A new file. Throws Error{output}: cannot be created; already exists.
    DirectFile(const std::filesystem::path& path, Caching caching);
    ~DirectFile() override;
    DirectFile(const DirectFile&) = delete;
    DirectFile& operator=(const DirectFile&) = delete;

    void write(std::int64_t place, std::span<const std::byte> bytes) override;
    bool reserve(std::int64_t end) override;
    void sync() override;
    void end_at(std::int64_t size) override;

    bool is_direct() const { return is_direct_; }

  private:
    void write_pages(std::int64_t place, std::span<const std::byte> bytes);
    void write_all(std::int64_t place, std::span<const std::byte> bytes);
    void write_through_cache();
    [[noreturn]] void fail(const char* what) const;

    std::string path_;
    int descriptor_ = -1;
    bool is_direct_ = false;
    std::int64_t end_ = 0;       // of the last write that succeeded
    std::int64_t reserved_ = 0;  // room was asked for up to here
    BlockMemory staging_;        // of direct writes
    BlockMemory last_page_;      // as it lies in the file; where end_ is within a page
};

}  // namespace echolux
