// Calls code that may never return. Calls run one at a time on a separate thread, and the caller waits with a timeout.
// A thread that hangs is abandoned with everything that its call uses.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace echolux {

class PatientCaller {
  public:
    PatientCaller();
    // Does not wait for a call in progress; its thread ends when the call returns.
    ~PatientCaller();
    PatientCaller(const PatientCaller&) = delete;
    PatientCaller& operator=(const PatientCaller&) = delete;

    // Starts a call. `work` must own everything that it uses and must not throw. Call only while no other call is in
    // progress.
    void begin(std::function<void()> work);

    // Returns whether the call has returned within `patience`.
    bool wait(std::chrono::milliseconds patience);

    bool is_under_way() const;

  private:
    struct Shared;
    static void run(const std::shared_ptr<Shared>& shared);

    std::shared_ptr<Shared> shared_;  // shared with the thread
};

}  // namespace echolux
