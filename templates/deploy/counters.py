"""What an accelerator has counted, beside what hlsgen's simulation of the same design says.

    from accelerator import Accelerator
    from counters import Counters

    net = Accelerator("net.bit")
    counters = Counters(net)
    counters.clear()
    net.predict(x)
    print(counters)
"""

import ctypes
import json
import os


class Counters:
    """The counters of the accelerator that net, an Accelerator, runs on: a bitstream, or the library of rtl/axi."""

    def __init__(self, net):
        registers = net.host.get("registers") or {"windows": []}
        windows = [w for w in registers["windows"] if w["name"] == "counters"]
        if not windows:
            raise ValueError("the accelerator has no counters: build with --counters")
        self.offset = windows[0]["offset"]
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "host", "counters.json")) as f:
            self.simulated = json.load(f)
        device = net.device
        if hasattr(device, "overlay"):
            ip = _accelerator(device.overlay, net.host["top"])
            self._read, self._write = ip.read, ip.write
        elif hasattr(getattr(device, "lib", None), "hlsgen_peek"):
            device.lib.hlsgen_peek.restype = ctypes.c_uint32
            self._read, self._write = device.lib.hlsgen_peek, device.lib.hlsgen_poke
        else:
            raise ValueError("the device has no registers: counters are those of a bitstream, or of the library of rtl/axi")

    def clear(self):
        """Sets all to zero. They begin again with the next word that is sent."""
        self._write(self.offset, 1)

    def read(self):
        """What was counted: frames, clocks, and of each stream, by name, stalled and starved."""
        n = len(self.simulated["streams"])
        words = [self._read(self.offset + 4 * k) for k in range(2 + 2 * n)]
        streams = {s["name"]: {"stalled": words[2 + 2 * k], "starved": words[3 + 2 * k]}
                   for k, s in enumerate(self.simulated["streams"])}
        return {"frames": words[0], "clocks": words[1], "streams": streams}

    def __str__(self):
        got, want = self.read(), self.simulated
        row = "%-8s%-40s%12s%12s%12s%12s"
        lines = [row % ("", "", "counted", "", "simulated", ""),
                 row % ("", "frames", got["frames"], "", want["frames"], ""),
                 row % ("", "clocks", got["clocks"], "", want["clocks"], ""),
                 row % ("stream", "", "stalled", "starved", "stalled", "starved")]
        for s in want["streams"]:
            n = got["streams"][s["name"]]
            lines.append(row % (s["name"], s["from"] + " to " + s["to"], n["stalled"], n["starved"], s["stalled"],
                                s["starved"]))
        return "\n".join(lines)


def _accelerator(overlay, top):
    """The accelerator itself, by its kind in the .hwh."""
    for name, ip in overlay.ip_dict.items():
        if ":" + top + ":" in ip["type"]:
            return getattr(overlay, name)
    raise ValueError("the bitstream shows no registers of %s" % top)
