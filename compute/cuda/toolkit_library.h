// A shared library of the CUDA toolkit, opened on demand. The toolkit may be missing at run time, and everything that
// does not need the library still works.
#pragma once

#include <string>

namespace echolux::cuda {

// An open library. Never closed.
class ToolkitLibrary {
  public:
    // `file` is the name for the loader ("libcufft.so.12"). Searched by name first, then in the toolkit's usual
    // folders. Throws Error{device} naming the Debian-style package.
    ToolkitLibrary(std::string file, std::string package);

    // Looks up a function. Libraries stay open until the program ends, because their registrations with the driver
    // outlive any owner. Throws Error{device} if the library has no such function.
    template <class Function>
    void find(Function*& function, const char* name) const {
        function = reinterpret_cast<Function*>(address(name));
    }

  private:
    void* address(const char* name) const;

    std::string file_;
    void* library_ = nullptr;
};

// Throws the error of a failed library function. `doing` as in checked(): "cannot ...".
[[noreturn]] void throw_toolkit_error(const char* library, const char* doing, bool out_of_memory, int status);

}  // namespace echolux::cuda
