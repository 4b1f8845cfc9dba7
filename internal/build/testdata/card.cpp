// A program for a card: it is compiled against AMD's runtime, and not run.
#include "accelerator_xrt.hpp"

int main() {
    xrt::device card(0);
    hlsgen::xrt_device device(card, card.load_xclbin("net.xclbin"));
    hlsgen::accelerator net(device, 64);
    return net.predict(std::vector<float>(64)).size() == 10 && net.throughput() > 0 ? 0 : 1;
}

#ifdef OLD_CALLS
xrt::kernel opened(const xrt::device& card, const xrt::uuid& loaded) { return xrt::kernel(card, loaded, "read"); }
#endif

// weights that come with every frame
void external_weights(hlsgen::xrt_device& device, const std::vector<std::uint8_t>& data) { device.weights("s_axis_MVAU_0_weights", data.data(), data.size(), 1); }
