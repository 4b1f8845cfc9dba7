"""Loads the weights of a host.json into the accelerator, which was built with --weights runtime, stream or external. A driver does so when
it begins:

    net = Accelerator("net.bit")                                            # the weights that it was built with
    net = Accelerator("net.bit", host="retrained-weights/host.json")        # those of hlsgen weights
"""

import ctypes
import hashlib
import os
import struct
import time

import numpy as np

HEAD = struct.Struct("<8sQQII")  # magic and version, design, host.json, words, 0


class Unfit(ValueError):
    """The weights belong to another host.json, or to another accelerator."""


def load(net, path):
    """Loads what the host.json at path names. net is an Accelerator that nothing runs on."""
    of = net.host["weights"]
    words = read(os.path.join(os.path.dirname(os.path.abspath(path)), of["file"]), net.host)
    for e in of.get("external", []):  # these come out of memory with every frame
        if not hasattr(net.device, "weights"):
            raise Unfit("the device has no weights, which come out of memory: take a bitstream, or the library of rtl/axi")
        data = np.array(words[e["at"]:e["at"] + (e["bytes"] + 3) // 4], "<u4").view(np.uint8)[:e["bytes"]]
        net.device.weights(e["port"], np.tile(data, e["copies"]), e["passes"])
    window = [w for w in (net.host.get("registers") or {"windows": []})["windows"] if w["name"] == "weights"]
    if window:
        _tables(net, of, words[:of["words"]], window[0])


def _tables(net, of, words, window):
    """Fills tables with words."""
    get, put = _registers(net.device, net.host)
    begin, word = window["offset"], window["offset"] + 4
    words += (0,)  # the last one no table takes
    loader = net.host["registers"].get("loader")
    if loader is None:
        put(begin, 1)
        for w in words:
            put(word, w)
    elif hasattr(net.device, "load"):
        net.device.load(loader, np.array(words, "<u4").view(np.uint8))
    else:
        raise Unfit("the device has no load, which fills tables from memory: take a bitstream, or the library of rtl/axi")
    end = time.time() + 1.0
    while get(begin) == 0 and time.time() < end:
        pass
    passed = get(begin)
    if passed != 1:
        raise Unfit("the accelerator takes another number of words than the %d of %s" % (len(words), of["file"]))


def read(path, host):
    """The words of a file of weights, which has to be that of host."""
    with open(path, "rb") as file:
        data = file.read()
    hint = "copy weights.bin and host.json together, as hlsgen wrote them"
    if len(data) < HEAD.size + 8 or data[:7] != b"HLSGENW":
        raise Unfit("%s is no file of weights; %s" % (path, hint))
    magic, design, _, count, _ = HEAD.unpack_from(data)
    if magic[7] != 1:
        raise Unfit("%s has version %d; this driver reads version 1" % (path, magic[7]))
    if len(data) != HEAD.size + 4 * count + 8 or _sum(data[:-8]) != "%016x" % struct.unpack("<Q", data[-8:]):
        raise Unfit("%s is damaged, or was not copied whole" % path)
    if "%016x" % design != host["hash"]:
        raise Unfit("%s is for design %016x, host.json of %s; %s" % (path, design, host["hash"], hint))
    if _sum(data) != host["weights"]["hash"]:
        raise Unfit("%s and host.json do not belong together; %s" % (path, hint))
    return struct.unpack_from("<%dI" % count, data, HEAD.size)


def _sum(data):
    return hashlib.sha256(data).hexdigest()[:16]


def _registers(device, host):
    """How the accelerator's own registers are read and written."""
    if hasattr(device, "overlay"):
        for name, ip in device.overlay.ip_dict.items():
            if ":" + host["top"] + ":" in ip["type"]:
                ip = getattr(device.overlay, name)
                return ip.read, ip.write
        raise Unfit("the bitstream shows no registers of %s" % host["top"])
    if hasattr(getattr(device, "lib", None), "hlsgen_peek"):
        device.lib.hlsgen_peek.restype = ctypes.c_uint32
        return device.lib.hlsgen_peek, device.lib.hlsgen_poke
    if hasattr(device, "peek"):
        return device.peek, device.poke
    raise Unfit("the device has no registers to load weights through: take a bitstream, or the library of rtl/axi")
