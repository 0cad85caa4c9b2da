// What a reader process gives up before it looks at the first byte of a file: memory beyond a bound, files, network,
// other processes. A list of system calls is all that is left (seccomp, Documentation/userspace-api/seccomp_filter.rst
// of Linux); voxels leave by memory that is shared already, words by a socket that is open already.
#pragma once

#include <cstdint>
#include <string>

namespace echolux {

// Whether all of it holds; else what does not, after which nothing may be read. `max_bytes` counts from what the
// process has now; `max_work_s` is of processor time, in all.
std::string enter_cage(std::int64_t max_bytes, std::int64_t max_work_s);

}  // namespace echolux
