// What the driver takes of XRT, with the card of card.hpp behind it: buffers.
#pragma once
#include "xrt_device.h"

enum xclBOSyncDirection { XCL_BO_SYNC_BO_TO_DEVICE, XCL_BO_SYNC_BO_FROM_DEVICE };

namespace xrt {

using memory_group = std::uint32_t;

class bo {
public:
    bo() = default;
    bo(const device&, std::size_t size, memory_group bank) : of(std::make_shared<card::memory>(size)) {
        if (bank != 3) card::fail("a buffer is in another bank than its mover's");
    }

    std::size_t size() const { return of->host.size(); }
    std::uint64_t address() const { return of->address; }
    void sync(xclBOSyncDirection way) { way == XCL_BO_SYNC_BO_TO_DEVICE ? of->device = of->host : of->host = of->device; }
    void sync(xclBOSyncDirection way, std::size_t size, std::size_t offset) {
        if (offset + size > of->host.size()) card::fail("more than a buffer is synchronised");
        auto &from = way == XCL_BO_SYNC_BO_TO_DEVICE ? of->host : of->device, &to = way == XCL_BO_SYNC_BO_TO_DEVICE ? of->device : of->host;
        std::memcpy(to.data() + offset, from.data() + offset, size);
    }
    template <class T> T map() { return reinterpret_cast<T>(of->host.data()); }

private:
    std::shared_ptr<card::memory> of;
};

} // namespace xrt
