"""Runs notebooks, each in an empty folder, and writes what they have become to another folder.

    notebooks.py FOLDER NOTEBOOK...

What depends on the run alone is left out: paths of folders, and how a stream of text was cut into messages.
"""

import hashlib
import importlib.metadata
import json
import os
import platform
import sys
import tempfile
import time
import warnings

import nbformat
from nbclient import NotebookClient

PACKAGES = ("brevitas", "matplotlib", "numpy", "pandas", "torch")
SECONDS = 180  # for a notebook


def arithmetic():
    """What results depend on beside hlsgen: versions, and the bits that sums and exponentials of torch have here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
    torch.manual_seed(0)
    torch.set_num_threads(1)
    a = torch.randn(96, 96)
    bits = hashlib.sha256((a @ a).numpy().tobytes() + a.exp().numpy().tobytes() + a.softmax(1).numpy().tobytes())
    found = {name: importlib.metadata.version(name) for name in PACKAGES}
    return dict(found, python="%d.%d" % sys.version_info[:2], machine=platform.machine(), sums=bits.hexdigest()[:16])


def run(path, made):
    book = nbformat.read(path, 4)
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        begun = time.monotonic()
        NotebookClient(book, timeout=SECONDS, kernel_name="python3", record_timing=False,
                       resources={"metadata": {"path": folder}}).execute()
        if time.monotonic() - begun > SECONDS:
            sys.exit("%s: it takes more than %d seconds" % (path, SECONDS))
        text = nbformat.writes(book)
    book = json.loads(text.replace(folder + "/", ""))
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = joined(cell["outputs"])
            for o in cell["outputs"]:
                if o["output_type"] == "error" or o.get("name") == "stderr":
                    said = "".join(o.get("text", "")) or "%s: %s" % (o["ename"], o["evalue"])
                    sys.exit("%s:\n%s\n%s" % (path, "".join(cell["source"]), said))
    book["metadata"] = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                        "language_info": {"name": "python"}, "made_with": made}
    return book


def joined(outputs):
    """Outputs in which the text of a stream is one."""
    found = []
    for o in outputs:
        if o["output_type"] == "stream" and found and found[-1].get("name") == o["name"]:
            o["text"] = "".join(found.pop()["text"]) + "".join(o["text"])
        if o["output_type"] == "stream":
            o["text"] = "".join(o["text"]).splitlines(True)
        found.append(o)
    return found


if __name__ == "__main__":
    made = arithmetic()
    for path in sys.argv[2:]:
        book = run(path, made)
        with open(os.path.join(sys.argv[1], os.path.basename(path)), "w", encoding="utf-8") as file:
            json.dump(book, file, indent=1, ensure_ascii=False, sort_keys=True)
            file.write("\n")
