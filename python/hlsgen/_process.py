"""The process of hlsgen that answers requests. docs/requests.md has the form of these."""

from __future__ import annotations

import atexit
import itertools
import json
import logging
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from typing import IO, Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import DataError, ProcessError, UsageError, error_of
from ._results import Diag

log = logging.getLogger("hlsgen")
log.addHandler(logging.NullHandler())  # without one, logging prints warnings

VERSION = 1  # of the form of requests

_format: Any = np.lib.format  # some versions of numpy say no types of it

Bytes = Union[bytes, bytearray, memoryview]
Progress = Callable[[str, Optional[float]], None]


class Part(NamedTuple):
    """Bytes of a request or an answer: of an option, perhaps one of several arrays."""

    option: str
    name: str
    body: Sequence[Bytes]


class Answer(NamedTuple):
    """What a request gave."""

    exit: int
    result: Any  # a dict, or a list of boards
    parts: List[Tuple[str, str, bytearray]]
    error: Optional[str] = None
    hint: Optional[str] = None


def program() -> str:
    """The path of the program hlsgen: that of this package, or else the one on the PATH."""
    name = "hlsgen.exe" if os.name == "nt" else "hlsgen"
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)
    found = own if os.path.exists(own) else shutil.which("hlsgen")
    if found is None:
        raise ProcessError("there is no program hlsgen", hint="install the wheel of this platform, or put hlsgen on the PATH")
    return found


def npy(value: Any) -> List[Bytes]:
    """An array as an .npy file: its header, and its elements, which are not copied where they lie in order."""
    array = as_array(value)
    head = _Head()
    _format.write_array_header_1_0(head, _format.header_data_from_array_1_0(array))
    body: Any = array.reshape(-1).view(np.uint8)
    return [bytes(head.data), memoryview(body) if array.size else b""]


class _Head:
    """A file that keeps what is written."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: bytes) -> int:
        self.data += data
        return len(data)


def as_array(value: Any) -> "np.ndarray[Any, Any]":
    """An array of numbers, in order: of numpy, torch, or lists."""
    if hasattr(value, "detach"):  # a tensor of torch
        value = value.detach().cpu().numpy()
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise DataError("an array has the type %s" % array.dtype, hint="give numbers")
    if array.dtype.byteorder == ">" or array.dtype.byteorder == "=" and sys.byteorder == "big":
        array = array.astype(array.dtype.newbyteorder("<"))
    if array.ndim == 0:
        return array.reshape(())
    return np.ascontiguousarray(array)


def array_of(data: bytearray) -> "np.ndarray[Any, Any]":
    """The array of an .npy file, in the memory that it was read to."""
    file = _Reader(data)
    version = _format.read_magic(file)
    read = _format.read_array_header_1_0 if version == (1, 0) else _format.read_array_header_2_0
    shape, fortran, dtype = read(file)
    array: "np.ndarray[Any, Any]" = np.frombuffer(data, dtype, offset=file.at).reshape(
        shape, order="F" if fortran else "C")
    return array


class _Reader:
    """A file of bytes in memory."""

    def __init__(self, data: bytearray) -> None:
        self.data, self.at = data, 0

    def read(self, size: int = -1, /) -> bytes:
        end = len(self.data) if size < 0 else self.at + size
        found = bytes(self.data[self.at:end])
        self.at += len(found)
        return found


class _Running:
    """One process, with a thread that writes to it and one that reads from it. Threads may share it."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.said: IO[bytes] = tempfile.TemporaryFile()
        apart: Dict[str, Any] = {"start_new_session": True}  # a Ctrl-C of the terminal is for Python, which cancels
        if os.name == "nt":
            apart = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP")}
        try:
            self.process = subprocess.Popen([program(), "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=self.said, **apart)
        except OSError as e:
            self.said.close()
            raise ProcessError("hlsgen cannot be started: %s" % e) from e
        assert self.process.stdin is not None and self.process.stdout is not None
        self.to, self.since = self.process.stdin, self.process.stdout
        self.hello: Dict[str, Any] = self._line()
        if self.hello.get("version") != VERSION:
            raise ProcessError("hlsgen %s does not answer this package" % self.hello.get("hlsgen"),
                               hint="install the wheel again: the program and the package belong together")
        self.waiting: Dict[int, "queue.SimpleQueue[Any]"] = {}
        self.numbers, self.lock, self.ended = itertools.count(1), threading.Lock(), False
        self.sending: "queue.SimpleQueue[Optional[Sequence[Bytes]]]" = queue.SimpleQueue()
        self.reader = threading.Thread(target=self._read, name="hlsgen", daemon=True)
        self.reader.start()
        threading.Thread(target=self._write, name="hlsgen", daemon=True).start()

    def _line(self) -> Dict[str, Any]:
        line = self.since.readline()
        if not line.endswith(b"\n"):
            raise self._gone()
        found: Dict[str, Any] = json.loads(line.decode("utf-8"))
        return found

    def _gone(self) -> ProcessError:
        self.process.wait()
        if self.said.closed:
            return ProcessError("hlsgen has ended")
        self.said.seek(0)
        text = self.said.read().decode("utf-8", "replace")[:2000].strip()
        return ProcessError("hlsgen ended with code %s%s" % (self.process.returncode, ": " + text if text else ""))

    def _write(self) -> None:
        while True:
            chunks = self.sending.get()
            try:
                if chunks is None:
                    self.to.close()
                    return
                for chunk in chunks:
                    self.to.write(chunk)
                self.to.flush()
            except (OSError, ValueError):
                return  # the thread that reads says so

    def _read(self) -> None:
        try:
            while True:
                line = self._line()
                parts = []
                for p in line.get("parts", []):
                    body = bytearray(p["bytes"])
                    view, at = memoryview(body), 0
                    while at < len(body):
                        n = self.since.readinto(view[at:])  # type: ignore[attr-defined]
                        if not n:
                            raise self._gone()
                        at += n
                    parts.append((p["option"], p.get("name", ""), body))
                with self.lock:
                    waits = self.waiting.get(line["id"])
                if waits is not None:
                    waits.put((line, parts))
        except (ProcessError, OSError, ValueError) as e:
            error = e if isinstance(e, ProcessError) else ProcessError("hlsgen gave no answer: %s" % e)
            with self.lock:
                self.ended = True
                for waits in self.waiting.values():
                    waits.put(error)

    def ask(self, request: Dict[str, Any], parts: Sequence[Part], progress: Optional[Progress]) -> Answer:
        size = sum(memoryview(chunk).nbytes for p in parts for chunk in p.body)
        most = self.hello["limits"]["part_bytes"]
        if size > most:
            raise DataError("the arrays have %d bytes, more than %d" % (size, most), hint="give fewer samples at a time")
        waits: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        with self.lock:
            if self.ended:
                raise self._gone()
            number = next(self.numbers)
            self.waiting[number] = waits
        request = dict(request, id=number, progress=progress is not None, parts=[
            {"option": p.option, "name": p.name, "bytes": sum(memoryview(c).nbytes for c in p.body)} for p in parts])
        try:
            line = (json.dumps(request) + "\n").encode("utf-8")
            if len(line) > self.hello["limits"]["line_bytes"]:
                raise UsageError("the options of a request have %d bytes" % len(line), hint="give large values as files")
            self.sending.put([line] + [chunk for p in parts for chunk in p.body])
            return self._wait(number, waits, progress)
        finally:
            with self.lock:
                del self.waiting[number]

    def _wait(self, number: int, waits: "queue.SimpleQueue[Any]", progress: Optional[Progress]) -> Answer:
        """The answer to a request. A Ctrl-C, or what progress raises, cancels the request, and is raised when that is done. A
        second Ctrl-C is raised at once."""
        stopped: Optional[BaseException] = None
        while True:
            try:
                got = waits.get()
                if isinstance(got, ProcessError):
                    break
                line, parts = got
                if "phase" not in line:
                    break
                if progress is not None and stopped is None:
                    progress(line["phase"], line.get("share"))
            except BaseException as e:
                if stopped is not None:
                    raise
                stopped = e
                self.sending.put([json.dumps({"id": 0, "call": "cancel", "of": number}).encode("ascii") + b"\n"])
        if stopped is not None:
            raise stopped
        if isinstance(got, ProcessError):
            raise got
        return Answer(line["exit"], line.get("result") or {}, parts, line.get("error"), line.get("hint"))

    def close(self) -> None:
        """Ends the process: it ends with its standard input. Requests of other threads that are at work a second later are
        cancelled."""
        if self.pid != os.getpid():
            return
        self.sending.put(None)
        try:
            self.process.wait(2.5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join(1)  # the last answers may still be read
        for file in (self.since, self.said, self.to):
            try:
                file.close()
            except OSError:  # what was not written has no reader
                pass


_lock = threading.Lock()
_running: Optional[_Running] = None


def running() -> _Running:
    """The process of this Python, which is started when it is first asked."""
    global _running
    with _lock:
        if _running is not None and _running.ended:
            _running.close()
            _running = None
        if _running is None or _running.pid != os.getpid():
            _running = _Running()
        return _running


def close() -> None:
    """Ends the process of hlsgen, if it runs. What is asked later starts another one."""
    global _running
    with _lock:
        was, _running = _running, None
    if was is not None:
        was.close()


atexit.register(close)


def tell(diagnostics: Sequence[Mapping[str, Any]]) -> None:
    """Hands diagnostics to logging."""
    levels = {"note": logging.INFO, "warning": logging.WARNING}
    for d in diagnostics:
        log.log(levels.get(d["severity"], logging.DEBUG), "%s[%s]: %s", d["severity"], d["code"], d["message"])


def ask(call: str, *, parts: Sequence[Part] = (), progress: Optional[Progress] = None, allow: Sequence[int] = (0,),
        by: Optional[_Running] = None, **request: Any) -> Answer:
    """Asks hlsgen. An exit code that is not allowed is an exception."""
    request = dict({k: v for k, v in request.items() if v}, call=call, folder=os.getcwd())
    answer = (by or running()).ask(request, parts, progress)
    if isinstance(answer.result, dict):
        tell(answer.result.get("diagnostics") or [])
    if answer.exit not in allow:
        raise error_of(answer.exit, answer.result, answer.error, answer.hint)
    return answer


__all__ = ["Answer", "Diag", "Part", "Progress", "array_of", "as_array", "ask", "close", "log", "npy", "program", "running"]
