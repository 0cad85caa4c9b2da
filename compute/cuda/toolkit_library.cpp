#include "compute/cuda/toolkit_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "compute/error.h"

namespace echolux::cuda {
namespace {

std::vector<std::string> folders() {
    std::vector<std::string> found{""};
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const char* home = std::getenv(variable);
        if (home == nullptr || *home == '\0') continue;
        found.push_back(std::string(home) + "/lib64/");
        found.push_back(std::string(home) + "/targets/x86_64-linux/lib/");
    }
    for (const char* usual :
         {"/usr/local/cuda/lib64/", "/usr/local/cuda/targets/x86_64-linux/lib/", ECHOLUX_CUDA_LIBRARIES "/"}) {
        found.emplace_back(usual);
    }
    return found;
}

}  // namespace

ToolkitLibrary::ToolkitLibrary(std::string file, std::string package) : file_(std::move(file)) {
    for (const std::string& folder : folders()) {
        library_ = dlopen((folder + file_).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library_ != nullptr) return;
    }
    throw Error(ErrorCode::device, fmt::format("{} was not found on this machine", file_), "cuda",
                fmt::format("install {}, or set CUDA_HOME to the folder of a CUDA 13 toolkit", package));
}

void* ToolkitLibrary::address(const char* name) const {
    void* found = dlsym(library_, name);
    if (found == nullptr) {
        throw Error(ErrorCode::device, fmt::format("{} has no function {}", file_, name), "cuda",
                    "install the CUDA toolkit that Echolux was built with");
    }
    return found;
}

void throw_toolkit_error(const char* library, const char* doing, bool out_of_memory, int status) {
    throw Error(out_of_memory ? ErrorCode::out_of_memory : ErrorCode::device,
                fmt::format("{} cannot {} (error {})", library, doing, status), "cuda",
                out_of_memory ? "reconstruct fewer B-scans at a time" : "try again, or choose `backend` cpu");
}

}  // namespace echolux::cuda
