"""Exports torchvision's nets with random weights to ONNX.

    PYTHON benchmarks/onnx_export.py FOLDER [NET ...]

PYTHON has torch and torchvision. benchmarks/onnx_models.py converts what is written.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

# The wheel's own operators (nms and the like), which no classification net has, may lack their library.
torch.library.register_fake = lambda *_, **__: lambda function: function

import torchvision  # noqa: E402, only now

NETS = (
    *(
        "resnet18",
        "mobilenet_v2",
        "mobilenet_v3_small",
        "efficientnet_b0",
        "shufflenet_v2_x1_0",
        "squeezenet1_1",
    ),
    *(
        "googlenet",
        "densenet121",
        "mnasnet0_5",
        "regnet_y_400mf",
        "convnext_tiny",
        "vgg11_bn",
        "vit_b_16",
        "swin_t",
    ),
)
OPTIONS = {"googlenet": {"aux_logits": False, "init_weights": False}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("nets", nargs="*", default=NETS)
    given = parser.parse_args()
    for name in given.nets:
        torch.manual_seed(7)
        net = torchvision.models.get_model(name, weights=None, **OPTIONS.get(name, {})).eval()
        _unsettle(net)
        x = torch.randn(1, 3, 224, 224)
        torch.onnx.export(
            net,
            (x,),
            str(given.folder / f"{name}.onnx"),
            input_names=["x"],
            output_names=["y"],
            opset_version=17,
            dynamo=False,
        )
        print(name, flush=True)


def _unsettle(net: torch.nn.Module) -> None:
    """Running statistics and last layers as training leaves them, rather than zeros and ones."""
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.normal_(module.running_mean, 0, 0.1)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
        elif isinstance(module, torch.nn.Linear) and not module.weight.any():
            torch.nn.init.normal_(module.weight, 0, 0.02)


if __name__ == "__main__":
    main()
