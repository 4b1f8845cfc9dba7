"""Models from PyTorch and Brevitas, without files. Both are imported when they are asked for."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import warnings
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ._errors import Error, UsageError
from ._model import Check, Model, load
from ._options import Arrays, Option

_QUANTISER = ("put qnn.QuantIdentity(bit_width=8, return_quant_tensor=True) in front of the layer in forward, or give the layer "
              "input_quant=brevitas.quant.Int8ActPerTensorFloat")
_INTEGERS = "where the inputs are integers, such as pixels, give input_type=\"UINT8:1/255\" instead"

# what check says of a product whose inputs are real numbers
_UNQUANTISED = ("products-on-host", "nothing-quantised")


def from_brevitas(model: Any, args: Any, **options: Option) -> Model:
    """Loads a network that Brevitas has trained with quantisers, by Brevitas' own export to QONNX. args is an input of forward, or
    a tuple of its inputs, with one sample each; options are those of load. The network is left in the mode in which it was. A
    UserWarning tells of a layer with weights whose input has no quantiser: it stays on the host."""
    torch = _module("torch", "PyTorch")
    export = _module("brevitas.export", "Brevitas")
    with _evaluated(model), _dialect(torch) as exporter:
        try:
            found = load(export.export_qonnx(model, args=_inputs(torch, args), export_path=None, **exporter), **options)
        except (RuntimeError, AssertionError, NotImplementedError, ModuleNotFoundError) as e:
            raise _refused("Brevitas", e, _QUANTISER if _lacks_quantiser(e) else None) from e
    layer = _unquantised(model, found.check())
    if layer:
        warnings.warn("the input of %s has no quantiser: %s; %s" % (layer, _QUANTISER, _INTEGERS), UserWarning, stacklevel=2)
    return found


def from_torch(model: Any, args: Any, calibrate: Arrays = None, **options: Option) -> Model:
    """Loads a network of real numbers, by PyTorch's own export to ONNX. args is an input of forward, or a tuple of its inputs,
    with one sample each. calibrate, an array of samples, says what its quantisers are; options are those of load. The network is
    left in the mode in which it was."""
    torch = _module("torch", "PyTorch")
    file = io.BytesIO()
    with _evaluated(model), _dialect(torch) as exporter, torch.no_grad():
        try:
            torch.onnx.export(model, _inputs(torch, args), file, **exporter)
        except RuntimeError as e:
            raise _refused("PyTorch", e) from e
    return load(file.getvalue(), calibrate=calibrate, **options)


def _module(name: str, called: str) -> Any:
    try:
        with warnings.catch_warnings():  # of what they miss that is nothing to hlsgen
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError as e:
        raise Error("%s cannot be imported: %s" % (called, e), hint="install it: pip install %s" % name.split(".")[0]) from e


def _inputs(torch: Any, args: Any) -> Any:
    """The inputs of forward as tensors."""
    if isinstance(args, (tuple, list)):
        return tuple(torch.as_tensor(a) for a in args)
    return torch.as_tensor(args)


@contextlib.contextmanager
def _dialect(torch: Any) -> Iterator[Dict[str, Any]]:
    """The options of PyTorch's exporter. Its new one loses recurrent layers of Brevitas, so the old one is asked where there are
    two. What it says of itself on the way is left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}


@contextlib.contextmanager
def _evaluated(model: Any) -> Iterator[None]:
    """Puts a network in the mode of evaluation. Each of its modules gets its own mode back, and leaves that of an export, even if
    the export fails."""
    if not hasattr(model, "named_modules"):
        raise UsageError("a %s is no network of PyTorch" % type(model).__name__, hint="give a torch.nn.Module")
    was: List[Tuple[Any, bool, Optional[bool]]] = [(m, m.training, getattr(m, "export_mode", None)) for m in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training, exports in was:
            module.training = training
            if exports is not None and module.export_mode != exports:
                module.export_mode = exports


def _refused(by: str, error: Exception, hint: Optional[str] = None) -> Error:
    """The error that an exporter refuses a network."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return Error("%s does not export the network: %s" % (by, lines[0]), hint=hint)


def _lacks_quantiser(error: Exception) -> bool:
    """Whether Brevitas asks for the scale of an input, as quantised biases do."""
    return str(error) in ("Input scale required", "Input must be quantized")


def _unquantised(model: Any, check: Check) -> Optional[str]:
    """The first layer of a network whose products are of real numbers, as in "fc1 (QuantLinear)", or None."""
    said = [d for d in check.diagnostics or () if d.code in _UNQUANTISED]
    if not said:
        return None
    modules = dict(model.named_modules())
    for node in [said[0].node] + [n.node for n in check.nodes if n.becomes in ("host prefix", "undecided")]:
        name = _name_of(node or "", modules)
        if name and hasattr(modules[name], "weight_quant"):
            return "%s (%s)" % (name, type(modules[name]).__name__)
    return None


def _name_of(node: str, modules: Dict[str, Any]) -> str:
    """The name of the innermost module that a node was exported from. The node's name has a part for each module on the way: its
    own name, or for modules in a list that of the list, too, as in /body/body.0/Gemm."""
    path: List[str] = []
    found = ""
    for part in node.strip("/").split("/"):
        names = part.split(".")
        path += names[1:] if len(names) > 1 and path[len(path) - len(names) + 1:] == names[:-1] else names
        if ".".join(path) in modules:
            found = ".".join(path)
    return found
