// The waits of the tests in C++: they poll a condition, last as long as a loaded machine may need, and report what they
// waited for.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace echolux {

// For loops that do more than wait. Throws when two minutes are over.
class TestTimeout {
  public:
    bool lasts() const {
        if (std::chrono::steady_clock::now() < end_) return true;
        throw std::runtime_error("a test waited two minutes");
    }

  private:
    std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::minutes(2);
};

// Returns whether the condition becomes true within `longest`. `every` is the poll interval; choose a long one for an
// expensive condition.
template <class Condition>
bool becomes_true(const Condition& condition, std::chrono::nanoseconds longest = std::chrono::minutes(2),
                  std::chrono::nanoseconds every = std::chrono::microseconds(500)) {
    for (const auto end = std::chrono::steady_clock::now() + longest; !condition();) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(every);
    }
    return true;
}

// Throws when two minutes are over.
template <class Condition>
void await(const char* file, int line, const char* what, const Condition& condition) {
    if (becomes_true(condition)) return;
    throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": waited two minutes for " + what);
}

}  // namespace echolux

// Until the expression is true.
#define AWAIT(...) ::echolux::await(__FILE__, __LINE__, #__VA_ARGS__, [&] { return (__VA_ARGS__); })
