"""The device that a job computes on: new tensors are made there."""

import numpy as np
import torch
from torch import Tensor

from fairgat.config import Device
from fairgat.errors import ConfigError


def use(device: Device) -> str:
    """Make all new tensors on a device, until the process ends.

    On the CPU PyTorch's default is left alone: a default that is set is looked up in
    every operation.

    Returns:
        What the device is called.

    Raises:
        ConfigError: PyTorch sees no such device.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise ConfigError(
            "training.device: cuda is asked for, and PyTorch sees no GPU here. Set it "
            "to auto, which takes one where there is one, or install PyTorch's build "
            "for this machine's GPU (https://pytorch.org)"
        )
    if device == "cpu" or not torch.cuda.is_available():
        return "cpu"
    torch.set_default_device("cuda")
    return torch.cuda.get_device_name()


def wait() -> None:
    """Wait until a GPU has done what it was given, as a clock must."""
    if torch.get_default_device().type == "cuda":
        torch.cuda.synchronize()


def tensor(array: np.ndarray) -> Tensor:
    """Bring an array to the device; on the CPU both share their memory."""
    return torch.from_numpy(array).to(torch.get_default_device())
