// A shared library of the CUDA toolkit, opened when it is wanted: where the program runs the toolkit may be missing,
// and what does not need the library works all the same.
#pragma once

#include <string>

namespace echolux::cuda {

class ToolkitLibrary {
  public:
    // `file` as the loader knows it ("libcufft.so.12"): by its name alone, then in the toolkit's usual folders.
    // Throws Error{device} that names the Debian-style package.
    ToolkitLibrary(std::string file, std::string package);

    // Libraries stay open to the end of the program: what they have registered with the driver outlives any owner.
    // Throws Error{device} where the library has no such function.
    template <class Function>
    void find(Function*& function, const char* name) const {
        function = reinterpret_cast<Function*>(address(name));
    }

  private:
    void* address(const char* name) const;

    std::string file_;
    void* library_ = nullptr;
};

// What a function of such a library said when it failed. `doing` as in checked(): "cannot ...".
[[noreturn]] void throw_toolkit_error(const char* library, const char* doing, bool out_of_memory, int status);

}  // namespace echolux::cuda
