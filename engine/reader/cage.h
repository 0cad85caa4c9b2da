// Sandbox of a reader process, entered before it reads the first byte of a file. It limits memory and time, and removes
// access to files, network and other processes. Only a list of system calls remains (seccomp,
// Documentation/userspace-api/seccomp_filter.rst of Linux). Voxels leave through existing shared memory, messages
// through an open socket.
#pragma once

#include <cstdint>
#include <string>

namespace echolux {

// Enters the sandbox. Returns "" on success, otherwise the reason; then no file may be read. `max_bytes` is in addition
// to the current memory; `max_work_s` limits the total processor time.
std::string enter_cage(std::int64_t max_bytes, std::int64_t max_work_s);

}  // namespace echolux
