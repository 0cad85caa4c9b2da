// Main loop of a reader process: receives the order to open a file, enters the sandbox, and answers requests until the
// socket is closed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/io/contained/wire.h"

namespace echolux {

// Opens the file at the descriptor reader_file.
using OpenReader = std::function<std::unique_ptr<ImageReader>(const OpenOrder& order)>;

// Returns the exit status.
int serve_reader(const OpenReader& open);

// ---- Sandbox of a reader process, entered before it reads the first byte of a file. It limits memory and time, and
// removes access to files, network and other processes. Only a list of system calls remains (seccomp,
// Documentation/userspace-api/seccomp_filter.rst of Linux). Voxels leave through existing shared memory, messages
// through an open socket.

// Enters the sandbox. Returns "" on success, otherwise the reason; then no file may be read. `max_bytes` is in addition
// to the current memory; `max_work_s` limits the total processor time.
std::string enter_cage(std::int64_t max_bytes, std::int64_t max_work_s);

}  // namespace echolux
