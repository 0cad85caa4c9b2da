// Waiting in tests: long enough for a loaded machine, but never forever. A timeout reports the condition.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace echolux {

// For loops that do more than wait. lasts() throws after two minutes.
class TestPatience {
  public:
    bool lasts() const {
        if (std::chrono::steady_clock::now() < end_) return true;
        throw std::runtime_error("a test waited two minutes");
    }

  private:
    std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::minutes(2);
};

// Throws after two minutes.
template <class Condition>
void await(const char* file, int line, const char* what, const Condition& condition) {
    constexpr std::chrono::minutes longest{2};
    for (const auto end = std::chrono::steady_clock::now() + longest; !condition();) {
        if (std::chrono::steady_clock::now() > end) {
            throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": waited two minutes for " +
                                     what);
        }
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

}  // namespace echolux

// Waits until the expression is true.
#define AWAIT(...) ::echolux::await(__FILE__, __LINE__, #__VA_ARGS__, [&] { return (__VA_ARGS__); })
