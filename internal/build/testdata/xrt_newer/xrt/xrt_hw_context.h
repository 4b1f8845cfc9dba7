// What newer versions of XRT add, as far as the driver takes it: the context of an xclbin on a device.
#pragma once
#include <experimental/xrt_xclbin.h>
#include <xrt/xrt_device.h>

namespace xrt {

class hw_context {
public:
    enum class access_mode : std::uint8_t { exclusive = 0, shared = 1 };

    hw_context() = default;
    hw_context(const device&, const uuid&, access_mode mode) : exclusive(mode == access_mode::exclusive) {}
    hw_context(const device& on, const uuid& loaded) : hw_context(on, loaded, access_mode::shared) {}
    xclbin get_xclbin() const { return {}; }
    access_mode get_mode() const { return exclusive ? access_mode::exclusive : access_mode::shared; }

private:
    bool exclusive = false;
};

} // namespace xrt
