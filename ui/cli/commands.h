// The commands of the program: each adds itself, its options and what it does to the command line.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace echolux {

void add_attenuation(CLI::App& program);
void add_batch(CLI::App& program);
void add_bench(CLI::App& program);
void add_calibrate(CLI::App& program);
void add_ctl(CLI::App& program);
void add_convert(CLI::App& program);
void add_demo(CLI::App& program);
void add_figure(CLI::App& program);
void add_filter(CLI::App& program);
void add_flow(CLI::App& program);
void add_info(CLI::App& program);
void add_segment(CLI::App& program);
void add_serve(CLI::App& program);
void add_simulate(CLI::App& program);
void add_validate(CLI::App& program);
void add_view(CLI::App& program);
void add_reconstruct(CLI::App& program);
void add_register(CLI::App& program);
void add_render(CLI::App& program);
void add_reproduce(CLI::App& program);
void add_live(CLI::App& program);
void add_record(CLI::App& program);

// `batch VERB ...` goes on as the command of the Python module, and does not return; `batch reconstruct` is `batch`,
// and its verb is taken out. All other command lines stay as they are. Throws Error where there is no such module.
void hand_over_batch_verb(std::vector<std::string>& arguments);

}  // namespace echolux
