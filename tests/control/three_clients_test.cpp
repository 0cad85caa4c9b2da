// A window with three connected programs, each sending 1,000 settings per second: every request is answered and the
// window stays responsive.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <thread>

#include "ui/control/control_server.h"
#include "window_run.h"

namespace echolux::test {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

class Client {
  public:
    Client(int port, const std::string& token) : socket_(io_) {
        socket_.connect({asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(port)});
        say(Json{{"token", token}}.dump());
    }
    void say(const std::string& line) { asio::write(socket_, asio::buffer(line + "\n")); }
    Json hear() {
        const std::size_t bytes = asio::read_until(socket_, asio::dynamic_buffer(text_), '\n');
        const Json json = Json::parse(text_.substr(0, bytes));
        text_.erase(0, bytes);
        return json;
    }

  private:
    asio::io_context io_;
    asio::ip::tcp::socket socket_;
    std::string text_;
};

// Sends 1,000 settings, of which up to 16 wait for their answers: as many as come during a picture if 1,000 are sent
// per second. Returns the number of answers.
int send_settings(int port, const std::string& token, int number) {
    constexpr int most_waiting = 16;
    Client client(port, token);
    if (!client.hear().contains("welcome")) return 0;
    int answered = 0;
    std::counting_semaphore<> room(most_waiting);
    std::thread listens([&] {
        for (int i = 0; i < 1000; ++i) {
            answered += client.hear().contains("result") ? 1 : 0;
            room.release();
        }
    });
    for (int i = 0; i < 1000; ++i) {
        room.acquire();
        const Json values{{"view.zoom", 1 + (i % 100 + 1) * 0.001 * number}};
        client.say(Json{{"jsonrpc", "2.0"}, {"id", i}, {"method", "set"}, {"params", {{"values", values}}}}.dump());
    }
    listens.join();
    return answered;
}

class ThreeClients : public WindowRun {
  protected:
    struct Turned {
        std::vector<double> turns_s;
        std::int64_t pictures = 0;
    };
    // CPU time of this thread in seconds. Unlike wall time, it does not depend on the load of the machine.
    static double processor_s() {
        timespec taken{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &taken);
        return static_cast<double>(taken.tv_sec) + 1e-9 * static_cast<double>(taken.tv_nsec);
    }

    // Turns the window while `goes_on()` returns true and measures each turn.
    Turned turned_while(ControlServer& server, const std::function<bool()>& goes_on) {
        Turned turned;
        const std::int64_t before = window().stats().shown;
        while (goes_on()) {
            const double begin = processor_s();
            window().turn(server.timeout_s());
            server.update();
            turned.turns_s.push_back(processor_s() - begin);
        }
        turned.pictures = window().stats().shown - before;
        std::ranges::sort(turned.turns_s);
        return turned;
    }
};

TEST_F(ThreeClients, AnswersThousandSettingsPerSecondWithoutDelay) {
    open_window(640, 400);
    work().open(write_ball("ball.nii"));
    ASSERT_TRUE(settle());
    ControlServerOptions options;
    options.folders = {folder().path()};
    options.wake = [this] { window().wake(); };
    ControlServer server(work(), options);

    // Reference: cost of the pictures when only one user changes the window.
    int hand = 0;
    const Turned alone = turned_while(server, [&] {
        work().set("view", {{"view.zoom", 1 + (++hand % 50) * 0.002}}, Edit::in_progress);
        return hand <= 40;
    });

    std::atomic<int> answered = 0, ended = 0;
    std::vector<std::thread> clients;
    for (int number = 1; number <= 3; ++number) {
        clients.emplace_back([&, number] {
            answered += send_settings(server.port(), server.token(), number);
            ++ended;
        });
    }
    const Turned steered = turned_while(server, [&] { return ended < 3; });
    for (std::thread& client : clients) client.join();

    EXPECT_EQ(answered, 3000);
    const auto part = [](const Turned& turned, double p) {
        return turned.turns_s[static_cast<std::size_t>(p * static_cast<double>(turned.turns_s.size() - 1))];
    };
    std::printf(
        "alone: %zu turns, median %.1f ms, longest %.1f ms; steered: %zu turns, %d pictures, median %.1f ms, "
        "95 %% %.1f ms, longest %.1f ms\n",
        alone.turns_s.size(), 1e3 * part(alone, 0.5), 1e3 * part(alone, 1), steered.turns_s.size(),
        static_cast<int>(steered.pictures), 1e3 * part(steered, 0.5), 1e3 * part(steered, 0.95),
        1e3 * part(steered, 1));
    EXPECT_GT(steered.pictures, 5);
    EXPECT_LT(part(steered, 0.5), 2 * part(alone, 0.5) + 0.005);
    EXPECT_LT(part(steered, 1), 3 * part(alone, 1) + 0.02);  // no backlog builds up while nothing is drawn
}

TEST_F(ThreeClients, RejectsWrongTokenWhileOthersContinue) {
    open_window(640, 400);
    ControlServerOptions options;
    options.wake = [this] { window().wake(); };
    ControlServer server(work(), options);
    std::atomic<bool> is_done = false;
    Json stranger, answer;
    std::thread clients([&] {
        stranger = Client(server.port(), "guess").hear();
        Client client(server.port(), server.token());
        client.hear();
        client.say("{nonsense");
        client.say(R"({"jsonrpc": "2.0", "id": 1, "method": "state"})");
        client.hear();
        answer = client.hear();
        is_done = true;
    });
    turned_while(server, [&] { return !is_done; });
    clients.join();
    EXPECT_TRUE(stranger.contains("error")) << stranger;
    EXPECT_EQ(answer["result"]["program"], "echolux");
}

// An idle client causes no turns. A request is answered before the window's timeout expires.
TEST_F(ThreeClients, WindowIdlesWithoutRequests) {
    const auto screen = open_offscreen_window(640, 400, 1);
    screen->keep_time_by_hand(1.0 / 60);
    options_.backend.backend = Backend::cpu;
    Workspace work(options_);
    MainWindow window(*screen, work);
    ControlServerOptions options;
    options.wake = [&window] { window.wake(); };
    ControlServer server(work, options);
    while (!window.stats().is_at_rest) {
        server.update();
        window.turn(server.timeout_s());
    }
    int turns = 0;
    const auto turn = [&] {
        server.update();
        window.turn(server.timeout_s());
        ++turns;
    };
    Client client(server.port(), server.token());
    EXPECT_TRUE(client.hear().contains("welcome"));
    for (const double end = screen->now_s() + 10; screen->now_s() < end;) turn();
    EXPECT_LT(turns, 100) << "in ten seconds";
    std::atomic<bool> is_done = false;
    Json answer;
    std::thread asks([&] {
        client.say(R"({"jsonrpc": "2.0", "id": 1, "method": "state"})");
        answer = client.hear();
        is_done = true;
    });
    while (!is_done) turn();
    asks.join();
    EXPECT_EQ(answer["result"]["program"], "echolux");
}

}  // namespace
}  // namespace echolux::test
