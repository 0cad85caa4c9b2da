// Live sessions. One thread may push while another takes volumes, so each kind of call has its own lock. Queries need
// none, since a stage may call them while another thread waits for it.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <tuple>

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/blocks.h"
#include "python/src/scan.h"
#include "python/src/stages.h"
#include "python/src/volume.h"

namespace echolux::python {
namespace {

api::Error closed() {
    auto error = api::make<echolux_error>();
    error.code = ECHOLUX_BAD_ARGUMENT;
    std::string("is closed").copy(error.what, sizeof error.what - 1);
    std::string("session").copy(error.where, sizeof error.where - 1);
    std::string("open another").copy(error.remedy, sizeof error.remedy - 1);
    return api::Error(error);
}

struct Closed : api::Error {
    Closed() : api::Error(closed()) {}
};

class Live {
  public:
    explicit Live(api::Live&& one) : state_(std::make_unique<State>(std::move(one))) {}
    Live(Live&&) = default;
    ~Live() { close(); }

    // Ends its threads once no other call uses it. Later calls throw Closed.
    void close() {
        if (!state_) return;
        if (is_fork()) return static_cast<void>(state_.release());
        const GilRelease gil_release;  // its threads may be in a stage
        state_->close();
    }

    // Queries, and calls that wait without changing anything: several at a time.
    template <class Work>
    auto looking(const Work& work) const {
        return released([&] {
            const Use use(*state_);
            return work(*state_->live);
        });
    }
    // Starting, stopping, settings and recordings: one at a time.
    template <class Work>
    auto controlled(const Work& work) const {
        return locked(state_->control, work);
    }
    template <class Work>
    auto taking(const Work& work) const {
        return locked(state_->taking, work);
    }
    template <class Work>
    auto pushing(const Work& work) const {
        return locked(state_->pushing, work);
    }

  private:
    struct State {
        explicit State(api::Live&& one) : live(std::move(one)) {}

        void close() {
            std::unique_lock<std::mutex> guard(lock);
            is_closed = true;
            changed.wait(guard, [this] { return uses == 0; });
            live.reset();
        }

        std::mutex control, taking, pushing;
        std::mutex lock;  // guards the members below
        std::condition_variable changed;
        int uses = 0;
        bool is_closed = false;
        std::optional<api::Live> live;
    };

    // Keeps the session open during a call.
    class Use {
      public:
        explicit Use(State& state) : state_(state) {
            const std::lock_guard<std::mutex> guard(state_.lock);
            if (state_.is_closed) throw Closed();
            ++state_.uses;
        }
        ~Use() {
            const std::lock_guard<std::mutex> guard(state_.lock);
            --state_.uses;
            state_.changed.notify_all();
        }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

      private:
        State& state_;
    };

    template <class Work>
    auto locked(std::mutex& mutex, const Work& work) const {
        return looking([&](api::Live& one) {
            const std::scoped_lock lock(mutex);
            return work(one);
        });
    }

    std::unique_ptr<State> state_;
};

// The result points to `device` and `stages`, which must outlive its use.
echolux_live_options options_of(const echolux_device& device, bool lossless, std::int32_t queue,
                                const echolux_stages* stages, double keep_gb = 0) {
    auto options = api::make<echolux_live_options>();
    options.device = &device;
    options.delivery = lossless ? ECHOLUX_EVERY : ECHOLUX_NEWEST;
    options.queue = queue;
    options.stages = stages;
    options.keep_gb = keep_gb;
    return options;
}

Live opened(const std::string& source, const std::string& scan_toml, const std::vector<std::string>& assignments,
            const std::string& device, bool lossless, std::int32_t queue, const nb::object& stages) {
    const echolux_device on = device_of(device);
    PythonHooks given(stages);
    Live live = released([&] {
        const auto options = options_of(on, lossless, queue, stages.is_none() ? nullptr : &given.get());
        return Live(api::Live::open(source, assignments, options, scan_toml));
    });
    given.taken();
    return live;
}

Live created(const Scan& scan, const std::string& device, bool lossless, std::int32_t queue, double keep_gb,
             const nb::object& stages) {
    const echolux_device on = device_of(device);
    PythonHooks given(stages);
    Live live = scan.with([&](api::Scan& one) {
        const auto options = options_of(on, lossless, queue, stages.is_none() ? nullptr : &given.get(), keep_gb);
        return Live(api::Live::create(one, options));
    });
    given.taken();
    return live;
}

// Number of B-scans in an array of `scan`.
std::int64_t b_scans_of(const Scan& scan, nb::handle spectra) {
    const auto from = array_of<InArray>(spectra, "source");
    return scan.with([&](api::Scan& one) { return Arrangement(one).block_of(from).b_scans; });
}

// Returns false if there was no room.
bool push(const Live& live, const Scan& scan, nb::handle spectra, std::int64_t volume, std::int64_t first,
          std::int32_t timeout_ms) {
    const auto from = array_of<InArray>(spectra, "source");
    echolux_block block = scan.with([&](api::Scan& one) { return Arrangement(one).block_of(from); });
    block.volume = volume;
    block.first_b_scan = first;
    return live.pushing([&](api::Live& one) { return one.push(block, timeout_ms); });
}

// Returns (structure, flow); None: nothing yet; False: no more.
nb::object next(const Live& live, std::int32_t timeout_ms) try {
    bool ended = false;
    std::optional<api::Volumes> made = live.taking([&](api::Live& one) {
        auto taken = one.next(timeout_ms);
        ended = one.ended();
        return taken;
    });
    if (made) return nb::cast(pair_of(std::move(*made)));
    return ended ? nb::cast(false) : nb::none();
} catch (const Closed&) {  // closed while a thread iterates over volumes: the iteration ends
    return nb::cast(false);
}

// Values by key.
Facts stats(const Live& live) {
    const api::Stats now = live.looking([](api::Live& one) { return one.stats(); });
    Facts all;
    for (std::size_t i = 0; i < now.values().size(); ++i) {
        const echolux_stat& stat = api::Stats::described()[i];
        const double value = now.values()[i];
        if (stat.type == ECHOLUX_FLAG)
            all[stat.key] = value != 0;
        else if (stat.type == ECHOLUX_INTEGER)
            all[stat.key] = static_cast<std::int64_t>(value);
        else
            all[stat.key] = value;
    }
    return all;
}

// Key, unit, help, and kind as of a setting.
std::vector<std::tuple<std::string, std::string, std::string, std::int32_t>> described_stats() {
    std::vector<std::tuple<std::string, std::string, std::string, std::int32_t>> all;
    for (const echolux_stat& stat : api::Stats::described())
        all.emplace_back(stat.key, stat.unit, stat.help, stat.type);
    return all;
}

}  // namespace

void bind_live(nb::module_& module) {
    nb::class_<Live>(module, "Live", "A source, reconstructed while it acquires.", nb::is_weak_referenceable())
        .def_static("open", &opened, nb::arg("source"), nb::arg("scan_toml"), nb::arg("assignments"), nb::arg("device"),
                    nb::arg("lossless"), nb::arg("queue"), nb::arg("stages").none())
        .def_static("create", &created, nb::arg("scan"), nb::arg("device"), nb::arg("lossless"), nb::arg("queue"),
                    nb::arg("keep_gb"), nb::arg("stages").none())
        .def(
            "start",
            [](const Live& live, std::int64_t volumes) {
                live.controlled([&](api::Live& one) { one.start(volumes); });
            },
            nb::arg("volumes"))
        .def("stop", [](const Live& live) { live.controlled([](api::Live& one) { one.stop(); }); })
        .def(
            "wait",
            [](const Live& live, std::int32_t timeout_ms) {
                return live.looking([&](api::Live& one) { return one.wait(timeout_ms); });
            },
            nb::arg("timeout_ms"))
        .def("push", &push, nb::arg("scan"), nb::arg("spectra"), nb::arg("volume"), nb::arg("first"),
             nb::arg("timeout_ms"))
        .def("end", [](const Live& live) { live.pushing([](api::Live& one) { one.end(); }); })
        .def("next", &next, nb::arg("timeout_ms"))
        .def(
            "set",
            [](const Live& live, const std::string& key, const std::string& value) {
                live.controlled([&](api::Live& one) { one.set(key, value); });
            },
            nb::arg("key"), nb::arg("value"))
        .def("scan", [](const Live& live) { return live.looking([](api::Live& one) { return Scan(one.scan()); }); })
        .def("stats", &stats)
        .def_static("described_stats", &described_stats)
        .def("events", [](const Live& live) { return live.looking([](api::Live& one) { return one.events(); }); })
        .def(
            "record",
            [](const Live& live, const std::string& path, bool overwrite,
               const std::vector<std::string>& stripe_folders) {
                live.controlled([&](api::Live& one) { one.record(path, overwrite, stripe_folders); });
            },
            nb::arg("path"), nb::arg("overwrite"), nb::arg("stripe_folders"))
        .def("stop_recording", [](const Live& live) { live.controlled([](api::Live& one) { one.stop_recording(); }); })
        .def("kept", [](const Live& live) { return live.looking([](api::Live& one) { return one.kept(); }); })
        .def(
            "go_to",
            [](const Live& live, std::int64_t time_point) {
                return pair_of(live.looking([&](api::Live& one) { return one.go_to(time_point); }));
            },
            nb::arg("time_point"))
        .def("play", [](const Live& live) { live.looking([](api::Live& one) { one.play(); }); })
        .def(
            "save_kept",
            [](const Live& live, const std::string& path, double seconds) {
                return live.looking([&](api::Live& one) { return one.save_kept(path, seconds); });
            },
            nb::arg("path"), nb::arg("seconds"))
        .def("close", &Live::close);
    module.def("b_scans_of", &b_scans_of, nb::arg("scan"), nb::arg("spectra"));
}

}  // namespace echolux::python
