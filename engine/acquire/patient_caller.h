// Calls into code that may never come back: they are made on a thread of their own, one at a time, and whoever calls
// waits as long as he likes. A thread that hangs is left behind with all that its call uses.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace echolux {

class PatientCaller {
  public:
    PatientCaller();
    // Does not wait for a call under way: the thread ends when that comes back, if it ever does.
    ~PatientCaller();
    PatientCaller(const PatientCaller&) = delete;
    PatientCaller& operator=(const PatientCaller&) = delete;

    // Begins a call; `work` holds all that it uses, and throws nothing. Only while none is under way.
    void begin(std::function<void()> work);

    // Whether the call has come back by then.
    bool wait(std::chrono::milliseconds patience);

    bool is_under_way() const;

  private:
    struct Shared;
    static void run(const std::shared_ptr<Shared>& shared);

    std::shared_ptr<Shared> shared_;  // with the thread
};

}  // namespace echolux
