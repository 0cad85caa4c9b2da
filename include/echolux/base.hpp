// Shared by all headers of the C++ interface: structs with their size set, errors as exceptions, and handles that free
// themselves.
#ifndef ECHOLUX_BASE_HPP
#define ECHOLUX_BASE_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base.h"

namespace echolux::api {

// Returns a struct of the C interface with its size set and all other fields at their defaults.
template <class S>
S make() {
    S one{};
    one.size = sizeof one;
    return one;
}

// Thrown for every failed call. what() is "where: problem (remedy)".
class Error : public std::runtime_error {
  public:
    explicit Error(const echolux_error& error)
        : std::runtime_error(line(error)), status_(error.code), problem_(error.what), where_(error.where),
          remedy_(error.remedy) {}

    echolux_status status() const noexcept { return status_; }
    const std::string& problem() const noexcept { return problem_; }
    const std::string& where() const noexcept { return where_; }
    const std::string& remedy() const noexcept { return remedy_; }

  private:
    static std::string line(const echolux_error& error) {
        std::string text = error.where;
        if (!text.empty()) text += ": ";
        text += error.what;
        if (error.remedy[0] != 0) text += std::string(" (") + error.remedy + ")";
        return text;
    }

    echolux_status status_;
    std::string problem_, where_, remedy_;
};

// View of contiguous elements owned by someone else, like C++20's std::span.
template <class T>
class Span {
  public:
    Span() = default;
    Span(T* data, std::size_t size) : data_(data), size_(size) {}
    template <class C, class = std::enable_if_t<std::is_convertible_v<decltype(std::declval<C&>().data()), T*>>>
    Span(C&& container) : data_(container.data()), size_(container.size()) {}  // NOLINT: like std::span

    T* data() const { return data_; }
    std::size_t size() const { return size_; }
    T* begin() const { return data_; }
    T* end() const { return data_ + size_; }
    T& operator[](std::size_t i) const { return data_[i]; }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

// Calls call(&error) and returns its status. Throws Error unless the status is ECHOLUX_OK or one of the other
// arguments.
template <class Call>
echolux_status checked(const Call& call, echolux_status also = ECHOLUX_OK, echolux_status besides = ECHOLUX_OK) {
    auto error = make<echolux_error>();
    const echolux_status status = call(&error);
    if (status != ECHOLUX_OK && status != also && status != besides) throw Error(error);
    return status;
}

namespace detail {

// Returns the text that call(buffer, size, needed, error) writes.
template <class Call>
std::string text(const Call& call) {
    std::size_t needed = 0;
    checked([&](echolux_error* error) { return call(nullptr, 0, &needed, error); });
    std::string all;
    while (all.size() < needed) {  // the text may grow between the calls
        all.assign(needed, '\0');
        auto error = make<echolux_error>();
        if (call(all.data(), all.size(), &needed, &error) != ECHOLUX_OK && needed <= all.size()) throw Error(error);
    }
    all.resize(all.find('\0'));
    return all;
}

template <class H, echolux_status (*free_it)(H*)>
struct Free {
    void operator()(H* handle) const noexcept { free_it(handle); }
};
template <class H, echolux_status (*free_it)(H*)>
using Owned = std::unique_ptr<H, Free<H, free_it>>;

inline std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> all;
    for (const std::string& one : texts) all.push_back(one.c_str());
    return all;
}

}  // namespace detail

using Assignments = std::vector<std::string>;  // "recipe.window=hann"

// Receives progress. Returning false stops the work, which then throws Error with ECHOLUX_CANCELLED.
using Progress = std::function<bool(const std::string& task, std::int64_t done, std::int64_t total)>;

namespace detail {

// C callback for a Progress passed as `user`. An exception in it stops the work.
inline int tell(void* user, const char* task, std::int64_t done, std::int64_t total, const char*) {
    try {
        return (*static_cast<const Progress*>(user))(task, done, total) ? 0 : 1;
    } catch (...) {
        return 1;
    }
}

}  // namespace detail

}  // namespace echolux::api

#endif
