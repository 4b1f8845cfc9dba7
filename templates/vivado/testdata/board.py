"""Reads a .hwh with PYNQ's own code, and compares it with host.json. With a driver and a library, it then has the driver run on
a stand-in of the board, which finds movers and interrupts by PYNQ's own code.

    board.py SOURCE HWH HOST [DEPLOY LIBRARY]

SOURCE is a folder pynq-VERSION, as PyPI has it. The samples and results of the driver become x.npy and y.npy beside DEPLOY.
"""

import importlib.util
import io
import json
import os
import sys
import threading
import time
import types
import warnings
from pathlib import Path
from xml.etree import ElementTree

source, hwh, host = Path(sys.argv[1]), sys.argv[2], json.loads(Path(sys.argv[3]).read_text())
version, system = source.name.split("-")[1], host["system"]
warnings.simplefilter("ignore")
zynq = system["movers"][0]["address"] < 0x80000000


def check(what, holds):
    if not holds:
        sys.exit("FAIL %s: %s" % (version, what))


def module(name, path):
    spec = importlib.util.spec_from_file_location(name, str(path))
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


# PYNQ's package, without what its __init__ imports
deploy = sys.argv[4:]
if deploy:
    sys.path.insert(0, deploy[0])
    sys.argv[2] = deploy[1]
    pynq = module("pynq", Path(__file__).resolve().parents[3] / "internal" / "build" / "testdata" / "pynq.py")
    del sys.modules["pynq.interrupt"]
else:
    pynq = sys.modules["pynq"] = types.ModuleType("pynq")
pynq.__path__ = [str(source / "pynq")]

# no element and no attribute that the .hwh files of PYNQ's own overlays have not
known = {}
for path in source.parent.glob("pynq-3.0.1/boards/*/base/base.hwh"):
    for element in ElementTree.parse(str(path)).iter():
        known.setdefault(element.tag, set()).update(element.attrib)
check("no base.hwh", len(known) > 20)
for element in ElementTree.parse(hwh).iter():
    check("%s %s" % (element.tag, element.attrib), element.tag in known and set(element.attrib) <= known[element.tag])

# movers, addresses and interrupts are those of host.json
if version.startswith("2."):
    ps = types.ModuleType("pynq.ps")
    ps.CPU_ARCH_IS_SUPPORTED, ps.ZYNQ_ARCH, ps.ZU_ARCH, ps.CPU_ARCH = True, "armv7l", "aarch64", ["aarch64", "armv7l"][zynq]
    sys.modules["pynq.ps"] = ps
    of = module("hwh_parser", source / "pynq" / "pl_server" / "hwh_parser.py")
    del sys.modules["pynq.ps"]
    parsed = (of._HWHZynq if zynq else of._HWHUltrascale)(hwh)
    numbers = {name: ip["interrupts"]["interrupt"]["raw_irq"] for name, ip in parsed.ip_dict.items() if "interrupt" in ip["interrupts"]}
else:
    from pynqmetadata.frontends import Metadata
    from pynq.metadata.runtime_metadata_parser import RuntimeMetadataParser

    read = Metadata(input=hwh)
    parsed, numbers = RuntimeMetadataParser(read), {}

    def ends(block, port):
        """Blocks and pins that a pin is connected to."""
        return [(s._parent._parent.name, s.name) for s in read.blocks[block].ports[port].sig()._connections.values()]

    lines, first = {}, 0
    for pin, runs in read.blocks["ps"].irq.items():
        lines[pin] = [base + k for base, count in runs for k in range(count)]
    for m in system["movers"]:
        for concat, pin in ends(m["name"], "interrupt"):
            for block, irq in ends(concat, "dout"):
                check("%s is at %s" % (m, block), block == "ps")
                numbers[m["name"]] = lines[irq][int(pin[2:])]
    check("ip_dict knows interrupts", not any(ip["interrupts"] for ip in parsed.ip_dict.values()))
movers = {name: ip for name, ip in parsed.ip_dict.items() if ip["type"].startswith("hlsgen:kernels:")}
check((movers, system), {name: (ip["phys_addr"], ip["addr_range"]) for name, ip in movers.items()}
      == {m["name"]: (m["address"], 0x10000) for m in system["movers"]})
check((numbers, system), numbers == {m["name"]: m["interrupt"] for m in system["movers"]})
clock = parsed.clock_dict[0]
pll = 1000 if zynq or system["board"].startswith("k") else 1500
check((clock, system), clock["enable"] == 1 and abs(pll / clock["divisor0"] / clock["divisor1"] - system["clock_mhz"]) < 1e-6)
if not deploy:
    print("PASS")
    sys.exit()

# the driver, on a stand-in of the board
import numpy as np  # noqa: E402
import pynq.interrupt as interrupt  # noqa: E402
from accelerator import Accelerator, Unfit  # noqa: E402

proc = "           CPU0       CPU1\n 45:          0          0     GICv2 %d Level     fabric\nIPI0:          0          0  CPU wakeup interrupts\n" \
    % (61 if zynq else 121)
devices = []  # that Linux was asked for
interrupt.open = lambda path, mode: io.StringIO(proc) if path == "/proc/interrupts" else open(path, mode)


def device(name):
    devices.append(name)
    return pynq._lines[61 if zynq else 121]


interrupt.get_uio_device = device
pynq.wired, pynq.Clocks.fclk0_mhz = True, system["clock_mhz"]


class Overlay(pynq.Overlay):
    """With what PYNQ's own code has read."""

    def __init__(self, path):
        super().__init__(path)
        self.ip_dict = parsed.ip_dict


pynq.Overlay = Overlay
bit = str(Path(deploy[0]).parent / "net.bit")
open(bit, "w").close()
x = np.random.RandomState(1).uniform(-2, 2, [96] + host["inputs"][0]["shape"][1:]).astype(np.float32)
want = Accelerator(deploy[1]).predict(x)
for name, array in (("x", x), ("y", want)):
    np.save(str(Path(deploy[0]).parent / (name + ".npy")), array)
pynq.late = 0.01
with Accelerator(bit, batch=32) as net:
    check(devices, devices == ["fabric"])
    first = host["receive"][0]["port"]
    check(net.device.interrupts, list(net.device.interrupts) == [first])
    pynq.counts.update(flush=0, invalidate=0, interrupts=0, asked=0)
    begin = time.monotonic()
    check("another result", net.predict(x).tobytes() == want.tobytes())
    check(pynq.counts, pynq.counts["flush"] == 3 * len(host["send"]) and pynq.counts["invalidate"] == 3 * len(host["receive"]))
    most = 3 * (1 + 2 * len(system["movers"])) + 10 * (time.monotonic() - begin)  # questions of a driver that waits for interrupts
    check(pynq.counts, pynq.counts["interrupts"] >= 3 and pynq.counts["asked"] <= most)
    wrong = []

    def predict(some):
        for _ in range(2):
            if net.predict(x[some]).tobytes() != want[some].tobytes():
                wrong.append(some)

    threads = [threading.Thread(target=predict, args=(slice(20 * k, 20 * k + 36),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(wrong, not wrong)
check(pynq.memory, not pynq.memory)
pynq.Mover.read, read = lambda mover, at: 7 if at == 0x34 else read(mover, at), pynq.Mover.read
try:
    Accelerator(bit)
    check("another hash is taken", False)
except Unfit as e:
    check(e, "do not belong together" in str(e) and "host.json of %s" % host["hash"] in str(e))
print("PASS Python %s, numpy %s, pynq %s" % (sys.version.split()[0], np.__version__, version))
