// A file that grows during an experiment, with a known amount of data that survives a power cut. It is an interface so
// that tests can simulate full, slow or failing disks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace echolux {

class DurableFile {
  public:
    virtual ~DurableFile() = default;

    // Writes `bytes` at byte `place`, which must not be before the end of the last successful write. Gaps read as
    // zeros. The data survives the end of this program as soon as the call returns, and a power cut after the next
    // sync(). Throws Error{output}; the file may then contain part of the data and still accepts further writes.
    virtual void write(std::int64_t place, std::span<const std::byte> bytes) = 0;

    // Allocates disk space up to byte `end` without changing the file's length. Returns false if the allocation is
    // unsupported, or if it would leave less free space than it takes.
    virtual bool reserve(std::int64_t end) = 0;

    // Flushes all written data to disk. Throws Error{output}.
    virtual void sync() = 0;

    // Sets the length to `size` bytes and releases disk space beyond it. Throws Error{output}.
    virtual void end_at(std::int64_t size) = 0;
};

}  // namespace echolux
