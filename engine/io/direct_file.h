// Writes at disk speed, bypassing the page cache (O_DIRECT) if the file system supports it. Then gigabytes per second
// do not fill the memory and do not stall when the kernel flushes dirty pages. Direct writes need whole pages in
// aligned memory. Other blocks go through a staging buffer. The last page is padded with zeros and rewritten when more
// data follows.
#pragma once

#include <filesystem>
#include <string>

#include "compute/place.h"
#include "engine/io/durable_file.h"

namespace echolux {

class DirectFile final : public DurableFile {
  public:
    enum class Caching { none, system };  // none: direct writes, falling back to `system` if unsupported

    // Creates a new file and locks it (file_lock.h) until it is closed. Throws Error{output} if it already exists or
    // cannot be created.
    DirectFile(const std::filesystem::path& path, Caching caching);
    ~DirectFile() override;
    DirectFile(const DirectFile&) = delete;
    DirectFile& operator=(const DirectFile&) = delete;

    void write(std::int64_t place, std::span<const std::byte> bytes) override;
    bool reserve(std::int64_t end) override;
    void sync() override;
    void end_at(std::int64_t size) override;

    // Whether writes bypass the page cache. Becomes false if the file system rejects direct writes.
    bool is_direct() const { return is_direct_; }

  private:
    void write_pages(std::int64_t place, std::span<const std::byte> bytes);
    void write_all(std::int64_t place, std::span<const std::byte> bytes);
    void write_through_cache();
    [[noreturn]] void fail(const char* what) const;

    std::string path_;
    int descriptor_ = -1;
    bool is_direct_ = false;
    std::int64_t end_ = 0;       // end of the last successful write
    std::int64_t reserved_ = 0;  // disk space is allocated up to here
    BlockMemory staging_;        // for direct writes
    BlockMemory last_page_;      // content of the last page, if end_ is within a page
};

}  // namespace echolux
